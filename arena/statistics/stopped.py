"""Estimate an Elo difference after a sequential test, corrected for the stopping rule.

A test stops when one side is ahead, so the observed mean is biased away from 0. Here the outcomes
of the test are put in the stage-wise order: first those that accept elo1, the earliest first, then
the undecided ones, then those that accept elo0, the earliest last. The estimate is the mean under
which the observed outcome is the median (median-unbiased), and the ends of a 95 % interval are the
means under which it is the 2.5 % and the 97.5 % quantile.

The ratio after each round is treated as a random walk with normal steps. Its density inside the
bounds is computed from round to round by numerical integration, once, with a drift near the
observed one; the density with another drift is that times a factor.

Sources: Armitage, McPherson and Rowe 1969 for the recursion; Siegmund 1978 for the order; Jennison
and Turnbull 2000, chapter 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from arena.statistics.distributions import Floats, find_root, normal_below
from arena.statistics.intervals import Estimate
from arena.statistics.sequential_test import (
    Bounds,
    log_likelihood_ratio,
    moments,
    single_ratios,
    with_one_more,
)

_FAR = 6.0  # standard deviations: probabilities further away are ignored
_DOUBLINGS = 12  # of a standard error, in the search for the end of an interval
_MOST = 600.0  # the largest exponent: exp of it does not overflow
_MIN_NODES, _MOST_NODES = 64, 400


class Walk(NamedTuple):
    """A stopped random walk: its last position, and when it was looked at.

    `looks` are the numbers of steps after which it was compared with the bounds `ends`; `variance`
    is that of one step.
    """

    position: float
    variance: float
    looks: Sequence[int]
    ends: Bounds

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.looks[-1]


def estimate_mean(
    counts: Sequence[int],
    values: Sequence[float],
    mean0: float,
    mean1: float,
    looks: Sequence[int],
    ends: Bounds,
) -> Estimate:
    """Return the mean of one observation after a sequential test of `mean1` against `mean0`.

    `counts` are the observations of each of `values`; `looks` are the numbers of observations at
    which the test was evaluated, and the last of them is their total. The interval misses the truth
    in 5 % of tests. One observation is added as in `moments`. A step of the walk is an
    observation's log-likelihood ratio, which grows with its value: both are treated as the same
    variable, each in units of its standard deviation.

    >>> from arena.statistics.sequential_test import PAIR_SCORES, bounds, looks
    >>> counts, ends = (4, 0, 62, 0, 14), bounds(0.05, 0.05)
    >>> estimate = estimate_mean(counts, PAIR_SCORES, 1.0, 1.09, looks(80), ends)
    >>> [round(mean, 2) for mean in estimate[:3]]
    [1.12, 1.01, 1.22]
    """
    seen = moments(counts, values)
    ratios = np.array(single_ratios(counts, values, mean0, mean1))
    weights = np.array(with_one_more(counts))
    weights /= weights.sum()
    gaps = ratios - weights @ ratios
    position = log_likelihood_ratio(counts, values, mean0, mean1)
    walk = Walk(position, float(weights @ gaps**2), looks, ends)
    scale = math.sqrt(seen.variance / walk.variance)
    near = position / walk.steps
    drifts = estimate_drift(walk)[:3]
    return Estimate(*(seen.mean + (drift - near) * scale for drift in drifts))


def estimate_drift(walk: Walk) -> Estimate:
    """Return the drift per step of a stopped walk."""
    stages = _Stages(walk)
    error = math.sqrt(walk.variance / walk.steps)

    def drift_at(above: float) -> float:
        def excess(drift: float) -> float:
            return stages.share_above(drift) - above

        low = high = stages.drift
        for step in range(_DOUBLINGS):
            if excess(low) <= 0 <= excess(high):
                break
            low -= error * 2**step if excess(low) > 0 else 0
            high += error * 2**step if excess(high) < 0 else 0
        if excess(low) >= 0 or excess(high) <= 0:  # the root is at an end, or out of range
            return low if excess(low) >= 0 else high
        return find_root(excess, low, high, error * 1e-9)

    return Estimate(*map(drift_at, (0.5, 0.025, 0.975)))


class _Stages:
    """The density of a walk inside its bounds; paths that leave them at a look end there.

    Each of the `stages` leads from one look to the next: the number of steps before it, its number
    of steps, the upper bound at its end, its starting positions, and their probabilities (masses).
    """

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.drift = walk.position / walk.steps  # for which the masses are computed
        looks = self._find_looks()
        nodes, weights = self._quadrature(min(np.diff([0, *looks])))
        starts, masses = np.zeros(1), np.ones(1)
        self.stages: list[tuple[int, int, float, Floats, Floats]] = []
        for before, after in pairwise([0, *looks]):
            bound = walk.position if after == walk.steps else walk.ends.high
            self.stages.append((before, after - before, bound, starts, masses))
            masses = self._density(nodes[:, None] - starts, after - before) @ masses * weights
            starts = nodes

    def _find_looks(self) -> list[int]:
        """Return the looks at which the walk could have been outside the bounds, and the last."""
        walk = self.walk
        near = min(-walk.ends.low, walk.ends.high)
        drift = abs(self.drift) + 4 * math.sqrt(walk.variance / walk.steps)
        return [
            look
            for look in walk.looks
            if look == walk.steps or look * drift + _FAR * math.sqrt(look * walk.variance) > near
        ]

    def _quadrature(self, least: float) -> tuple[Floats, Floats]:
        """Return quadrature nodes between the bounds, dense enough for the shortest round."""
        low, high = self.walk.ends
        wanted = 2 * (high - low) / math.sqrt(least * self.walk.variance)
        count = int(min(_MOST_NODES, max(_MIN_NODES, wanted)))
        nodes, weights = np.polynomial.legendre.leggauss(count)
        half = (high - low) / 2
        return np.asarray(low + half * (nodes + 1)), np.asarray(weights * half)

    def _density(self, moved: Floats, steps: int) -> Floats:
        """Return the density of a displacement after `steps` steps."""
        variance = steps * self.walk.variance
        exponent = -((moved - steps * self.drift) ** 2) / (2 * variance)
        return np.asarray(np.exp(exponent) / math.sqrt(2 * math.pi * variance))

    def share_above(self, drift: float) -> float:
        """Return the probability of the observed outcome or one more in favour of elo1."""
        share, change, unit = 0.0, drift - self.drift, self.walk.variance
        for before, steps, bound, starts, masses in self.stages:
            exponent = (change * starts - (drift**2 - self.drift**2) * before / 2) / unit
            above = normal_below((starts + steps * drift - bound) / math.sqrt(steps * unit))
            share += float(masses * np.exp(np.minimum(exponent, _MOST)) @ above)
        return share
