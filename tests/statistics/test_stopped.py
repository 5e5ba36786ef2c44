"""Estimates after a stopped test: compared with simulated walks and with the plain interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.statistics.sprt import Moments, bounds, looks
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
    """Nothing was chosen: mean and 1.96 standard errors."""
    estimate = estimate_mean(Moments(1.2, 0.4), 1.0, 1.05, [16], ENDS)
    error = 1.959964 * math.sqrt(0.4 / 16)
    assert estimate == pytest.approx((1.2, 1.2 - error, 1.2 + error), abs=1e-4)


def test_the_estimate_after_an_early_win_is_nearer_to_nothing_than_the_mean() -> None:
    """The test stopped because it was ahead; and the other way round."""
    numbers = looks(500)
    won = estimate_mean(Moments(1.09, 0.35), 1.0, 1.08, numbers, ENDS)
    assert won.low < won.value < 1.09 < won.high
    lost = estimate_mean(Moments(0.99, 0.35), 1.0, 1.08, numbers, ENDS)
    assert lost.low < 0.99 < lost.value < lost.high


def test_the_estimate_turns_round_with_the_bots() -> None:
    """Mirrored scores and hypotheses give the mirrored interval."""
    one = estimate_mean(Moments(1.08, 0.35), 1.0, 1.08, looks(500), ENDS)
    other = estimate_mean(Moments(0.92, 0.35), 0.92, 1.0, looks(500), ENDS)
    assert (other.value, other.high, other.low) == pytest.approx(
        [2 - mean for mean in one], abs=1e-6
    )


@pytest.mark.parametrize(
    ("mean", "variance", "mean1", "pairs"),
    [
        (1.97, 0.03, 1.03, 32),  # all won
        (0.03, 0.03, 1.03, 320),  # all lost, and not stopped
        (1.0, 0.001, 1.0003, 5000),
        (1.0, 1.0, 1.9, 5000),
        (1.5, 1.0, 1.0001, 1),
        (1.00002, 0.3, 1.00004, 10**9),
    ],
)
def test_odd_data_have_finite_estimates(
    mean: float, variance: float, mean1: float, pairs: int
) -> None:
    """In order, whatever was observed."""
    estimate = estimate_mean(Moments(mean, variance), 1.0, mean1, looks(pairs), ENDS)
    assert all(map(math.isfinite, estimate))
    assert estimate.low < estimate.value < estimate.high
