"""The printed scoring example of the port to a standard deck, card by card: 19 to 21."""

from __future__ import annotations

from engine import breakdown, outcome, points
from engine.cards import pack_text
from tests.positions import DECK, packs
from tests.referee import Table

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


def test_the_majorities_are_5_and_7_against_8() -> None:
    """Hearts are two against two, so neither seat scores the 6."""
    first, second = breakdown(PILES)
    assert first.majorities == (5, 0, 7, 0)
    assert second.majorities == (0, 0, 0, 8)


def test_the_sets_are_two_against_one() -> None:
    """Two sets are 10, one is 5."""
    first, second = breakdown(PILES)
    assert first.sets == 10
    assert second.sets == 5


def test_the_alliances_and_betrayals_are_minus_3_against_8() -> None:
    """-3 - 2 + 2 = -3 and 4 + 3 + 2 - 1 = 8."""
    first, second = breakdown(PILES)
    assert (first.alliances, first.betrayals) == (2, -5)
    assert (second.alliances, second.betrayals) == (9, -1)


def test_the_totals_are_19_against_21() -> None:
    """5 + 7 + 10 - 3 = 19 and 8 + 5 + 8 = 21."""
    assert points(PILES) == (19, 21)
    assert tuple(part.points for part in breakdown(PILES)) == (19, 21)


def test_the_second_player_wins_by_points() -> None:
    """The higher total wins."""
    assert outcome(PILES) == (1, "points", (19, 21))


def test_the_second_referee_counts_the_same() -> None:
    """The plain referee of the tests gets the printed totals, too."""
    table = Table(DECK)
    table.piles = [list(in_notation(FIRST)), list(in_notation(SECOND))]
    assert (table.points(0), table.points(1)) == (19, 21)
    assert table.result() == (1, "points")
