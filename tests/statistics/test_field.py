"""The field of rated bots: anchors, groups that never met, verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.intervals import Estimate
from arena.statistics.ratings import ELO, PairScores
from arena.tournament.schedule import Pairing
from tests.statistics.plain import fit

Z = 1.959963984540054
AB, AC, BC, DE = (Pairing(*two) for two in ("ab", "ac", "bc", "de"))
NINE = (9, 11.0, 19.0)
"""With the credit of one pair the share is 0.6, the gap's error sqrt(6.6) / 4.8 in log odds."""
GAP, ERROR = 400 * math.log10(1.5), ELO * math.sqrt(6.6) / 4.8


def field(
    *played: tuple[Pairing, tuple[int, float, float]], anchor: tuple[str, float] | None = None
) -> Field:
    """Return the field of the bots of some pairings."""
    pairings = [pairing for pairing, _ in played]
    labels = sorted({label for pairing in pairings for label in pairing})
    totals = [PairTotals(number, *scores) for number, (_, scores) in enumerate(played)]
    return Field(pairings, totals, labels, anchors={anchor[0]: (anchor[1], 0.0)} if anchor else {})


def test_an_anchor_shifts_the_whole_scale() -> None:
    """It has its Elo and no error; the other bot has the error of the whole gap."""
    anchored = field((AB, NINE), anchor=("b", 1239.0))
    ratings = anchored.ratings
    assert ratings["b"] == Estimate(1239.0, 1239.0, 1239.0)
    lead = anchored.verdict("a", "b")
    assert lead is not None
    assert ratings["a"][:3] == pytest.approx([1239 + one for one in lead[:3]], abs=0.05)
    assert ratings["a"].value == pytest.approx(1239 + GAP)


def test_an_anchor_changes_no_difference() -> None:
    """Nor does it change how likely one bot is stronger."""
    played = (AB, NINE), (AC, (20, 30.0, 50.0)), (BC, (7, 8.0, 13.0))
    free, fixed = field(*played), field(*played, anchor=("c", 2000.0))
    before, after = free.ratings, fixed.ratings
    shift = 2000 - before["c"].value
    for label in "abc":
        assert after[label].value == pytest.approx(before[label].value + shift)
    assert free.verdict("a", "b") == fixed.verdict("a", "b")


def test_an_anchor_that_is_not_rated_is_not_used() -> None:
    """The mean is 1500."""
    made = Field([AB], [PairTotals(0, *NINE)], ["a", "b", "x"], ["x"], {"x": (1000.0, 0.0)})
    assert made.anchors == {}
    assert sum(rating.value for rating in made.ratings.values()) == pytest.approx(3000)


def test_groups_that_never_met_are_rated_each_on_its_own() -> None:
    """Each has the mean 1500, or the anchor's scale, and the Elo that it has without others."""
    whole = field((AB, NINE), (DE, (40, 30.0, 40.0)), anchor=("e", 1700.0))
    assert whole.groups == [["a", "b"], ["d", "e"]]
    ratings = whole.ratings
    alone = field((AB, NINE)).ratings
    assert all(ratings[label].value == pytest.approx(alone[label].value) for label in "ab")
    assert ratings["e"] == Estimate(1700.0, 1700.0, 1700.0)
    assert ratings["d"].value < 1700
    assert all(math.isfinite(number) for rating in ratings.values() for number in rating[:3])


def test_bots_that_met_only_through_others_are_one_group() -> None:
    """A chain a - b - c compares a with c; its error is that of both gaps."""
    chain = field((AB, NINE), (BC, NINE))
    assert chain.groups == [["a", "b", "c"]]
    errors = chain.fit.gap_errors
    assert errors[0, 2] ** 2 == pytest.approx(errors[0, 1] ** 2 + errors[1, 2] ** 2)


def test_nothing_is_said_of_bots_that_never_met() -> None:
    """No chain of games connects them; of the others the verdict is in Elo points."""
    made = field((AB, NINE), (DE, NINE))
    assert made.verdict("a", "d") is None
    found = made.verdict("a", "b")
    assert found is not None
    assert found.lead == round(GAP, 1)
    assert found.low < 0 < GAP < found.high


@pytest.mark.slow
def test_no_odd_scores_break_a_fit() -> None:
    """One pair, all won, all split, far apart, and nobody at all: every number is finite."""
    extreme = [(1, 2.0, 4.0), (10**9, 2e9, 4e9), (10**6, 1e6, 1e6), (1, 0.0, 0.0)]
    for one in extreme:
        for other in extreme:
            scores = [PairScores(0, 1, *one), PairScores(1, 2, *other), PairScores(3, 4, *one)]
            ratings = fit(6, scores, (5, 1000.0))
            assert np.isfinite([rating.value for rating in ratings]).all()
            assert not np.isnan([rating[:3] for rating in ratings]).any()
            assert ratings[5].value == 1000.0
    assert fit(0, []) == []
    assert fit(1, []) == [Estimate(1500.0, 1500.0, 1500.0)]
