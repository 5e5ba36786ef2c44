"""What differs between two runs: means and ratings, on the same deals and on others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from arena.statistics.common import CommonScale, Shared
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.difference import Values, compare_means
from arena.statistics.intervals import Z95
from arena.statistics.model import Floats
from arena.tournament.schedule import Pairing
from bench.studies import ratings
from tests.tiers import few

RNG = np.random.default_rng(5)
BOTS = ["a", "b", "c", "d"]
PAIRINGS = [Pairing(*two) for two in combinations(BOTS, 2)]
SAME = [(label, label) for label in BOTS[1:]]
PAIRS = 100

pair_shares = cache(ratings.pair_shares)


def scores(luck: Floats, gap: float) -> Floats:
    """Return the score of the first bot, 0, 1 or 2, in a pair for each number from 0 to 1."""
    return np.searchsorted(np.cumsum(pair_shares(gap))[:2], luck).astype(float)


def make_field(elo: Sequence[float], lucks: Floats) -> tuple[Field, list[Floats]]:
    """Return the fit of a round robin of bots with these ratings, and the scores by pairing."""
    played, totals = [], []
    for number, (one, two) in enumerate(combinations(range(len(BOTS)), 2)):
        seen = scores(lucks[number], elo[one] - elo[two])
        counts = tuple(int((seen == score / 2).sum()) for score in range(5))
        played.append(seen)
        totals.append(PairTotals(number, len(seen), seen.sum(), (seen**2).sum(), counts))
    return Field(PAIRINGS, totals, BOTS), played


def make_scale(elo: Sequence[float], changed: Sequence[float], *, same_deals: bool) -> CommonScale:
    """Return the scale of two runs, of which the second has other ratings."""
    lucks = RNG.random((len(PAIRINGS), PAIRS))
    base, one = make_field(elo, lucks)
    other, two = make_field(changed, lucks if same_deals else RNG.random(lucks.shape))
    numbers = [*combinations(range(len(BOTS)), 2)]
    shared = [
        Shared(bots, bots, PAIRS, s.sum(), t.sum(), float(s @ t))
        for bots, s, t in zip(numbers, one, two, strict=True)
    ]
    return CommonScale(base, other, SAME, shared if same_deals else [])


@pytest.mark.slow
@pytest.mark.parametrize("same_deals", few([True, False]))
def test_intervals_of_changed_ratings_cover_the_truth(same_deals: bool) -> None:
    """In 93 to 98 % of 200 simulated pairs of runs, in which one of four bots got better."""
    elo, better = [1500.0, 1450, 1550, 1500], [1580.0, 1450, 1550, 1500]
    covered, widths = [], []
    for _ in range(200):
        found = make_scale(elo, better, same_deals=same_deals).change("a", "a")
        assert found is not None
        change = found.estimate
        covered.append(change.low <= 80 <= change.high)
        widths.append(change.high - change.low)
    assert 0.93 <= np.mean(covered) <= 0.98
    wide = float(np.mean(widths))
    assert wide < 45 if same_deals else 60 < wide < 90


def test_the_scale_is_that_of_the_base() -> None:
    """Whatever the other run's ratings are about, the bots of the scale have the same mean."""
    scale = make_scale([1500, 1450, 1550, 1500], [1900, 1450, 1550, 1500], same_deals=False)
    means = [
        np.mean([elo(label) for label, _ in SAME])  # type: ignore[arg-type]
        for elo in (scale.base_elo, scale.other_elo)
    ]
    assert means[0] == pytest.approx(means[1])
    found = scale.change("a", "a")
    assert found is not None
    change = found.estimate
    assert change.low < 400 < change.high
    assert change.p_value < 1e-6


def test_a_run_and_itself_differ_by_nothing() -> None:
    """And the error is little but what one pair more stands for."""
    scale = make_scale([1500, 1450, 1550, 1500], [1500, 1450, 1550, 1500], same_deals=True)
    found = scale.change("a", "a")
    assert found is not None
    change = found.estimate
    assert change.value == pytest.approx(0)
    assert 0 < change.error < 8


def test_bots_that_no_games_connect_have_no_common_scale() -> None:
    """Nor do runs without a bot that is the same; the only one that is has no change."""
    field, _ = make_field([1500] * 4, RNG.random((len(PAIRINGS), PAIRS)))
    totals = [PairTotals(n, 9, 9.0, 14.0, (2, 0, 5, 0, 2)) for n in (0, 5)]  # a - b, c - d
    parts = Field(PAIRINGS, totals, BOTS)
    scale = CommonScale(parts, field, [("a", "a"), ("b", "b"), ("c", "c")])
    assert scale.same == [("a", "a"), ("b", "b")]
    assert (scale.base_elo("c"), scale.change("c", "c")) == (None, None)
    assert scale.other_elo("c") is not None
    nothing = CommonScale(parts, field, [])
    assert (nothing.base_elo("a"), nothing.other_elo("a"), nothing.change("a", "a")) == (None,) * 3
    one = CommonScale(field, field, [("a", "a")])
    assert one.change("a", "a") is None
    assert one.change("b", "b") is not None


def test_a_change_on_the_same_deals_is_that_of_two_versions() -> None:
    """As in a comparison, whose differences are counted by deal."""
    base, other = (RNG.choice([0, 0.5, 1], 40) for _ in range(2))
    change = compare_means([Values(base, other, 40)]).estimate
    alone = compare_means([Values(np.zeros(40), other - base, 40)]).estimate
    assert change == pytest.approx(alone)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0, 40, 60])
def test_intervals_of_changed_means_cover_the_truth(shared: int) -> None:
    """In 92 to 98 % of 500 simulations, with all, some or no deals in common; 60 and 80 pairs."""
    covered = 0
    for _ in range(500):
        strata = []
        for gap, changed in ((0.0, 40.0), (100.0, 140.0)):
            luck = RNG.random(60)
            more = np.concatenate([luck[:shared], RNG.random(80 - shared)])
            strata.append(Values(scores(luck, gap) / 2, scores(more, changed) / 2, shared))
        truth = np.mean([pair_shares(g) @ (0, 0.5, 1) for g in (40, 140)])
        truth -= np.mean([pair_shares(g) @ (0, 0.5, 1) for g in (0, 100)])
        change = compare_means(strata).estimate
        assert change.high - change.low <= 2 * Z95 * change.error + 1e-12
        covered += change.low <= truth <= change.high
    assert 0.92 <= covered / 500 <= 0.98


@pytest.mark.parametrize("swapped", [False, True])
def test_a_bot_that_is_winless_in_one_run_is_not_in_the_mean(swapped: bool) -> None:
    """Its rating there is no more than a bound, which would move all the others."""
    field, _ = make_field([1500] * 4, RNG.random((len(PAIRINGS), PAIRS)))
    even, lost = (9, 9.0, 14.0, (2, 0, 5, 0, 2)), (9, 18.0, 36.0, (0, 0, 0, 0, 9))
    of_d = {number for number, two in enumerate(PAIRINGS) if "d" in two}
    totals = [PairTotals(n, *(lost if n in of_d else even)) for n in range(len(PAIRINGS))]
    runs = [field, Field(PAIRINGS, totals, BOTS)]
    scale = CommonScale(*(runs[::-1] if swapped else runs), SAME)
    assert scale.same == SAME
    assert scale.zero == SAME[:-1]
