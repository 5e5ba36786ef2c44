"""The sequential test of `arena compare`: wrong verdicts, pairs, and the interval's coverage."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from arena.statistics.sprt import (
    PAIR_SCORES,
    Bounds,
    bounds,
    elo_of,
    log_likelihood_ratio,
    looks,
    moments,
    round_size,
    share_of,
)
from arena.statistics.stopped import estimate_mean

SEED = 13
RUNS = 1000
NEAR = (0.16, 0.002, 0.676, 0.002, 0.16)
"""Shares of the pair scores of greedy against a near copy, greedy(patience=2.5), made even."""
FAR = (0.3, 0.015, 0.37, 0.015, 0.3)
"""Shares of the pair scores of two bots that seldom do the same."""


class Finished(NamedTuple):
    """A simulated test: the pairs by score, the ratio, and whether it ended above its bounds."""

    counts: tuple[int, ...]
    ratio: float
    ends: Bounds

    @property
    def pairs(self) -> int:
        """How many pairs it took."""
        return sum(self.counts)


def tilted(shares: Sequence[float], elo: float) -> list[float]:
    """Return the shares of the pair scores with the mean of a true lead, others as they were."""
    values = np.array(PAIR_SCORES)

    def weights(tilt: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        raw = np.array(shares) * np.exp(tilt * values)
        return np.asarray(raw / raw.sum())

    tilt = brentq(lambda tilt: float(weights(tilt) @ values) - 2 * share_of(elo), -20.0, 20.0)
    return [float(weight) for weight in weights(tilt)]


def play_test(
    shares: Sequence[float], elo1: float, most: int, rng: np.random.Generator
) -> Finished:
    """Return a simulated test of elo1 against 0 with errors of 5 %, on pairs with these shares."""
    ends = bounds(0.05, 0.05)
    counts, ratio = np.zeros(len(PAIR_SCORES), dtype=int), 0.0
    while ends.low < ratio < ends.high and (size := round_size(int(counts.sum()), most)):
        counts += rng.multinomial(size, shares)
        ratio = log_likelihood_ratio(counts.tolist(), PAIR_SCORES, 1.0, 2 * share_of(elo1))
    return Finished(tuple(counts.tolist()), ratio, ends)


def play_tests(
    shares: Sequence[float], elo: float, elo1: float, most: int = 10**6, runs: int = RUNS
) -> list[Finished]:
    """Return so many simulated tests with a true lead of `elo`; the seed is of the arguments."""
    rng = np.random.default_rng([SEED, round(100 * (elo + 1000)), round(100 * elo1), most])
    truth = tilted(shares, elo)
    return [play_test(truth, elo1, most, rng) for _ in range(runs)]


def share_wrong(tests: Sequence[Finished], elo: float, elo1: float) -> float:
    """Return the share of verdicts that are wrong: better at 0 and below, not better at elo1."""
    above = sum(test.ratio >= test.ends.high for test in tests) / len(tests)
    below = sum(test.ratio <= test.ends.low for test in tests) / len(tests)
    return above if elo <= 0 else below if elo >= elo1 else math.nan


def mean_pairs(tests: Sequence[Finished]) -> float:
    """Return the mean number of pairs."""
    return sum(test.pairs for test in tests) / len(tests)


class Coverage(NamedTuple):
    """How often the interval had the truth, and how often the estimate and the mean exceed it."""

    covered: float
    above: float
    plain_covered: float
    plain_bias: float


def coverage(tests: Sequence[Finished], elo: float, elo1: float) -> Coverage:
    """Return the coverage of the interval, and of the one that ignores the stopping."""
    covered = above = plain = 0
    bias = 0.0
    for test in tests:
        seen = moments(test.counts, PAIR_SCORES)
        mean = estimate_mean(seen, 1.0, 2 * share_of(elo1), looks(test.pairs), test.ends)
        truth = 2 * share_of(elo)
        covered += mean.low <= truth <= mean.high
        above += mean.value > truth
        plain += abs(seen.mean - truth) <= 1.96 * math.sqrt(seen.variance / test.pairs)
        bias += elo_of(seen.mean / 2) - elo
    runs = len(tests)
    return Coverage(covered / runs, above / runs, plain / runs, bias / runs)


def lines() -> Iterator[str]:
    """Yield the tables of the section, each row as soon as it has been simulated."""
    yield "| true Elo | runs |"
    yield "|---|---|"
