"""R1 to R18 with a test for each rule, and the printed scoring example."""

from __future__ import annotations

import pytest

from engine import STANDARD, IllegalAction, Rules, breakdown, outcome, points
from engine.cards import pack_text, to_text
from engine.view import view
from tests.positions import DECK, at, dealt, hands, legal, packs, piles, quiet_game, row
from tests.referee import Table

DEAL = "55667788228855667788335667778xxx8224yyyyzzCCC"
"""In turn: round 1, the row, rounds 2 to 4, the removed cards."""


def test_r1_the_deck_has_45_cards_of_eleven_kinds() -> None:
    """26 supports, 7 alliances, 9 betrayals and 3 cities, as the German rulebook counts them."""
    deck = to_text(STANDARD.deck)
    assert deck == "55555666666777777788888888" "2222334" "xxxyyyyzz" "CCC"  # fmt: skip
    groups = ("5678", "234", "xyz", "C")
    assert [sum(card in group for card in deck) for group in groups] == [26, 7, 9, 3]
    assert len(deck) == 45


def test_r2_five_cards_each_two_in_the_row_and_three_out_of_the_game() -> None:
    """The text of a deal has them in this order; a removed city is never seen."""
    state = at(DEAL)
    assert hands(state) == ("55667", "78822")
    assert row(state) == "88"
    assert to_text(state.deck) == DEAL[12:42]
    assert to_text(state.removed) == "CCC"
    assert piles(state) == ("", "")
    actions = quiet_game(DEAL)
    for ply in range(49):
        state = at(DEAL, actions[:ply])
        assert "C" not in "".join(hands(state)) + row(state) + "".join(piles(state))
        assert to_text(state.removed) == "CCC"


def test_r3_the_other_player_begins_each_following_round() -> None:
    """Seat 0 begins rounds 1 and 3, seat 1 rounds 2 and 4."""
    for rounds, first in enumerate((0, 1, 0, 1)):
        state = at(DEAL, quiet_game(DEAL, rounds))
        assert (state.round, state.to_act) == (rounds + 1, first)
        assert view(state, first).legal
        assert not view(state, 1 - first).legal


def test_r4_the_players_act_in_turn_and_choose_freely() -> None:
    """A take passes the turn, like a play; with cards in hand and row both are legal."""
    turns = [at(DEAL, "5T5"[:ply]).to_act for ply in range(4)]
    assert turns == [0, 1, 0, 1]
    assert legal(at(DEAL)) == "567T"
    assert legal(at(DEAL, "5")) == "782T"


def test_r5_a_card_of_the_hand_goes_to_the_end_of_the_row() -> None:
    """Of no other hand: seat 0 holds no 8, though the row does, and no 7 after its only one."""
    state = at(DEAL, "685")
    assert row(state) == "88685"
    assert hands(state)[0] == "567"
    for actions, card in (("8", "8"), ("777", "7")):
        with pytest.raises(IllegalAction, match=rf"\({card}\)"):
            at(DEAL, actions)


def test_r6_a_take_is_the_last_five_cards_of_the_row() -> None:
    """Of eight cards it leaves three, of five or fewer none; an empty row cannot be taken."""
    for actions, left, taken in (
        ("575868T", "885", ("56788", "")),
        ("T", "", ("88", "")),
        ("5T", "", ("", "588")),
        ("57T", "", ("5788", "")),
        ("575T", "", ("", "55788")),
    ):
        state = at(DEAL, actions)
        assert (row(state), piles(state)) == (left, taken)
    assert legal(at(DEAL, "T")) == "782"
    with pytest.raises(IllegalAction, match=r"\(T\)"):
        at(DEAL, "TT")


def test_r7_each_round_allows_one_take() -> None:
    """Seat 0 takes at once and may not take again; in round 2 both may."""
    actions = "T" "7" "5" "8" "5" "8" "6" "2" "6" "2" "7" "T"  # fmt: skip
    for ply in (2, 4, 6, 8, 10):
        state = at(DEAL, actions[:ply])
        assert state.to_act == 0
        assert "T" not in legal(state)
        with pytest.raises(IllegalAction, match=r"\(T\)"):
            at(DEAL, actions[:ply] + "T")
    state = at(DEAL, quiet_game(DEAL, 1))
    assert state.taken == (False, False)
    assert "T" in legal(state)
    assert "T" in legal(at(DEAL, quiet_game(DEAL, 1) + "7"))


def test_r8_an_empty_hand_forces_the_take_which_finds_six_cards_at_least() -> None:
    """The row is shortest when the opponent has taken five and has one to play."""
    state = at(DEAL, quiet_game(DEAL, 1)[:10])
    assert hands(state) == ("", "")
    assert legal(state) == "T"
    assert len(row(state)) == 12
    assert legal(at(DEAL, quiet_game(DEAL, 1)[:11])) == "T"
    state = at(DEAL, "57586T6872")
    assert hands(state)[0] == ""
    assert legal(state) == "T"
    assert len(row(state)) == 6


def test_r9_taken_cards_lie_face_up_to_the_end() -> None:
    """Both views show both piles, and a pile only grows."""
    actions = quiet_game(DEAL)
    after_1 = at(DEAL, actions[:12])
    assert piles(after_1) == ("67822", "55678")
    assert view(after_1, 0).piles == view(after_1, 1).piles == after_1.piles
    assert piles(at(DEAL, actions[:24])) == ("5567788822", "5566677833")


def test_r10_a_round_is_six_actions_each_and_the_game_ends_after_four() -> None:
    """Seat 0 gets the first five cards of a round's ten, whichever seat begins it.

    The game has 48 actions, no fewer and no more; the score is counted by hand, 17 against 25.
    """
    actions = quiet_game(DEAL)
    for rounds, held in enumerate(
        (("55667", "78833"), ("56677", "78xxx"), ("8224y", "yyyzz")), start=1
    ):
        assert at(DEAL, actions[: 12 * rounds - 1]).round == rounds
        state = at(DEAL, actions[: 12 * rounds])
        assert state.round == rounds + 1
        assert hands(state) == held
    assert len(actions) == 48
    assert not at(DEAL, actions[:47]).over
    state = at(DEAL, actions)
    assert state.over
    assert (legal(state), row(state)) == ("", "88")
    assert tuple(map(sorted, piles(state))) == (
        sorted("86272" "75858" "x7x7x" "y8y2y"),
        sorted("57586" "63637" "57686" "2z4zy"),
    )  # fmt: skip
    assert outcome(state.piles) == (1, "points", (7 + 8 + 5 + 6 - 9, 5 + 6 + 10 + 12 - 8))


SUPPORTS_BREAK_TIES = Rules(tiebreak="supports")


def test_r11_three_cities_win_at_once_in_the_middle_of_a_round() -> None:
    """As the sixth action seat 1 takes C 6 C 6 C, and seat 0 8 C C C 6 as the fifth.

    Two against one, three in a hand and in the row, or two while one is removed win nothing.
    """
    deal = dealt("CCC56", "66777", "88")
    state = at(deal, "C6C6CT")
    assert piles(state) == ("", "66CCC")
    assert state.over
    assert legal(state) == ""
    assert hands(state) == ("56", "777")
    assert outcome(state.piles)[:2] == (1, "city")
    state = at(dealt("CC556", "C6677", "88"), "CCC6T")
    assert piles(state) == ("68CCC", "")
    assert state.over
    assert outcome(state.piles)[:2] == (0, "city")
    state = at(dealt("CC566", "7778C", "88"), "C7C7" "T" "75C6" "86" "T")  # fmt: skip
    assert piles(state) == ("778CC", "5668C")
    assert not state.over
    assert state.round == 2
    assert not at(deal).over
    state = at(deal, "C6C6C")
    assert row(state).count("C") == 3
    assert not state.over
    deal = dealt("CC555", "66677", "88", removed="Cxx")
    actions = quiet_game(deal)
    assert piles(at(deal, actions[:12]))[1] == "566CC"
    assert not any(at(deal, actions[:ply]).over for ply in range(48))
    state = at(deal, actions)
    assert state.over
    assert outcome(state.piles).win_type != "city"


def test_r12_more_cards_of_a_support_score_its_value() -> None:
    """One card more is enough, for either seat, and equal counts score nothing."""
    first, second = breakdown(packs("5556777777", "5566788"))
    assert first.majorities == (5, 0, 7, 0)
    assert second.majorities == (0, 6, 0, 8)
    first, second = breakdown(packs("55678", "55678"))
    assert first.majorities == second.majorities == (0, 0, 0, 0)
    for same in ("", "88", "5"):
        assert points(packs(same, same)) == (0, 0)
    for card in "5678":
        assert points(packs(card * 3, card)) == (int(card), 0)
        assert points(packs("", card)) == (0, int(card))


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("", 0),
        ("5556667778", 5),
        ("555666777", 0),
        ("666777888", 0),
        ("5566677778888888", 10),
        ("555666777888", 15),
        ("55555666666777777788888888", 25),
    ],
)
def test_r13_every_complete_set_scores_five(cards: str, expected: int) -> None:
    """As many as the scarcest of the four supports, in addition to majorities."""
    assert breakdown(packs(cards, ""))[0].sets == expected
    assert breakdown(packs("", cards))[1].sets == expected
    assert points(packs("55667788", "5678")) == (36, 5)


def test_r14_alliances_add_their_value_and_betrayals_subtract_it() -> None:
    """Four +2, two +3 and one +4 are 18; a total may be below zero."""
    assert breakdown(packs("2222334", ""))[0].alliances == 18
    assert [points(packs(card, ""))[0] for card in "234"] == [2, 3, 4]
    assert breakdown(packs("xxxyyyyzz", ""))[0].betrayals == -17
    assert [points(packs("", card))[1] for card in "xyz"] == [-1, -2, -3]
    assert points(packs("2", "zz")) == (2, -6)
    assert points(packs("42z", "3yy")) == (3, -1)


def test_r15_cities_score_nothing() -> None:
    """Two cities against one change no part of the score."""
    assert points(packs("CC", "C")) == (0, 0)
    first, second = breakdown(packs("CC57", "C5"))
    assert first == ((0, 0, 7, 0), 0, 0, 0)
    assert second == ((0, 0, 0, 0), 0, 0, 0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("8", "72", (1, "points", (8, 9))),
        ("5", "x", (0, "points", (5, -1))),
        ("yy", "z", (1, "points", (-4, -3))),
        ("CC", "2", (1, "points", (0, 2))),
    ],
)
def test_r16_the_higher_total_wins(
    first: str, second: str, expected: tuple[int, str, tuple[int, int]]
) -> None:
    """More 8s, more cards or more cities do not matter where the totals differ."""
    assert outcome(packs(first, second)) == expected


def assert_tie_goes_to(better: str, other: str, rules: Rules = STANDARD) -> None:
    """Check that the totals are equal and that the better pile wins, in either seat."""
    first, second = points(packs(better, other), rules)
    assert first == second
    assert outcome(packs(better, other), rules)[:2] == (0, "tiebreak")
    assert outcome(packs(other, better), rules)[:2] == (1, "tiebreak")


@pytest.mark.parametrize("rules", [STANDARD, SUPPORTS_BREAK_TIES], ids=["cities", "supports"])
@pytest.mark.parametrize(
    ("better", "others"),
    [
        ("8", ["53", "62", "72x", "CC422"]),
        ("87", ["852", "862x", "8CC43"]),
        ("876", ["8752x", "87CC42"]),
        ("55", ["5CC32"]),
        ("8755", ["87532"]),
        ("5", ["23"]),
    ],
)
def test_r17_more_8s_break_a_tie_then_7s_6s_and_5s(
    better: str, others: list[str], rules: Rules
) -> None:
    """Whatever else is worth as much: other supports, alliances, also with cities."""
    for other in others:
        assert_tie_goes_to(better, other, rules)


def test_r18_more_cities_break_a_tie_and_the_last_tie_is_a_draw() -> None:
    """With equal totals, supports and cities; the variant `supports` stops before the cities."""
    for better, other in (("C", ""), ("CC", "C"), ("5678CC", "5678")):
        assert_tie_goes_to(better, other)
    for first, second in (("", ""), ("C", "C"), ("8", "8"), ("5678C", "5678C"), ("3x", "2")):
        assert outcome(packs(first, second))[:2] == (None, "draw")
        assert outcome(packs(first, second), SUPPORTS_BREAK_TIES)[:2] == (None, "draw")
    assert outcome(packs("8CC", "8C"), SUPPORTS_BREAK_TIES) == (None, "draw", (0, 0))
    assert outcome(packs("8CC", "8C")) == (0, "tiebreak", (0, 0))


SUITS = {"♣": "5", "♥": "6", "♠": "7", "♦": "8"}
DEALS = {"J♦": "2", "J♠": "2", "Q♦": "3", "Jk": "4", "A♥": "x", "2♠": "y", "Q♣": "z"}
FIRST = "3♣ 5♣ 4♥ 7♥ 3♠ 4♠ 7♠ 5♦ 7♦ Q♣ 2♠ J♦"
SECOND = "7♣ 3♥ 6♥ 5♠ 8♠ 3♦ 4♦ 6♦ 8♦ 9♦ Jk Q♦ J♠ A♥"


def in_notation(cards: str) -> str:
    """Return playing cards in the project's notation: suits are supports, except for deals."""
    return "".join(DEALS.get(card) or SUITS[card[-1]] for card in cards.split())


PILES = packs(in_notation(FIRST), in_notation(SECOND))


def test_the_printed_example_scores_as_printed() -> None:
    """The cards are these piles; 5 + 7 + 10 - 3 = 19 against 8 + 5 + 8 = 21, by both referees."""
    assert pack_text(PILES[0]) == "55" "66" "777" "88" "2" "yz"  # fmt: skip
    assert pack_text(PILES[1]) == "5" "66" "77" "88888" "2" "3" "4" "x"  # fmt: skip
    first, second = breakdown(PILES)
    assert first == ((5, 0, 7, 0), 10, 2, -5)
    assert second == ((0, 0, 0, 8), 5, 9, -1)
    assert (first.points, second.points) == points(PILES) == (19, 21)
    assert outcome(PILES) == (1, "points", (19, 21))
    table = Table(DECK)
    table.piles = [list(in_notation(FIRST)), list(in_notation(SECOND))]
    assert (table.points(0), table.points(1)) == (19, 21)
    assert table.result() == (1, "points")
