"""Estimates after a stopped test: compared with simulated walks and with the plain interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.statistics.sprt import PAIR_SCORES, bounds, looks, moments, share_of
from arena.statistics.stopped import Walk, estimate_drift, estimate_mean

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


def test_one_look_gives_the_plain_interval() -> None:
    """Nothing was chosen: the mean of 17 pairs is 21/17, and so on with 1.96 standard errors."""
    counts = (1, 0, 10, 0, 5)
    seen = moments(counts, PAIR_SCORES)
    assert seen.mean == pytest.approx(21 / 17)
    estimate = estimate_mean(counts, PAIR_SCORES, 1.0, 1.001, [16], ENDS)
    error = 1.959964 * math.sqrt(seen.variance / 16)
    expected = (seen.mean, seen.mean - error, seen.mean + error)
    assert estimate[:3] == pytest.approx(expected, abs=1e-3)


WON = (60, 3, 333, 4, 100)
"""500 pairs with a mean of 1.081."""


def test_the_estimate_after_an_early_win_is_nearer_to_nothing_than_the_mean() -> None:
    """The test stopped because it was ahead; and the other way round."""
    won = estimate_mean(WON, PAIR_SCORES, 1.0, 1.08, looks(500), ENDS)
    assert won.low < won.value < moments(WON, PAIR_SCORES).mean - 0.003 < won.high
    counts = (85, 3, 332, 4, 76)
    lost = estimate_mean(counts, PAIR_SCORES, 1.0, 1.08, looks(500), ENDS)
    assert lost.low < moments(counts, PAIR_SCORES).mean + 0.003 < lost.value < lost.high


def test_the_estimate_turns_round_with_the_bots() -> None:
    """Mirrored scores and hypotheses give the mirrored interval."""
    one = estimate_mean(WON, PAIR_SCORES, 1.0, 1.08, looks(500), ENDS)
    other = estimate_mean(WON[::-1], PAIR_SCORES, 0.92, 1.0, looks(500), ENDS)
    assert (other.value, other.high, other.low) == pytest.approx(
        [2 - mean for mean in one[:3]], abs=1e-6
    )


def test_a_large_lead_is_not_made_small() -> None:
    """112 pairs with a mean of 1.83, which is what a test of 10 points needs for its verdict."""
    counts = (0, 0, 19, 0, 93)
    estimate = estimate_mean(counts, PAIR_SCORES, 1.0, 2 * share_of(10), looks(112), ENDS)
    seen = moments(counts, PAIR_SCORES)
    error = 1.959964 * math.sqrt(seen.variance / 112)
    expected = (seen.mean, seen.mean - error, seen.mean + error)
    assert estimate[:3] == pytest.approx(expected, abs=0.01)


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
    """In order, whatever was observed."""
    estimate = estimate_mean(counts, PAIR_SCORES, 1.0, mean1, looks(sum(counts)), ENDS)
    assert all(map(math.isfinite, estimate[:3]))
    assert estimate.low < estimate.value < estimate.high
