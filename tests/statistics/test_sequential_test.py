"""The sequential test: its ratio, estimates after it has stopped, and how often it is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from arena.statistics.counts import ScoreCounts
from arena.statistics.sequential_test import (
    DIFFERENCES,
    PAIR_SCORES,
    Walk,
    bounds,
    estimate_drift,
    estimate_mean,
    likeliest,
    likely_left,
    log_likelihood_ratio,
    looks,
    moments,
    share_of,
)
from arena.tournament.sprt_rounds import SprtRounds
from arena.tournament.stop import Sprt
from bench.studies import sprt


@pytest.mark.parametrize("values", [PAIR_SCORES, DIFFERENCES])
def test_the_likeliest_distribution_has_its_mean_and_owens_form(
    values: Sequence[float],
) -> None:
    """What was observed over what is likely is a line (Owen 2001), with counts of one kind, too."""
    rng, middle = np.random.default_rng(1), (values[0] + values[-1]) / 2
    some = [np.eye(len(values))[place] * n for place in (0, 2, -1) for n in (1, 7, 10**7)]
    for number in range(60):
        shares = rng.dirichlet(np.full(len(values), 0.4))
        counts = some[number] if number < len(some) else rng.multinomial(3000, shares)
        mean = middle + rng.uniform(-0.2, 0.5)
        likely = np.array(likeliest(counts.tolist(), values, mean))
        assert likely.min() > 0
        assert (likely.sum(), likely @ values) == pytest.approx((1, mean), abs=1e-5)
        observed = np.maximum(counts, 1e-3)
        observed = observed / observed.sum()
        line = np.polyfit(values, observed / likely, 1)
        assert np.polyval(line, values) == pytest.approx(observed / likely, abs=1e-6)
        ratio = log_likelihood_ratio(counts.tolist(), values, middle, mean)
        plain = observed @ np.log(likely / likeliest(counts.tolist(), values, middle))
        assert ratio == pytest.approx(np.maximum(counts, 1e-3).sum() * plain, rel=1e-6)


def test_the_ratio_is_that_of_a_coin_and_the_bounds_those_of_wald() -> None:
    """Where a pair is won or lost there is one distribution with each mean: p = mean / 2."""
    wins, losses, mean = 60, 40, 1.1
    expected = wins * math.log(0.55 / 0.5) + losses * math.log(0.45 / 0.5)
    ratio = log_likelihood_ratio((losses, wins), (0.0, 2.0), 1.0, mean)
    assert ratio == pytest.approx(expected, abs=1e-12)
    # log(0.1 / 0.95) and log(0.9 / 0.05).
    assert bounds(0.05, 0.1) == pytest.approx((-2.2512918, 2.8903718))
    # Three pairs won and half a pair each: mean 7/4, variance (3.5/16 + 0.5*49/16)/4 = 7/16.
    assert moments((0, 0, 0, 0, 3), PAIR_SCORES) == (1.75, 0.4375)
    assert moments((0, 0, 0, 0, 0), PAIR_SCORES) == (1.0, 1.0)
    assert moments((1, 0, 10, 0, 5), PAIR_SCORES).mean == pytest.approx(21 / 17)


@pytest.mark.slow
def test_the_likely_time_is_that_of_a_walk() -> None:
    """The mean over 2,000 simulated tests, from where 200 pairs have left them."""
    counts, mean1, ends = (40, 2, 110, 2, 46), 2 * share_of(30), bounds(0.05, 0.05)
    expected = likely_left(counts, PAIR_SCORES, 1.0, mean1, ends)
    rng = np.random.default_rng(4)
    start = log_likelihood_ratio(counts, PAIR_SCORES, 1.0, mean1)
    deviation = (mean1 - 1) / math.sqrt(moments(counts, PAIR_SCORES).variance)
    moves = rng.normal(start / 200, deviation, (2000, 3000)).cumsum(axis=1) + start
    outside = (moves <= ends.low) | (moves >= ends.high)
    assert outside.any(axis=1).mean() > 0.99
    assert expected == pytest.approx(float(outside.argmax(axis=1).mean()), rel=0.1)
    assert likely_left((0, 0, 0, 0, 999), PAIR_SCORES, 1.0, mean1, ends) == 0
    even = (30, 0, 40, 0, 30)  # without a drift it is the product of the distances
    left = 2.944439**2 / (0.01 / moments(even, PAIR_SCORES).variance)
    assert likely_left(even, PAIR_SCORES, 0.95, 1.05, ends) == pytest.approx(left, rel=1e-4)


ENDS = bounds(0.05, 0.05)


def share_above(walk: Walk, drift: float, runs: int = 20_000) -> float:
    """Return how often simulated walks with this drift end as the observed one or above it."""
    rng = np.random.default_rng(2)
    position, above = np.zeros(runs), 0.0
    last = 0
    for look in walk.looks:
        steps, last = look - last, look
        position = position + rng.normal(
            steps * drift, math.sqrt(steps * walk.variance), len(position)
        )
        if look == walk.steps:
            return (above + float((position >= walk.position).sum())) / runs
        above += float((position >= walk.ends.high).sum())
        position = position[(walk.ends.low < position) & (position < walk.ends.high)]
    raise AssertionError


@pytest.mark.parametrize("position", [3.4, 1.0, -3.1])
@pytest.mark.parametrize("steps", [160, 700])
def test_the_estimates_are_quantiles_of_simulated_tests(position: float, steps: int) -> None:
    """With the drifts of low, value and high, 2.5, 50 and 97.5 % end above the observed end."""
    walk = Walk(position, 0.01, looks(steps), ENDS)
    estimate = estimate_drift(walk)
    shares = [share_above(walk, drift) for drift in (estimate.low, estimate.value, estimate.high)]
    assert shares == pytest.approx([0.025, 0.5, 0.975], abs=0.015)
    assert shares[0] == pytest.approx(0.025, abs=0.004)


@pytest.mark.parametrize(
    ("counts", "mean1", "at", "close"),
    [
        ((1, 0, 10, 0, 5), 1.001, [16], 1e-3),  # one look: nothing was chosen
        ((0, 0, 18, 0, 86), 2 * share_of(10), looks(104), 0.01),  # a large lead, soon sure
    ],
)
def test_the_interval_is_the_plain_one_after_one_look_or_with_a_large_lead(
    counts: ScoreCounts, mean1: float, at: list[int], close: float
) -> None:
    mean, variance = moments(counts, PAIR_SCORES)
    error = 1.959964 * math.sqrt(variance / sum(counts))
    estimate = estimate_mean(counts, PAIR_SCORES, 1.0, mean1, at, ENDS)
    assert estimate[:3] == pytest.approx((mean, mean - error, mean + error), abs=close)


def test_an_estimate_after_an_early_end_is_nearer_to_nothing() -> None:
    """From 32 pairs on there is a look for one of 16 that were played, and the last."""
    assert looks(50) == [32, 34, 36, 38, 40, 42, 44, 46, 48, 50]
    assert looks(3211)[-3:] == [2864, 3043, 3211]
    assert (looks(0), looks(7)) == ([], [7])
    for counts, side in (((60, 3, 333, 4, 100), 1), ((85, 3, 332, 4, 76), -1)):
        found = estimate_mean(counts, PAIR_SCORES, 1.0, 1.08, looks(500), ENDS)
        assert found.low < found.value < found.high
        mean = moments(counts, PAIR_SCORES).mean
        assert side * found.value < side * mean - 0.003
        assert found.low < mean - side * 0.003 < found.high


@pytest.mark.parametrize(
    ("counts", "mean1"),
    [
        ((0, 0, 0, 0, 32), 1.03),
        ((0, 0, 0, 0, 112), 1.03),
        ((320, 0, 0, 0, 0), 1.03),
        ((0, 0, 5000, 0, 0), 1.0003),
        ((2500, 0, 0, 0, 2500), 1.9),
        ((0, 0, 0, 0, 1), 1.0001),
        ((1, 1, 1, 1, 1), 1.9),
        ((10**8, 10**8, 6 * 10**8, 10**8, 10**8), 1.00004),
    ],
)
def test_odd_data_have_finite_estimates(counts: tuple[int, ...], mean1: float) -> None:
    estimate = estimate_mean(counts, PAIR_SCORES, 1.0, mean1, looks(sum(counts)), ENDS)
    assert all(map(math.isfinite, estimate[:3]))
    assert estimate.low < estimate.value < estimate.high


def check(setup: sprt.Setup, tests: Sequence[Any]) -> None:
    """See that wrong verdicts are rare, the interval has the truth, and the estimate no side.

    A large lead needs few pairs, and the one that is added pulls its estimate towards nothing.
    """
    noise = 3 * math.sqrt(0.05 * 0.95 / len(tests))  # three standard errors
    assert setup.elo > 0 or sprt.share_better(tests) <= 0.05 + noise
    assert setup.elo < setup.elo1 or sprt.share_not_better(tests) <= 0.05 + noise
    covered = sprt.coverage(tests, setup)
    assert 0.93 - noise / 2 <= covered.covered <= 0.97 + noise / 2
    assert setup.elo > 60 or abs(covered.above - 0.5) <= 0.05 + 1.5 / math.sqrt(len(tests))


@pytest.mark.slow
@pytest.mark.parametrize(
    "setup", [sprt.Setup(sprt.FAR, 0.0, 60.0), sprt.Setup(sprt.NEAR, 60.0, 60.0)], ids=str
)
def test_few_tests_are_seldom_wrong_and_covered(setup: sprt.Setup) -> None:
    tests = sprt.play_tests(setup, runs=120)
    check(setup, tests)
    assert 60 < sprt.mean_pairs(tests) < 200


def test_a_comparison_takes_at_most_a_fifth_more_pairs_than_that_of_fishtest() -> None:
    """Of the same pairs; fishtest's may end before the 32nd, and before its ratio is at a bound."""
    own, other = sprt.race(sprt.Setup(sprt.NEAR, 60.0, 60.0), runs=40)
    assert 1.05 < own / other < 1.2
    drawn, mean1 = np.random.default_rng(1).choice(5, (3, 200), p=sprt.NEAR), 2 * share_of(60)
    found = sprt.race_pairs(drawn, mean1).T.tolist()
    assert found == [[_by_rounds(run), _one_by_one(run, mean1)] for run in drawn.tolist()]


def _by_rounds(drawn: Sequence[int]) -> int:
    """Return the pairs of a test of 60 points by the rounds of the arena."""
    rounds, seen = SprtRounds(sprt.TWO, Sprt(0.0, 60.0, 0.05, 0.05, 10**6)), 0
    counts = (0,) * 5
    while legs := rounds.next(0, {0: counts}, ()):
        seen = legs[0].end
        counts = tuple(np.bincount(drawn[:seen], minlength=5).tolist())
    return seen


def _one_by_one(drawn: Sequence[int], mean1: float) -> int:
    """Return the pairs of fishtest's test, by the ratio of the arena."""
    far, squares = [0.0, 0.0], [0.0, 0.0]
    for pairs in range(1, len(drawn) + 1):
        counts = np.bincount(drawn[:pairs], minlength=5).tolist()
        ratio = log_likelihood_ratio(counts, PAIR_SCORES, 1.0, mean1)
        for side, size in enumerate((-ratio, ratio)):
            squares[side] += max(0.0, size - far[side]) ** 2
            far[side] = max(far[side], size)
            if size > math.log(19) - squares[side] / max(2 * far[side], 1e-12):
                return pairs
    return 0
