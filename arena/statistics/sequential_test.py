"""Test sequentially (SPRT) whether an Elo difference is elo1 (H1) rather than elo0 (H0).

It is the generalised SPRT that chess engines are tested with. After each round the likeliest
distribution of a pair's score is found under each hypothesis, that is with each of the two means,
and their log-likelihood ratio is compared with two bounds.

Two versions of a bot that play the same deals against the same opponents are tested by the
difference of their scores in a deal: most of its luck is in both scores, so the difference has a
far smaller variance.

A test stops when one side is ahead, so the observed mean is biased away from 0. The estimate after
it puts the outcomes in the stage-wise order: first those that accept elo1, the earliest first, then
the undecided ones, then those that accept elo0, the earliest last. It is the mean under which the
observed outcome is the median (median-unbiased), and the ends of a 95 % interval are the means
under which it is the 2.5 % and the 97.5 % quantile. The ratio after each round is treated as a
random walk with normal steps. Its density inside the bounds is computed from round to round by
numerical integration, once, with a drift near the observed one; the density with another drift is
that times a factor.

Sources: Wald 1945; Owen 2001, section 2.1, for the likeliest distribution with a given mean;
Van den Bergh 2019, "A practical introduction to the GSPRT", for its use in chess; Armitage,
McPherson and Rowe 1969 for the recursion; Siegmund 1978 for the order; Jennison and Turnbull 2000,
chapter 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from arena.statistics.distributions import Floats, find_root, normal_below
from arena.statistics.intervals import Estimate

PAIR_SCORES = (0.0, 0.5, 1.0, 1.5, 2.0)
DIFFERENCES = tuple(score / 2 for score in range(-4, 5))
"""The possible differences of two scores of a pair."""

FIRST_LOOK = 32  # pairs: looks at fewer made 6 % of verdicts wrong where 5 % were asked for
_NO_COUNT = 1e-3  # replaces a count of zero
_MOST_STEPS = 200
_LEAST_STEP = 1e-15
_MOST_ELO = 8000.0
_CLOSE = 1e-9  # Elo points


class Bounds(NamedTuple):
    """The log-likelihood ratios at which the test ends: at or below `low`, at or above `high`."""

    low: float
    high: float


class Moments(NamedTuple):
    """Mean and variance of an empirical distribution."""

    mean: float
    variance: float


def bounds(alpha: float, beta: float) -> Bounds:
    """Return the bounds for error rates of `alpha` if elo0 is true and of `beta` if elo1 is.

    Source: Wald 1945.

    >>> [round(bound, 3) for bound in bounds(0.05, 0.05)]
    [-2.944, 2.944]
    """
    return Bounds(math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha))


def share_of(elo: float) -> float:
    """Return the expected share of the score, 0 to 1, of a bot that leads by `elo` points.

    >>> round(share_of(200.0), 3)
    0.76
    """
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of(share: float) -> float:
    """Return the lead in Elo points that gives a share of the score; it is between 0 and 1.

    >>> round(elo_of(0.75), 2)
    190.85
    """
    return 400 * math.log10(share / (1 - share))


def log_likelihood_ratio(
    counts: Sequence[int], values: Sequence[float], mean0: float, mean1: float
) -> float:
    """Return the log-likelihood ratio of a mean of `mean1` against one of `mean0`.

    `counts` are the observations of each of `values`, which are in ascending order; the means lie
    between the first and the last of them. A count of zero is replaced by 0.001, so that each
    distribution has a likelihood even if only one value was observed. Without observations the
    ratio is 0.

    >>> counts = (10, 0, 80, 0, 20)
    >>> round(log_likelihood_ratio(counts, PAIR_SCORES, 1.0, 2 * share_of(30)), 3)
    1.694
    """
    if not any(counts):
        return 0.0
    single = single_ratios(counts, values, mean0, mean1)
    return math.fsum(n * ratio for n, ratio in zip(_positive(counts), single, strict=True))


def single_ratios(
    counts: Sequence[int], values: Sequence[float], mean0: float, mean1: float
) -> list[float]:
    """Return the log-likelihood ratio of one observation of each value."""
    both = (likeliest(counts, values, mean) for mean in (mean0, mean1))
    return [math.log(after / before) for before, after in zip(*both, strict=True)]


def likeliest(counts: Sequence[int], values: Sequence[float], mean: float) -> list[float]:
    """Return the maximum-likelihood distribution on `values` with this mean.

    Its probabilities are f / (1 + t (value - mean)), with the observed frequencies f and the
    Lagrange multiplier t that gives the mean. Source: Owen 2001, section 2.1.

    >>> [round(p, 4) for p in likeliest((0, 0, 0, 0, 7), PAIR_SCORES, 1.0)]
    [0.4997, 0.0003, 0.0001, 0.0001, 0.4998]
    """
    total = math.fsum(_positive(counts))
    shares = [weight / total for weight in _positive(counts)]
    leads = [value - mean for value in values]
    # at these limits the probability of the last value, or of the first, would be 2
    low = -(1 - shares[-1] / 2) / leads[-1]
    high = -(1 - shares[0] / 2) / leads[0]
    multiplier = 0.0
    for _ in range(_MOST_STEPS):
        terms = [lead / (1 + multiplier * lead) for lead in leads]
        excess = sum(p * term for p, term in zip(shares, terms, strict=True))
        slope = sum(p * term * term for p, term in zip(shares, terms, strict=True))
        low, high = (multiplier, high) if excess > 0 else (low, multiplier)
        after = multiplier + excess / slope  # Newton's step, if it stays in between
        if not low < after < high:
            after = (low + high) / 2
        step, multiplier = after - multiplier, after
        if abs(step) < _LEAST_STEP:
            break
    return [p / (1 + multiplier * lead) for p, lead in zip(shares, leads, strict=True)]


def moments(counts: Sequence[int], values: Sequence[float]) -> Moments:
    """Return the mean and the variance of the observations and of one more.

    Half of the added one is the first of `values` and half the last, as in the ratings, so the mean
    is never at an end, and the variance never 0.

    >>> moments((0, 0, 0, 0, 3), PAIR_SCORES)
    Moments(mean=1.75, variance=0.4375)
    """
    weights = with_one_more(counts)
    total = math.fsum(weights)
    mean = math.fsum(n * value for n, value in zip(weights, values, strict=True)) / total
    square = math.fsum(n * (value - mean) ** 2 for n, value in zip(weights, values, strict=True))
    return Moments(mean, square / total)


def with_one_more(counts: Sequence[int]) -> list[float]:
    """Return the counts with one more observation, half of it the first value, half the last."""
    weights = [float(count) for count in counts]
    weights[0] += 0.5
    weights[-1] += 0.5
    return weights


def looks(played: int) -> list[int]:
    """Return numbers of pairs at which the test was evaluated, up to `played`.

    It is looked at after each pair from the first look on; for an estimate one for each sixteenth
    more that was played is enough.

    >>> looks(20), looks(35), len(looks(1000))
    ([20], [32, 34, 35], 62)
    """
    numbers = [min(FIRST_LOOK, played)] * (played > 0)
    while numbers and numbers[-1] < played:
        numbers.append(min(played, numbers[-1] * 17 // 16))
    return numbers


def likely_left(
    counts: Sequence[int], values: Sequence[float], mean0: float, mean1: float, ends: Bounds
) -> float | None:
    """Return the expected number of observations still needed; None without observations.

    It is the mean exit time of a Brownian motion from the bounds, with the drift and the variance
    observed so far. Source: Siegmund 1985, chapter 3.

    >>> ends = bounds(0.05, 0.05)
    >>> round(likely_left((10, 0, 80, 0, 20), PAIR_SCORES, 1.0, 2 * share_of(30), ends))
    80
    """
    seen = sum(counts)
    if not seen:
        return None
    ratio = log_likelihood_ratio(counts, values, mean0, mean1)
    if not ends.low < ratio < ends.high:
        return 0.0
    spread = (mean1 - mean0) ** 2 / moments(counts, values).variance
    return _exit_time(ratio - ends.low, ends.high - ratio, ratio / seen, spread)


def _exit_time(below: float, above: float, drift: float, variance: float) -> float:
    """Return the mean exit time of a Brownian motion from the interval -`below` to `above`."""
    pull = 2 * abs(drift) / variance
    if pull * (below + above) < 1e-6:
        return below * above / variance
    behind, ahead = (below, above) if drift > 0 else (above, below)
    reached = math.expm1(-pull * behind) / math.expm1(-pull * (behind + ahead))
    return (reached * ahead - (1 - reached) * behind) / abs(drift)


def _positive(counts: Sequence[int]) -> list[float]:
    return [count or _NO_COUNT for count in counts]


def prior_share(total: float, pairs: int) -> float:
    """Return a share of the score, 0 to 1, from `pairs` pairs and one more, an even one.

    >>> prior_share(2.0, 1)
    0.75
    """
    return (total + 1) / (2 * (pairs + 1))


def mean_difference(shares: Sequence[float], elo: float) -> float:
    """Return the rise of a pair's score with `elo` more points, on average over opponents.

    `shares` are the old version's shares of the score against each opponent, between 0 and 1.

    >>> round(mean_difference([0.5], 10), 4), round(mean_difference([0.5, 0.99], 10), 4)
    (0.0288, 0.0149)
    """
    risen = [share_of(elo_of(share) + elo) - share for share in shares]
    return 2 * math.fsum(risen) / len(shares)


def elo_difference(shares: Sequence[float], difference: float, deals: int) -> float:
    """Return the finite Elo difference that raises the shares of the score by `difference`.

    The mean share after the rise is clipped: its distance from 0 and 1 is at least a quarter of one
    of `deals` + 1 pairs.

    >>> round(elo_difference([0.5, 0.99], 0.0149 / 2, 1000))
    10
    >>> round(elo_difference([0.5], 0.5, 9))
    636
    """
    edge = 0.25 / (deals + 1)
    old = math.fsum(shares) / len(shares)
    wanted = min(1 - edge, max(edge, old + difference)) - old
    return find_root(
        lambda elo: mean_difference(shares, elo) / 2 - wanted, -_MOST_ELO, _MOST_ELO, _CLOSE
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
