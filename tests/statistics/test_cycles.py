"""Who surely beats whom, and cycles."""

from __future__ import annotations

import numpy as np

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field, describe_cycle, find_beats
from arena.tournament.schedule import Pairing, round_robin

WINS, LOSES, EVEN = (100, 150.0, 250.0), (100, 50.0, 50.0), (100, 100.0, 150.0)


def field(labels: str, scores: list[tuple[int, float, float]]) -> Field:
    totals = [PairTotals(number, *one) for number, one in enumerate(scores)]
    return Field(round_robin([*labels]), totals, [*labels])


RING = field("abcd", [WINS, LOSES, WINS, WINS, WINS, WINS])
"""a beats b beats c beats a, and all of them beat d."""


def test_who_beats_whom_beyond_doubt() -> None:
    """Of 100 pairs with 150 points one is sure, of 100 even ones or of two swept ones none is."""
    found = find_beats(field("abc", [WINS, EVEN, (2, 4.0, 8.0)]))
    assert np.argwhere(found).tolist() == [[0, 1]]
    ring = np.argwhere(find_beats(RING)).tolist()
    assert ring == [[0, 1], [0, 3], [1, 2], [1, 3], [2, 0], [2, 3]]


def test_doubt_grows_with_the_number_of_pairings() -> None:
    """14 points more in 100 split and swept pairs are 2.8 errors: sure for one, not for 45."""
    close = (100, 114.0, 152.0)
    assert find_beats(field("ab", [close])).any()
    assert not find_beats(field("abcdefghij", [close, *[EVEN] * 44])).any()


def test_a_cycle_is_named() -> None:
    """From its first bot, which is named again at the end."""
    assert describe_cycle(RING) == ["a", "b", "c", "a"]


def test_without_a_cycle_none_is_named() -> None:
    """Bots in one order, bots that are all even, and no bots."""
    for made in (field("abc", [WINS] * 3), field("abc", [EVEN] * 3), Field([], [], [])):
        assert describe_cycle(made) == []


def test_a_cycle_of_four_is_found_where_no_three_make_one() -> None:
    """d and e met only each other."""
    pairings = [Pairing(*two) for two in ("ab", "bc", "cx", "xa", "de")]
    made = Field(pairings, [PairTotals(n, *WINS) for n in range(5)], [*"abcxde"])
    assert describe_cycle(made) == ["a", "b", "c", "x", "a"]
