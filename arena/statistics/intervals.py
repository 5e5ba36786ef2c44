"""Compute 95 % intervals with the pair of games as the unit, and see whether pairs are alike.

A pair is one deal played twice with the seats swapped: its two games share their luck, so they are
not independent. A share or a mean per game is a ratio of two sums over pairs, and its standard
error comes from how the pairs differ. One pair of full variance is added to every estimate of a
share, so that few equal pairs do not have an interval of no width.

Two tests of each bot see pairs that depend on when they were played: whether blocks of pairs that
were played one after another vary more than single pairs allow, and whether the bot's scores rise
or fall. The chance of any false alarm in a run is 1 %. Errors are widened by what is seen of all
pairs already where luck would show as much in 10 % of runs: with weak dependence, which is detected
in a quarter of runs, equal bots were apart in 10 % of runs, and are so in 6 % (bench/STUDIES.md).

Sources: Cochran 1977, chapter 6, for ratios; Wilson 1927 for the interval of a share, with the
design effect of Kish 1965; Benjamini and Hochberg 1995 for many tests at once; Fisher 1925 for the
analysis of variance; Paulson 1942 for a normal form of F; Box and Andersen 1955 for its variance if
scores are not normal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.statistics.distributions import Floats, normal_below, student_bound

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Z95 = 1.959963984540054
LEVEL = 0.05
"""The false discovery rate: the bound on the share of false significant differences."""


class Estimate(NamedTuple):
    """A number with its 95 % interval and its standard error.

    A number that cannot be estimated is nan, and a missing end of the interval is infinite. The
    interval need not follow from the error: it may be cut at the limits of the number's range.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    error: float = math.nan

    @property
    def cells(self) -> tuple[float | None, float | None, float | None]:
        """The number and the ends of its interval; what is not finite is None."""
        value, low, high = (one if math.isfinite(one) else None for one in self[:3])
        return value, low, high

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the number against 0; nan without an error.

        >>> round(Estimate(19.6, error=10.0).p_value, 3)
        0.05
        """
        if not self.error:
            return math.nan
        return 2 * float(normal_below(-abs(self.value) / self.error))

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval excludes 0; an interval that lacks an end does not.

        >>> [Estimate(1, *ends).excludes_zero for ends in ((0.1, 3.0), (0.0, 3.0), ())]
        [True, False, False]
        """
        return self.low > 0 or self.high < 0

    def scaled(self, factor: float, digits: int | None = None) -> Estimate:
        """Return it in another unit; with `digits` the number and the ends are rounded."""
        value, low, high = (
            factor * one if digits is None else round(factor * one, digits) + 0.0
            for one in self[:3]
        )
        return Estimate(value, low, high, factor * self.error)

    def widened(self, ends: int) -> Estimate:
        """Return it with an interval that stays valid if the number was chosen by its value.

        `ends` is the number of interval ends that could be wrong; a number not chosen has two.
        Source: Bonferroni, as by Dunn 1961.

        >>> [round(one, 2) for one in Estimate(0.0, -1.96, 1.96).widened(20)[:3]]
        [0.0, -2.81, 2.81]
        """
        factor = NormalDist().inv_cdf(1 - LEVEL / ends) / Z95
        value, low, high, error = self
        low, high = value - factor * (value - low), value + factor * (high - value)
        return Estimate(value, low, high, error)


class Estimates(NamedTuple):
    """Many numbers with their 95 % intervals, as arrays; nan if they cannot be estimated."""

    value: Floats
    low: Floats
    high: Floats


def find_significant(estimates: Sequence[Estimate]) -> list[bool]:
    """Return which of some differences are significant, corrected for multiple testing.

    The false discovery rate is 5 %. A difference whose interval, as it is shown, contains 0 is
    never significant. Source: Benjamini and Hochberg 1995.

    >>> find_significant([Estimate(3, 1, 5, 1.0), Estimate(2.1, 0.1, 4.1, 1.9), Estimate(9)])
    [True, False, False]
    """
    rows = [(one.p_value, one.low, one.high) for one in estimates]
    p_values, low, high = np.array(rows).reshape(-1, 3).T
    return [bool(one) for one in (correct(p_values) < LEVEL) & ((low > 0) | (high < 0))]


def correct(p_values: Floats) -> Floats:
    """Return p-values adjusted by the method of Benjamini and Hochberg; nan stays nan.

    >>> correct(np.array([0.04, 0.001, np.nan, 0.03, 0.8])).round(3).tolist()
    [0.053, 0.004, nan, 0.053, 0.8]
    """
    corrected = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")  # nan comes last
    order = order[: int(np.count_nonzero(~np.isnan(p_values)))]
    steps = p_values[order] * len(order) / np.arange(1, len(order) + 1)
    corrected[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return corrected


def score_interval(pairs: int, total: float, squares: float) -> tuple[float, float]:
    """Return the 95 % interval of a mean score per game (0..1), from the scores of pairs.

    Wilson's interval for the number of independent games that would have the variance observed
    between pairs. One pair of full variance is added, so that few equal pairs do not have an
    interval of no width, and the variance is at least the least that pairs of this mean can have.
    Sources: Wilson 1927; Kish 1965 for the design effect.

    >>> low, high = score_interval(100, 100.0, 150.0)
    >>> round(low, 3), round(high, 3)
    (0.431, 0.569)
    """
    low, high = score_intervals(*(np.array([float(value)]) for value in (pairs, total, squares)))
    return float(low[0]), float(high[0])


def score_intervals(pairs: Floats, total: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper bounds of `score_interval` for many pairings."""
    mean = total / (2 * pairs)
    prior = (total / 2 + 0.5) / (pairs + 1)
    full = prior * (1 - prior)
    between = np.maximum(0.0, squares / 4 - pairs * mean**2)
    effect = np.maximum(between + full, pairs * least_variance(prior)) / (pairs * full)
    return _wilson(mean, pairs / effect)


def least_variance(share: Floats) -> Floats:
    """Return the least variance of a pair's score per game that is possible at this mean.

    It is attained if the score per game is only 0 or 1/2, or only 1/2 or 1.

    >>> least_variance(np.array([0.0, 0.25, 0.5])).tolist()
    [0.0, 0.0625, 0.0]
    """
    rarer = np.minimum(share, 1 - share)
    return np.asarray(rarer * (0.5 - rarer))


def _wilson(mean: Floats, games: Floats) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a share in this number of independent games."""
    centre = (mean + Z95**2 / (2 * games)) / (1 + Z95**2 / games)
    half = Z95 * np.sqrt(np.maximum(0, mean * (1 - mean)) / games + (Z95 / (2 * games)) ** 2)
    half /= 1 + Z95**2 / games
    return np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)


class Moments:
    """Sums of a count and of a total over pairs, for each group and each key.

    `scale` is the number of units of the total in one: 2 if a draw is half a win.
    """

    def __init__(self, groups: int, keys: int, scale: int = 1) -> None:
        self.sums = np.zeros((6, groups, keys), np.int64)
        self.scale = scale

    def add(self, groups: Ints, counts: Ints, totals: Ints) -> None:
        """Add pairs: the group of each, and its counts and totals by key (keys x pairs)."""
        add_pairs(groups, counts, [(self, totals)])

    @property
    def counts(self) -> Ints:
        """The sums of the counts."""
        return np.asarray(self.sums[1])

    @property
    def totals(self) -> Ints:
        """The sums of the totals, in units."""
        return np.asarray(self.sums[2])

    def means(self) -> Estimates:
        """Return the means, with intervals by Student's t if there are two pairs or more."""
        pairs, count, mean, between = self._average_pairs()
        free = np.maximum(pairs - 1, 1)
        error = np.sqrt(pairs * between / free) / np.maximum(count, 1)
        half = np.where(pairs < 2, np.nan, student_bound(free)) * error
        return Estimates(mean, mean - half, mean + half)

    def shares(self) -> Estimates:
        """Return shares, 0 to 1, with Wilson's intervals for the variance between pairs.

        One pair of full variance is added, as in `score_interval`. If pairs do not differ, because
        the share is 0 or 1, games count as independent.
        """
        pairs, count, mean, between = self._average_pairs()
        some = np.maximum(count, 1)
        each = some / np.maximum(pairs, 1)  # the mean count in a pair
        prior = (mean * count + each / 2) / (count + each)
        full = prior * (1 - prior)
        more = full * self.sums[3] / np.maximum(pairs, 1)
        known = count > 0
        seen = full * some**2 / np.where(known, between + more, 1.0)
        alike = np.where(known, some * mean * (1 - mean) + full * each, 1.0)
        seen = np.minimum(seen, some * alike / np.where(known, between + full * each, 1.0))
        return Estimates(mean, *_wilson(mean, np.where(known, seen, 1.0)))

    def _average_pairs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return pairs, counts, means, and the squared deviations of the pairs from their mean."""
        pairs, n, y, nn, ny, yy = self.sums.astype(float)
        y, ny, yy = y / self.scale, ny / self.scale, yy / self.scale**2
        mean = np.divide(y, n, where=n > 0, out=np.full_like(y, np.nan))
        return pairs, n, mean, np.maximum(0, yy - 2 * mean * ny + mean**2 * nn)


def add_pairs(groups: Ints, counts: Ints, totals: Sequence[tuple[Moments, Ints]]) -> None:
    """Add pairs as `Moments.add` does, to several moments: totals of the same counts."""
    if not len(groups):
        return
    order: Ints | slice = slice(None)
    if (np.diff(groups) < 0).any():  # sorting takes a third of np.add.at of groups apart
        order = np.argsort(groups, kind="stable")
        groups, counts = groups[order], counts.take(order, axis=1)
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))

    def add_up(part: Ints) -> Ints:
        return np.asarray(np.add.reduceat(part, starts, axis=1).T)

    n = counts
    of_counts = [add_up(part) for part in (np.minimum(n, 1), n, n * n)]
    for moments, total in totals:
        y = total if isinstance(order, slice) else total.take(order, axis=1)
        parts = zip((0, 1, 3, 2, 4, 5), [*of_counts, *map(add_up, (y, n * y, y * y))], strict=True)
        for index, part in parts:
            moments.sums[index, groups[starts]] += part


_BLOCK, _ALARM = 5, 0.01  # pairs of a block; the chance of a false alarm
_WIDEN = 1.28  # standard errors from which on what is seen of all pairs widens their errors
_FEWEST, _LEAST = 10, 1e-9  # pairs of a pairing, and blocks of all, of which something is seen


class Dependence(NamedTuple):
    """How pairs depend on time: `growth` is the factor of the variance of a pairing, by its bots.

    `bot` is the one whose results depend most, None if luck may be all that is seen; `rise` is
    above 0 if its scores have risen, below 0 if they have fallen, and 0 if pairs that were played
    one after another are alike.
    """

    growth: Mapping[tuple[int, int], float]
    bot: int | None
    rise: float


def find_dependence(
    met: Mapping[int, tuple[int, int]], pairing: Ints, halves: Ints
) -> Dependence | None:
    """Return how pairs depend on time, None if they do not; `met` are the bots by pairing.

    The pairs of a `pairing` are in order; `halves` are the scores of its first bot in them, 0 to 4.

    >>> met, order = {0: (0, 1), 1: (0, 2), 2: (1, 2)}, np.arange(40)
    >>> fair, risen = np.tile([0, 2, 4, 2, 2], 8), np.where(order < 20, 0, 4)
    >>> of_three = np.repeat([0, 1, 2], 40)
    >>> find_dependence(met, of_three, np.concatenate([fair, fair, fair]))
    >>> find_dependence(met, of_three, np.concatenate([risen, risen, fair])).bot
    0
    """
    pairs = np.bincount(pairing)
    numbers = [n for n in np.flatnonzero(pairs >= _FEWEST).tolist() if n in met]
    two = np.array([met[number] for number in numbers]).reshape(-1, 2)
    bots = np.unique(two, return_counts=True)[0]  # without counts it imports numpy.ma: 30 ms
    sides = (two[:, :1] == bots) * 1.0 - (two[:, 1:] == bots)
    found = _sum_in_time(pairs, pairing, halves)[:, numbers]
    sums = found[:-1] @ np.hstack([abs(sides), np.ones((len(two), 1))])  # of each bot, and of all
    between, blocks, total, fourth, square = np.maximum(sums.T, (0, 1, 2, 0, _LEAST)).T
    growth, free = between / blocks, np.maximum(total - blocks, 1)
    root = np.cbrt(growth * free / np.maximum(total - between, _LEAST))
    peaked = 1 + np.maximum(fourth / total - 3, 0) / (2 * _BLOCK)  # scores that are not normal
    high, low = 2 / 9 * peaked / blocks, 2 / 9 / free
    alike = ((1 - low) * root - 1 + high) / np.sqrt(low * root**2 + high)
    times = np.append(found[-1] @ sides, 0.0) / np.sqrt(square)
    doubt, bound = np.maximum(alike, abs(times)), NormalDist().inv_cdf(1 - _ALARM / len(sums.T) / 3)
    told = doubt > bound
    weak = bool(alike[-1] > _WIDEN and blocks[-1] >= _FEWEST)
    widens = np.append(told[:-1], told[-1] or weak)
    if not widens.any():
        return None
    grown = np.where(widens, np.maximum(growth, 1.0), 1.0)
    most = np.maximum(grown[np.searchsorted(bots, two)].max(axis=1), grown[-1]).tolist()
    worst = int(doubt[:-1].argmax())
    by_bots = {met[number]: one for number, one in zip(numbers, most, strict=True)}
    rise = float(times[worst] * (abs(times[worst]) > bound))
    return Dependence(by_bots, int(bots[worst]) if told.any() else None, rise)


def _sum_in_time(pairs: Ints, pairing: Ints, scores: Ints) -> Floats:
    """Return sums by pairing, of scores in standard deviations about the mean of the pairing.

    The rows are squares between blocks, their freedom and that of all pairs, fourth powers, and the
    variance of the trend and the trend; they are 0 where all scores are equal.
    """
    order = np.argsort(pairing, kind="stable")
    place, each = pairing[order], np.maximum(pairs, 1)
    off = scores[order] - (np.bincount(pairing, scores) / each)[place]
    error = np.sqrt(np.bincount(place, off**2) / np.maximum(pairs - 1, 1))
    off /= np.where(error > 0, error, 1.0)[place]
    at = np.arange(len(place)) - (np.cumsum(pairs) - pairs)[place]
    blocks = -(-pairs // _BLOCK)
    block = (np.cumsum(blocks) - blocks)[place] + at // _BLOCK
    of_block = np.bincount(block, off) ** 2 / np.bincount(block)
    between = np.bincount(np.repeat(np.arange(len(pairs)), blocks), of_block, len(pairs))
    time = (at + 0.5) / each[place] - 0.5
    sums = (np.bincount(place, one) for one in (off**4, time**2, time * off))
    return np.array([between, blocks - 1, pairs - 1, *sums]) * (error > 0)
