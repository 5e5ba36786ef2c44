"""R11 to R18: the city win, the points and the ties, and the printed scoring example."""

from __future__ import annotations

import pytest

from engine import STANDARD, Rules, breakdown, outcome, points
from engine.cards import pack_text
from tests.positions import DECK, at, dealt, hands, legal, packs, piles, quiet_game, row
from tests.referee import Table

SUPPORTS_BREAK_TIES = Rules(tiebreak="supports")


def test_r11_three_cities_win_at_once_in_the_middle_of_a_round() -> None:
    """As the sixth action seat 1 takes C 6 C 6 C, and seat 0 8 C C C 6 as the fifth."""
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


def test_r11_cities_of_several_rounds_count_together() -> None:
    """Two cities are taken in round 1, and the third wins in round 2."""
    deal = dealt("CC566", "77788", "88", "C5567", "22233")
    round_1 = "C7C7" "T" "7586" "86" "T"  # fmt: skip
    state = at(deal, round_1 + "2C2")
    assert state.round == 2
    assert not state.over
    state = at(deal, round_1 + "2C2T")
    assert piles(state)[0].count("C") == 3
    assert state.over
    assert outcome(state.piles)[:2] == (0, "city")


def test_r11_less_than_three_cities_in_a_pile_win_nothing() -> None:
    """Two against one, or three in a hand and in the row."""
    state = at(dealt("CC566", "7778C", "88"), "C7C7" "T" "75C6" "86" "T")  # fmt: skip
    assert piles(state) == ("778CC", "5668C")
    assert not state.over
    assert state.round == 2
    deal = dealt("CCC56", "66777", "88")
    assert not at(deal).over
    state = at(deal, "C6C6C")
    assert row(state).count("C") == 3
    assert not state.over


def test_r11_nobody_wins_by_city_if_a_city_is_removed() -> None:
    """Seat 1 holds the other two from round 1 on, and the game still has its 48 actions."""
    deal = dealt("CC555", "66677", "88", removed="Cxx")
    actions = quiet_game(deal)
    assert piles(at(deal, actions[:12]))[1] == "566CC"
    assert not any(at(deal, actions[:ply]).over for ply in range(48))
    state = at(deal, actions)
    assert state.over
    assert outcome(state.piles).win_type != "city"


def test_r11_a_city_win_at_the_end_of_a_round_deals_no_new_hands() -> None:
    """Seat 1 takes C C C 5 5 as the twelfth action: the round is over, and so is the game."""
    deal = dealt("CC566", "C5677", "88")
    assert not at(deal, quiet_game(deal, 1)[:11]).over
    state = at(deal, quiet_game(deal, 1))
    assert state.over
    assert hands(state) == ("", "")
    assert len(state.deck) == 30
    assert outcome(state.piles)[:2] == (1, "city")


def test_r11_a_city_win_is_not_scored() -> None:
    """The last take, C C y C y, wins for seat 0, though the points are 9 against 28."""
    deal = dealt(
        *("55667", "78822", "88", "55667", "78833", "56677", "78xxx", "CC84y", "Cyyzz"),
        removed="22y",
    )
    state = at(deal, quiet_game(deal))
    assert len(state.history) == 48
    first = 7 + 5 + 4 - (1 + 1 + 1 + 2 + 2)
    second = 5 + 6 + 15 + (3 + 3 + 4) - (3 + 3 + 2)
    assert outcome(state.piles) == (0, "city", (first, second))
    assert (first, second) == (9, 28)


def test_r12_more_cards_of_a_support_score_its_value() -> None:
    """One card more is enough, and equal counts score nothing for either seat."""
    first, second = breakdown(packs("5556777777", "5566788"))
    assert first.majorities == (5, 0, 7, 0)
    assert second.majorities == (0, 6, 0, 8)
    first, second = breakdown(packs("55678", "55678"))
    assert first.majorities == second.majorities == (0, 0, 0, 0)
    assert points(packs("", "")) == (0, 0)
    assert points(packs("88", "88")) == (0, 0)
    assert points(packs("5", "5")) == (0, 0)


@pytest.mark.parametrize(("card", "value"), [("5", 5), ("6", 6), ("7", 7), ("8", 8)])
def test_r12_each_support_scores_its_own_value_for_either_seat(card: str, value: int) -> None:
    """The value is scored once, by the seat with more cards."""
    assert points(packs(card * 3, card)) == (value, 0)
    assert points(packs("", card)) == (0, value)


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("", 0),
        ("5556667778", 5),
        ("555666777", 0),
        ("666777888", 0),
        ("55667788", 10),
        ("5566677778888888", 10),
        ("555666777888", 15),
        ("55555666666777777788888888", 25),
    ],
)
def test_r13_every_complete_set_scores_five(cards: str, expected: int) -> None:
    """There are as many sets as the scarcest of the four supports."""
    assert breakdown(packs(cards, ""))[0].sets == expected
    assert breakdown(packs("", cards))[1].sets == expected


def test_r13_sets_score_in_addition_to_majorities() -> None:
    """Two sets against one, with all majorities: 5 + 6 + 7 + 8 + 10 against 5."""
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


@pytest.mark.parametrize("other", ["53", "62", "72x", "CC422"])
def test_r17_more_8s_break_a_tie(other: str) -> None:
    """An 8 beats 5 + 3, 6 + 2, 7 + 2 - 1 and 4 + 2 + 2 with two cities, all worth 8."""
    assert_tie_goes_to("8", other)
    assert_tie_goes_to("8", other, SUPPORTS_BREAK_TIES)


@pytest.mark.parametrize("other", ["852", "862x", "8CC43"])
def test_r17_with_equal_8s_more_7s_break_a_tie(other: str) -> None:
    """One 8 each; a 7 beats 5 + 2, 6 + 2 - 1 and 4 + 3 with two cities."""
    assert_tie_goes_to("87", other)
    assert_tie_goes_to("87", other, SUPPORTS_BREAK_TIES)


@pytest.mark.parametrize("other", ["8752x", "87CC42"])
def test_r17_with_equal_8s_and_7s_more_6s_break_a_tie(other: str) -> None:
    """One 8 and one 7 each; a 6 beats 5 + 2 - 1 and 4 + 2 with two cities."""
    assert_tie_goes_to("876", other)
    assert_tie_goes_to("876", other, SUPPORTS_BREAK_TIES)


@pytest.mark.parametrize(("better", "other"), [("55", "5CC32"), ("8755", "87532"), ("5", "23")])
def test_r17_with_all_else_equal_more_5s_break_a_tie(better: str, other: str) -> None:
    """A 5 more is worth 5, and beats 3 + 2, with cities or without."""
    assert_tie_goes_to(better, other)
    assert_tie_goes_to(better, other, SUPPORTS_BREAK_TIES)


@pytest.mark.parametrize(("better", "other"), [("C", ""), ("CC", "C"), ("5678CC", "5678")])
def test_r18_with_equal_supports_more_cities_break_a_tie(better: str, other: str) -> None:
    """Cities score nothing, but they are the last tie-break."""
    assert_tie_goes_to(better, other)


@pytest.mark.parametrize(
    ("first", "second"), [("", ""), ("C", "C"), ("8", "8"), ("5678C", "5678C"), ("3x", "2")]
)
def test_r18_the_last_tie_is_a_draw(first: str, second: str) -> None:
    """With equal totals, supports and cities nobody wins; other cards do not matter."""
    assert outcome(packs(first, second))[:2] == (None, "draw")
    assert outcome(packs(first, second), SUPPORTS_BREAK_TIES)[:2] == (None, "draw")


def test_r18_the_variant_supports_stops_before_the_cities() -> None:
    """Two cities against one are a draw when only supports break ties."""
    assert outcome(packs("8CC", "8C"), SUPPORTS_BREAK_TIES) == (None, "draw", (0, 0))
    assert outcome(packs("8CC", "8C")) == (0, "tiebreak", (0, 0))


SUITS = {"♣": "5", "♥": "6", "♠": "7", "♦": "8"}
DEALS = {
    "J♦": "2",
    "J♠": "2",
    "Q♦": "3",
    "Jk": "4",
    "A♥": "x",
    "2♠": "y",
    "Q♣": "z",
}
FIRST = """
3♣ 5♣
4♥ 7♥
3♠ 4♠ 7♠
5♦ 7♦
Q♣ 2♠ J♦
"""
SECOND = """
7♣
3♥ 6♥
5♠ 8♠
3♦ 4♦ 6♦ 8♦ 9♦
Jk Q♦ J♠ A♥
"""


def in_notation(cards: str) -> str:
    """Return playing cards in the project's notation: suits are supports, except for deals."""
    return "".join(DEALS.get(card) or SUITS[card[-1]] for card in cards.split())


PILES = packs(in_notation(FIRST), in_notation(SECOND))


def test_the_printed_cards_are_these_piles() -> None:
    """Clubs are 5s, hearts 6s, spades 7s, diamonds 8s; the 2 of spades is a betrayal."""
    assert pack_text(PILES[0]) == "55" "66" "777" "88" "2" "yz"  # fmt: skip
    assert pack_text(PILES[1]) == "5" "66" "77" "88888" "2" "3" "4" "x"  # fmt: skip


def test_the_printed_parts_and_totals_are_those_of_the_engine() -> None:
    """Hearts are two against two; 5 + 7 + 10 - 3 = 19 against 8 + 5 + 8 = 21."""
    first, second = breakdown(PILES)
    assert first == ((5, 0, 7, 0), 10, 2, -5)
    assert second == ((0, 0, 0, 8), 5, 9, -1)
    assert (first.points, second.points) == points(PILES) == (19, 21)
    assert outcome(PILES) == (1, "points", (19, 21))


def test_the_second_referee_counts_the_same() -> None:
    """The plain referee of the tests gets the printed totals, too."""
    table = Table(DECK)
    table.piles = [list(in_notation(FIRST)), list(in_notation(SECOND))]
    assert (table.points(0), table.points(1)) == (19, 21)
    assert table.result() == (1, "points")
