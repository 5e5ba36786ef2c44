"""Confidence sequences: how often they ever miss the truth, looked at after every pair."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import find_root
from arena.statistics.two_bots import SHARES, log_capital
from bench.studies.fields import score_shares

SEED = 2023
RUNS = 1000
PAIRS = 5000
ALPHA = 0.05
SHAPES = {
    "even bots": score_shares(0.5),
    "a share of 0.9": score_shares(0.9),
    "a share of 0.99": score_shares(0.99),
    "only 2 : 0 and 0 : 2": [0.5, 0.0, 0.0, 0.0, 0.5],
    "nearly all 1 : 1": [0.01, 0.0, 0.98, 0.0, 0.01],
}
"""How likely each of the five scores is."""


def ever_missed(shape: Sequence[float], runs: int, pairs: int) -> float:
    """Return the share of runs in which the sequence of intervals ever missed the mean share.

    The interval misses the mean if one of the bettors against it, one on each side, has made
    2 / alpha of 1: that is how it is defined.
    """
    mean = float(np.dot(shape, SHARES))
    threshold = math.log(2 / ALPHA)
    missed = 0
    for run in range(runs):
        scores = np.random.default_rng([SEED, run]).choice(5, pairs, p=list(shape))
        counts = np.cumsum(np.eye(5)[scores], axis=0)
        above = log_capital(counts, mean).max()
        below = log_capital(counts[:, ::-1], 1 - mean).max()
        missed += max(above, below) >= threshold
    return missed / runs


def sequence_interval(counts: ScoreCounts, alpha: float = ALPHA) -> tuple[float, float]:
    """Return the interval of a mean share per game (0..1) from the pairs so far.

    The probability that it does not contain the mean at some number of pairs, be it looked at after
    each, is at most `alpha`; half of that is for each side.

    >>> [round(bound, 2) for bound in sequence_interval((10, 20, 40, 20, 10))]
    [0.41, 0.59]
    """
    return _lower(counts, alpha / 2), 1 - _lower(counts[::-1], alpha / 2)


def _lower(counts: ScoreCounts, alpha: float) -> float:
    """Return the lowest mean share that is not refuted; a greater mean leaves less capital."""

    def excess(mean: float) -> float:
        return float(log_capital(counts, mean)) - math.log(1 / alpha)

    return find_root(excess, 1e-9, 1 - 1e-9, 1e-10) if excess(1e-9) > 0 else 0.0


def lines(runs: int = RUNS, pairs: int = PAIRS) -> Iterator[str]:
    """Yield the tables of the section, each row as soon as it has been simulated."""
    yield f"{runs:,} runs of {pairs:,} pairs, looked at after each. At most {ALPHA:.0%} may miss.\n"
    yield "| scores of the pairs | ever missed | half width after 100 | 1,000 | 10,000 pairs |"
    yield "|---|---|---|---|---|"
    for name, shape in SHAPES.items():
        widths = []
        for size in (100, 1000, 10_000):
            first, second, third, fourth, fifth = (round(size * part) for part in shape)
            low, high = sequence_interval((first, second, third, fourth, fifth))
            widths.append(f"{(high - low) / 2:.3f}")
        yield f"| {name} | {ever_missed(shape, runs, pairs):.1%} | {' | '.join(widths)} |"
