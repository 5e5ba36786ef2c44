"""Text for cards, actions, deals and positions, and the errors for a wrong one."""

from __future__ import annotations

from typing import Any

import pytest

from engine import Rules, View
from engine.errors import AfterEnd, DealError, EngineError, IllegalAction, NotationError
from engine.notation import check_deal, parse_actions, parse_cards, parse_deal
from engine.view import view
from tests.positions import DECK, at, dealt, quiet_game

DEAL = dealt("55667", "78822", "88", removed="CCC")


def test_the_take_is_an_action_and_no_card() -> None:
    """`T` is action 11; among cards it is an error."""
    assert list(parse_actions("5T")) == [0, 11]
    with pytest.raises(NotationError, match="'T' at index 1 is not a card"):
        parse_cards("5T")


@pytest.mark.parametrize(
    "char", ["9", "c", "t", "X", " ", "\n", "é", pytest.param("\ud800", id="surrogate"), "五"]
)
def test_an_unknown_character_is_named_with_its_place(char: str) -> None:
    """The message holds the character, printable, and its index; the error holds the ply."""
    with pytest.raises(NotationError) as caught:
        parse_actions(f"56{char}7{char}")
    assert f"{char!a} at index 2" in str(caught.value)
    assert str(caught.value).isascii()
    assert caught.value.ply == 2


def test_ply_0_is_a_ply() -> None:
    """A wrong first action is at ply 0, which is not the same as no ply."""
    with pytest.raises(NotationError) as caught:
        parse_actions("?")
    assert caught.value.ply == 0
    with pytest.raises(NotationError) as caught:
        parse_cards("?")
    assert caught.value.ply is None


def test_a_deal_is_all_the_cards_in_the_order_dealt() -> None:
    """The bytes are the kinds of the text, one for one."""
    deal = parse_deal(DEAL)
    assert len(deal) == 45
    assert list(deal[:5]) == [0, 0, 1, 1, 2]
    assert list(deal[-3:]) == [10, 10, 10]


def test_a_deal_of_too_few_or_too_many_cards_says_how_many() -> None:
    """44, 46 or 0 cards are no deal."""
    with pytest.raises(DealError, match="44 cards, not 45"):
        parse_deal(DEAL[:-1])
    with pytest.raises(DealError, match="46 cards, not 45"):
        parse_deal(DEAL + "5")
    with pytest.raises(DealError, match="0 cards, not 45"):
        parse_deal("")


def test_a_deal_of_the_wrong_cards_names_the_card() -> None:
    """A sixth 5 in the place of a city, and a fourth city in the place of a betrayal."""
    with pytest.raises(DealError, match="6 of card 5, not 5"):
        parse_deal(DEAL[:-1] + "5")
    with pytest.raises(DealError, match="1 of card z, not 2"):
        parse_deal(DECK.replace("z", "C", 1))


def test_a_deal_is_checked_against_its_own_rules() -> None:
    """With one 5 more and one city less in the rules, that deal is right and the other wrong."""
    rules = Rules(copies=(6, 6, 7, 8, 4, 2, 1, 3, 4, 2, 2))
    check_deal(parse_cards(DEAL[:-1] + "5"), rules)
    with pytest.raises(DealError, match="5 of card 5, not 6"):
        parse_deal(DEAL, rules)


def test_the_text_of_a_position_without_actions_is_its_deal() -> None:
    """No space is left at the end of the line."""
    assert at(DEAL).to_text() == DEAL


def test_positions_that_differ_only_in_the_order_within_a_hand_are_equal() -> None:
    """A hand has no order; the row has one."""
    assert at(DEAL) == at("76655" + DEAL[5:])
    one, other = dealt("55667", "78822", "78"), dealt("55667", "78822", "87")
    assert at(one) != at(other)


def test_an_illegal_action_in_a_text_says_what_was_legal() -> None:
    """The evidence: the action by number and character, the legal ones, the ply."""
    with pytest.raises(IllegalAction, match=r"illegal action 9 \(z\); legal: 5 6 7 T") as caught:
        at(DEAL, "z")
    assert caught.value.ply == 0
    with pytest.raises(IllegalAction, match=r"illegal action 11 \(T\); legal: 7 8 2") as caught:
        at(DEAL, "TT")
    assert caught.value.ply == 1


@pytest.mark.parametrize(
    "action", [None, "T", 11.0, -1, 12, 2**70, [0], pytest.param("x" * 1000, id="long")]
)
def test_a_value_that_is_not_an_action_is_refused_by_name(action: Any) -> None:
    """Also 11.0, which equals a legal action; the message stays short."""
    with pytest.raises(IllegalAction, match="illegal action") as caught:
        at(DEAL).checked(action)
    assert len(str(caught.value)) < 150
    assert repr(action)[:20] in str(caught.value)


def test_an_action_after_the_end_is_refused_with_the_number_before_it() -> None:
    """The 49th action, and the 7th after a city win with the 6th."""
    with pytest.raises(AfterEnd, match="over after 48 actions") as caught:
        at(DEAL, quiet_game(DEAL) + "T")
    assert caught.value.ply == 48
    with pytest.raises(AfterEnd, match="over after 6 actions") as caught:
        at(dealt("CCC56", "66777", "88"), "C6C6CT" + "5")
    assert caught.value.ply == 6


def test_the_text_of_a_view_is_seat_hand_row_and_actions() -> None:
    """Nothing hidden is in it; a dash stands for an empty hand."""
    state = at(DEAL, "57")
    assert view(state, 0).to_text() == "0 5667 88 57"
    assert view(state, 1).to_text() == "1 8822 88 57"
    assert view(at(DEAL), 0).to_text() == "0 55667 88"
    assert view(at(DEAL, quiet_game(DEAL, 1)[:10]), 0).to_text().startswith("0 - 88 ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0 55667",
        "2 55667 88",
        "0 55667 88 5 7",
        "0 5566 88",
        "0 556677 88",
        "0 55667 8",
        "0 55667 888",
        "0 55667 T8",
        "0 55667 88 5?",
        "0 CCC67 CC",
        pytest.param("0 55667 88 " + "5" * 60, id="sixty fives"),
    ],
)
def test_a_text_that_no_game_leads_to_is_no_view(text: str) -> None:
    """Too few or many words, cards in a hand, cards in the row, copies of a card."""
    with pytest.raises(NotationError, match=r"."):
        View.from_text(text)


def test_a_view_with_an_illegal_action_is_refused() -> None:
    """It raises an EngineError too, so that one `except` catches every bad text."""
    with pytest.raises(EngineError):
        View.from_text("0 55667 88 TT")


def test_the_errors_of_texts_are_value_errors() -> None:
    """Code that does not know the engine's errors can catch them."""
    for error in (NotationError, DealError, IllegalAction, AfterEnd):
        assert issubclass(error, ValueError)
        assert issubclass(error, EngineError)
    assert issubclass(AfterEnd, IllegalAction)
