"""The sequential test: compared with a plain maximisation, and with values worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
import scipy

from arena.statistics.sprt import (
    DIFFERENCES,
    PAIR_SCORES,
    bounds,
    likeliest,
    likely_left,
    log_likelihood_ratio,
    looks,
    moments,
    round_size,
    share_of,
)

Floats = npt.NDArray[np.float64]


def by_newton(counts: Sequence[int], values: Sequence[float], mean: float) -> float:
    """Return the greatest log-likelihood by Newton's method on the probabilities themselves.

    It starts at a distribution with the right mean, and each step keeps sum and mean.
    """
    weights = np.array([count or 1e-3 for count in counts], dtype=float)
    support = np.array(values)
    fixed = np.array([np.ones(len(values)), support])
    even, end = np.full(len(values), 1 / len(values)), np.zeros(len(values))
    end[-1 if mean > support.mean() else 0] = 1.0
    part = (mean - support.mean()) / (end @ support - support.mean())
    p = (1 - part) * even + part * end
    for _ in range(200):
        slope, bend = -weights / p, np.diag(weights / p**2)
        system = np.block([[bend, fixed.T], [fixed, np.zeros((2, 2))]])
        move = np.linalg.solve(system, [*-slope, 0.0, 0.0])[: len(values)]
        size = min([1.0, *(-0.99 * p[move < 0] / move[move < 0])])
        while weights @ np.log(p + size * move) < weights @ np.log(p) and size > 1e-12:
            size /= 2
        p = p + size * move
        if -(slope @ move) < 1e-13:
            break
    return float(weights @ np.log(p))


def by_slsqp(counts: Sequence[int], values: Sequence[float], mean: float) -> float:
    """Return the greatest log-likelihood by scipy, in the logarithms of the probabilities."""
    weights = np.array([count or 1e-3 for count in counts], dtype=float)
    support, total = np.array(values), weights.sum()

    def off(logs: Floats) -> Floats:
        return np.array([np.exp(logs).sum() - 1, np.exp(logs) @ support - mean])

    def slopes(logs: Floats) -> Floats:
        return np.array([np.exp(logs), np.exp(logs) * support])

    found = scipy.optimize.minimize(
        lambda logs: -(weights @ logs) / total,
        np.full(len(values), -math.log(len(values))),
        jac=lambda _: -weights / total,
        method="SLSQP",
        constraints=[{"type": "eq", "fun": off, "jac": slopes}],
        options={"maxiter": 1000, "ftol": 1e-16},
    )
    return float(-found.fun * total)


def random_counts(rng: np.random.Generator, values: Sequence[float]) -> list[int]:
    """Return counts of some thousand observations at most, with zeros among them."""
    shares = rng.dirichlet(np.full(len(values), 0.4))
    counts = rng.multinomial(rng.integers(1, 3000), shares)
    counts[rng.random(len(values)) < 0.3] = 0
    return list(map(int, counts))


@pytest.mark.slow
def test_the_ratio_is_that_of_a_plain_maximisation() -> None:
    """On 200 random counts, half of them differences, with zeros among them: to 1e-6."""
    rng = np.random.default_rng(1)
    zeros = 0
    for number in range(200):
        values = (PAIR_SCORES, DIFFERENCES)[number % 2]
        counts = random_counts(rng, values)
        middle = (values[0] + values[-1]) / 2
        mean0, mean1 = middle + rng.uniform(-0.2, 0.05), middle + rng.uniform(0.06, 0.5)
        ours = log_likelihood_ratio(counts, values, mean0, mean1)
        if not any(counts):
            assert ours == 0
            continue
        zeros += 0 in counts
        theirs = by_newton(counts, values, mean1) - by_newton(counts, values, mean0)
        assert ours == pytest.approx(theirs, abs=1e-6)
    assert zeros > 100


@pytest.mark.slow
@pytest.mark.parametrize("counts", [[10, 0, 80, 0, 20], [300, 20, 411, 17, 352], [1, 1, 1, 1, 1]])
def test_the_ratio_is_that_of_an_optimiser(counts: list[int]) -> None:
    """scipy's SLSQP finds the same greatest likelihoods, to 1e-6."""
    mean = 2 * share_of(30)
    theirs = by_slsqp(counts, PAIR_SCORES, mean) - by_slsqp(counts, PAIR_SCORES, 1.0)
    assert log_likelihood_ratio(counts, PAIR_SCORES, 1.0, mean) == pytest.approx(theirs, abs=1e-6)


def test_two_values_have_the_ratio_of_a_coin() -> None:
    """Where a pair is won or lost there is one distribution with each mean: p = mean / 2."""
    wins, losses, mean = 60, 40, 1.1
    expected = wins * math.log(0.55 / 0.5) + losses * math.log(0.45 / 0.5)
    ratio = log_likelihood_ratio((losses, wins), (0.0, 2.0), 1.0, mean)
    assert ratio == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("values", [PAIR_SCORES, DIFFERENCES])
@pytest.mark.parametrize("pairs", [1, 7, 10**7])
@pytest.mark.parametrize("place", [0, 2, -1])
def test_counts_of_one_kind_have_a_finite_ratio_of_the_right_sign(
    values: Sequence[float], pairs: int, place: int
) -> None:
    """All won, all lost, all drawn: also in one pair and in ten million."""
    counts = [0] * len(values)
    counts[place] = pairs
    middle = (values[0] + values[-1]) / 2
    ratio = log_likelihood_ratio(counts, values, middle, middle + 0.03)
    assert math.isfinite(ratio)
    assert (ratio > 0) == (place == -1)
    likely = likeliest(counts, values, middle + 0.03)
    assert min(likely) > 0
    assert math.fsum(likely) == pytest.approx(1, abs=1e-5)
    assert math.fsum(map(math.prod, zip(likely, values, strict=True))) == pytest.approx(
        middle + 0.03, abs=1e-5
    )


def test_no_pairs_say_nothing() -> None:
    """The ratio is 0, and nothing is known of how many pairs there will be."""
    none = (0, 0, 0, 0, 0)
    assert log_likelihood_ratio(none, PAIR_SCORES, 1.0, 1.1) == 0
    assert likely_left(none, PAIR_SCORES, 1.0, 1.1, bounds(0.05, 0.05)) is None
    assert looks(0) == []


def test_the_ratio_turns_round_with_the_hypotheses() -> None:
    """Swapping them changes its sign, and swapping the bots too does the same."""
    counts = (5, 1, 40, 3, 30)
    ratio = log_likelihood_ratio(counts, PAIR_SCORES, 1.0, 1.1)
    assert log_likelihood_ratio(counts, PAIR_SCORES, 1.1, 1.0) == pytest.approx(-ratio, abs=1e-12)
    mirrored = log_likelihood_ratio(counts[::-1], PAIR_SCORES, 1.0, 0.9)
    assert mirrored == pytest.approx(ratio, abs=1e-9)


def test_the_bounds_are_those_of_wald() -> None:
    """log(0.1 / 0.95) and log(0.9 / 0.05)."""
    assert bounds(0.05, 0.1) == pytest.approx((-2.2512918, 2.8903718))


def test_one_more_pair_keeps_the_moments_from_the_ends() -> None:
    """Three pairs won and half a pair each: mean 7/4, variance (3.5/16 + 0.5*49/16)/4 = 7/16."""
    assert moments((0, 0, 0, 0, 3), PAIR_SCORES) == (1.75, 0.4375)
    assert moments((0, 0, 0, 0, 0), PAIR_SCORES) == (1.0, 1.0)


def test_rounds_grow_by_a_sixteenth_and_end_at_the_most() -> None:
    """16 pairs up to 256, then a sixteenth of what was played; the looks are their sums."""
    assert [round_size(n, 10**6) for n in (0, 255, 256, 272, 1600)] == [16, 16, 16, 17, 100]
    assert looks(300) == [*range(16, 273, 16), 289, 300]
    assert round_size(300, 300) == round_size(400, 300) == 0


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
    assert likely_left(even, PAIR_SCORES, 0.95, 1.05, ends) == pytest.approx(
        2.944439**2 / (0.01 / moments(even, PAIR_SCORES).variance), rel=1e-4
    )
