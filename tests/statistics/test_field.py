"""The field of rated bots: anchors, groups that never met, the likelihood of superiority."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from arena.statistics.counts import PairTotals
from arena.statistics.field import Field, make_superiority
from arena.statistics.intervals import Estimate
from arena.statistics.ratings import ELO, PairScores, fit
from arena.tournament.schedule import Pairing

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
    return Field(pairings, totals, labels, anchor=anchor)


def test_an_anchor_shifts_the_whole_scale() -> None:
    """It has its Elo and no error; the other bot has the error of the whole gap."""
    ratings = field((AB, NINE), anchor=("b", 1239.0)).ratings()
    assert ratings["b"] == Estimate(1239.0, 1239.0, 1239.0)
    a = 1239 + GAP
    assert ratings["a"][:3] == pytest.approx((a, a - Z * ERROR, a + Z * ERROR))


def test_an_anchor_changes_no_difference() -> None:
    """Nor does it change how likely one bot is stronger."""
    played = (AB, NINE), (AC, (20, 30.0, 50.0)), (BC, (7, 8.0, 13.0))
    free, fixed = field(*played), field(*played, anchor=("c", 2000.0))
    before, after = free.ratings(), fixed.ratings()
    shift = 2000 - before["c"].value
    for label in "abc":
        assert after[label].value == pytest.approx(before[label].value + shift)
    assert make_superiority(free, [*"abc"]).equals(make_superiority(fixed, [*"abc"]))


def test_an_anchor_that_is_not_rated_is_not_used() -> None:
    """The mean is 1500."""
    made = Field([AB], [PairTotals(0, *NINE)], ["a", "b", "x"], ["x"], ("x", 1000.0))
    assert made.anchor is None
    assert sum(rating.value for rating in made.ratings().values()) == pytest.approx(3000)


def test_groups_that_never_met_are_rated_each_on_its_own() -> None:
    """Each has the mean 1500, or the anchor's scale, and the numbers that it has without others."""
    whole = field((AB, NINE), (DE, (40, 30.0, 40.0)), anchor=("e", 1700.0))
    assert whole.groups == [["a", "b"], ["d", "e"]]
    ratings = whole.ratings()
    alone = field((AB, NINE)).ratings()
    assert all(ratings[label][:3] == pytest.approx(alone[label][:3]) for label in "ab")
    assert ratings["e"] == Estimate(1700.0, 1700.0, 1700.0)
    assert ratings["d"].value < 1700
    assert all(math.isfinite(number) for rating in ratings.values() for number in rating[:3])


def test_bots_that_met_only_through_others_are_one_group() -> None:
    """A chain a - b - c compares a with c; its error is that of both gaps."""
    chain = field((AB, NINE), (BC, NINE))
    assert chain.groups == [["a", "b", "c"]]
    errors = chain.fit.gap_errors
    assert errors[0, 2] ** 2 == pytest.approx(errors[0, 1] ** 2 + errors[1, 2] ** 2)


def test_superiority_is_the_share_of_likely_gaps_above_0() -> None:
    """Of two bots, one is 70.4 Elo ahead, with an error of 93 Elo; summed over spreads and gaps."""
    table = make_superiority(field((AB, NINE)), ["b", "a"])
    above = below = 0.0
    for step in range(15):
        prior = NormalDist(0, math.sqrt(2) * 10 * 2 ** (step / 2))
        for half in range(-4000, 4000):
            gap = half + 0.5
            likely = prior.pdf(gap) * NormalDist(gap, 93.0).pdf(70.4)
            above, below = above + likely * (gap > 0), below + likely * (gap < 0)
    assert table.loc["a", "b"] == pytest.approx(above / (above + below), abs=2e-3)
    assert table.loc["a", "b"] < NormalDist().cdf(GAP / ERROR) - 0.03
    assert table.loc["a", "b"] + table.loc["b", "a"] == pytest.approx(1)
    assert [*table.index] == [*table.columns] == ["b", "a"]


def test_superiority_is_empty_where_it_cannot_be_said() -> None:
    """For a bot and itself, an unrated one, and two that no chain of games connects."""
    made = field((AB, NINE), (DE, NINE))
    table = make_superiority(made, [*"abdex"])
    cells = table.notna().stack()
    said = {*cells[cells].index}
    assert said == {("a", "b"), ("b", "a"), ("d", "e"), ("e", "d")}


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
