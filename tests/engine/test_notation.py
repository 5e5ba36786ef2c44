"""Kinds, packs, records and positions as text, and the errors for a wrong one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import (
    CITY,
    EIGHT,
    FIVE,
    KINDS,
    SEVEN,
    SIX,
    STANDARD,
    SUPPORTS,
    TAKE,
    Record,
    Rules,
    View,
    count,
    counts,
)
from engine.cards import BITS, CHARS, MOST_COPIES, UNIT, cards_of, pack_of, pack_text, size, to_text
from engine.errors import (
    AfterEnd,
    DealError,
    EngineError,
    IllegalAction,
    NotationError,
    RecordError,
    RulesError,
)
from engine.notation import check_deal, parse_actions, parse_cards, parse_deal
from engine.view import view
from tests.positions import DECK, at, dealt, quiet_game


def test_kinds_and_actions_are_the_integers_in_the_order_of_the_notation() -> None:
    """`5 6 7 8 2 3 4 x y z C` are 0 to 10, and `T` is 11; each has one character."""
    assert list(KINDS) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert (FIVE, SIX, SEVEN, EIGHT, CITY, TAKE) == (0, 1, 2, 3, 10, 11)
    assert SUPPORTS == (0, 1, 2, 3)
    assert CHARS == "5678234xyzCT"
    assert to_text(bytes(range(12))) == CHARS
    assert len(set(CHARS)) == 12
    assert to_text(b"") == ""


def test_a_pack_holds_its_cards_in_kind_order() -> None:
    """Also no cards, or one of kind 0; a row keeps the order of its own."""
    assert pack_of([FIVE]) != pack_of([])
    assert size(pack_of([FIVE])) == 1
    assert count(pack_of([FIVE]), FIVE) == 1
    assert count(pack_of([FIVE]), SIX) == 0
    assert pack_text(pack_of([FIVE])) == "5"
    assert cards_of(pack_of([FIVE])) == b"\x00"
    assert pack_of([]) == 0
    assert size(0) == 0
    assert counts(0) == (0,) * 11
    assert cards_of(0) == b""
    assert pack_text(0) == ""
    cards = [CITY, EIGHT, FIVE, EIGHT]
    assert pack_text(pack_of(cards)) == "588C"
    assert to_text(bytes(cards)) == "C858"


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_copies_of_a_kind_do_not_spill_into_the_next(kind: int) -> None:
    """A full digit of a pack leaves all the others at zero."""
    full = pack_of([kind] * MOST_COPIES)
    assert MOST_COPIES == 2**BITS - 1
    assert count(full, kind) == MOST_COPIES
    assert size(full) == MOST_COPIES
    assert full == MOST_COPIES * UNIT[kind]


DEAL = dealt("55667", "78822", "88", removed="CCC")


def test_the_take_is_an_action_and_no_card_and_ply_0_is_a_ply() -> None:
    """`T` is action 11; a wrong first action is at ply 0, and a wrong card at none."""
    assert list(parse_actions("5T")) == [0, 11]
    with pytest.raises(NotationError, match="'T' at index 1 is not a card"):
        parse_cards("5T")
    with pytest.raises(NotationError) as caught:
        parse_actions("?")
    assert caught.value.ply == 0
    with pytest.raises(NotationError) as caught:
        parse_cards("?")
    assert caught.value.ply is None


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


def test_a_deal_is_all_the_cards_of_its_rules_in_the_order_dealt() -> None:
    """The bytes are the kinds of the text; too few, too many and wrong cards are named."""
    deal = parse_deal(DEAL)
    assert len(deal) == 45
    assert list(deal[:5]) == [0, 0, 1, 1, 2]
    assert list(deal[-3:]) == [10, 10, 10]
    with pytest.raises(DealError, match="44 cards, not 45"):
        parse_deal(DEAL[:-1])
    with pytest.raises(DealError, match="46 cards, not 45"):
        parse_deal(DEAL + "5")
    with pytest.raises(DealError, match="0 cards, not 45"):
        parse_deal("")
    with pytest.raises(DealError, match="6 of card 5, not 5"):
        parse_deal(DEAL[:-1] + "5")
    with pytest.raises(DealError, match="1 of card z, not 2"):
        parse_deal(DECK.replace("z", "C", 1))
    rules = Rules(copies=(6, 6, 7, 8, 4, 2, 1, 3, 4, 2, 2))
    check_deal(parse_cards(DEAL[:-1] + "5"), rules)
    with pytest.raises(DealError, match="5 of card 5, not 6"):
        parse_deal(DEAL, rules)


def test_a_position_is_its_deal_in_whatever_order_a_hand_is() -> None:
    """No space is left at the end of the line; the row has an order."""
    assert at(DEAL).to_text() == DEAL
    assert at(DEAL) == at("76655" + DEAL[5:])
    one, other = dealt("55667", "78822", "78"), dealt("55667", "78822", "87")
    assert at(one) != at(other)


def test_an_illegal_action_says_what_was_legal_or_that_the_game_was_over() -> None:
    """With the ply: the 49th action, and the 7th after a city win with the 6th."""
    with pytest.raises(IllegalAction, match=r"illegal action 9 \(z\); legal: 5 6 7 T") as caught:
        at(DEAL, "z")
    assert caught.value.ply == 0
    with pytest.raises(IllegalAction, match=r"illegal action 11 \(T\); legal: 7 8 2") as caught:
        at(DEAL, "TT")
    assert caught.value.ply == 1
    with pytest.raises(AfterEnd, match="over after 48 actions") as caught:
        at(DEAL, quiet_game(DEAL) + "T")
    assert caught.value.ply == 48
    with pytest.raises(AfterEnd, match="over after 6 actions") as caught:
        at(dealt("CCC56", "66777", "88"), "C6C6CT" + "5")
    assert caught.value.ply == 6


@pytest.mark.parametrize(
    "action", [None, "T", 11.0, -1, 12, 2**70, [0], pytest.param("x" * 1000, id="long")]
)
def test_a_value_that_is_not_an_action_is_refused_by_name(action: Any) -> None:
    """Also 11.0, which equals a legal action; the message stays short."""
    with pytest.raises(IllegalAction, match="illegal action") as caught:
        at(DEAL).checked(action)
    assert len(str(caught.value)) < 150
    assert repr(action)[:20] in str(caught.value)


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


def test_texts_have_kinds_of_errors_which_are_value_errors() -> None:
    """A bad character, wrong cards, an illegal action, and one after the end."""
    for error in (NotationError, DealError, IllegalAction, AfterEnd):
        assert issubclass(error, ValueError)
        assert issubclass(error, EngineError)
    assert issubclass(AfterEnd, IllegalAction)
    with pytest.raises(NotationError):
        Record(DEAL, "?").replay()
    with pytest.raises(NotationError):
        Record("?" + DEAL[1:], "").replay()
    with pytest.raises(DealError):
        Record(DEAL[1:], "").replay()
    with pytest.raises(IllegalAction) as caught:
        Record(DEAL, "57z").replay()
    assert caught.value.ply == 2
    with pytest.raises(AfterEnd) as after:
        Record(DEAL, quiet_game(DEAL) + "5").replay()
    assert after.value.ply == 48
    with pytest.raises(EngineError):
        View.from_text("0 55667 88 TT")


def test_a_record_is_one_json_object_on_one_line() -> None:
    """Deal, actions and the rules that differ, also by 0; further keys come last, unread."""
    text = Record(DEAL, "57T").to_json()
    assert json.loads(text) == {"deal": DEAL, "actions": "57T"}
    assert "\n" not in text
    record = Record(DEAL, "", Rules(set_bonus=3, tiebreak="supports"))
    text = record.to_json()
    assert json.loads(text)["rules"] == {"set_bonus": 3, "tiebreak": "supports"}
    assert Record.from_json(text) == record
    rules = Rules(set_bonus=0, opening_row=0, removed=5)
    again = Record.from_json(Record(DEAL, "", rules).to_json())
    assert again.rules.set_bonus == 0
    assert again.rules.opening_row == 0
    text = Record(DEAL, "5").to_json(id=0, bots=["a", "b"])
    assert list(json.loads(text)) == ["deal", "actions", "id", "bots"]
    assert Record.from_json(text) == Record(DEAL, "5")
    record = Record(DEAL, "57T")
    assert Record.from_json(record.to_json().encode()) == record
    for rules in (STANDARD, Rules(take_size=4, tiebreak="supports")):
        record = Record("56", "5T", rules)
        assert eval(repr(record)) == record


def test_a_record_of_a_game_keeps_the_deal_as_it_was_dealt() -> None:
    """Also the order in a hand, which the position does not keep."""
    deal = "76655" + DEAL[5:]
    state = at(deal, "57T")
    record = Record.of(parse_deal(deal), state)
    assert record == Record(deal, "57T", STANDARD)
    assert record.replay() == state


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        (b"\xff", "not JSON"),
        pytest.param("[" * 100_000, "not JSON", id="100,000 brackets"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
        ('"deal"', "JSON object"),
        ("{}", "'deal'"),
        ('{"deal": "5"}', "'actions'"),
        ('{"deal": 5, "actions": ""}', "'deal'"),
        ('{"deal": "5", "actions": null}', "'actions'"),
        ('{"deal": "5", "actions": ["5"]}', "'actions'"),
    ],
)
def test_a_text_that_is_no_record_is_refused_with_the_reason(text: str | bytes, words: str) -> None:
    """The message names the wrong key, or says that the text is not a JSON object."""
    with pytest.raises(RecordError, match=words):
        Record.from_json(text)


@pytest.mark.parametrize("rules", ['{"set_bonsu": 3}', "[]", "null", "0", '{"removed": 4}'])
def test_a_record_with_impossible_rules_is_refused(rules: str) -> None:
    """Unknown names, values that are not a mapping, and numbers that do not add up."""
    with pytest.raises(RulesError):
        Record.from_json(f'{{"deal": "", "actions": "", "rules": {rules}}}')
