"""Compare two bots by their games against common opponents, each of which weighs the same.

The games of the two against each other are left out, because there one wins what the other loses.
All other pairs of games are independent, so that the variance of a difference is the sum of both
bots' variances against each opponent. Shares have the standard errors of `Moments.shares`, with one
additional pair of full variance. Means are tested with Student's t, with the degrees of freedom of
Welch and Satterthwaite. Sources: Satterthwaite 1946; Welch 1947; Wallace 1959, Annals of
Mathematical Statistics 30, for the tails of Student's t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arena.statistics.distributions import Floats, normal_below, student_bound
from arena.statistics.intervals import Z95, Estimates, Ints, Moments


class Against(NamedTuple):
    """The values of each bot against each opponent (bot, opponent, key), nan if they never met.

    `freedom` are the degrees of freedom of a variance, infinite if it is treated as known.
    """

    value: Floats
    variance: Floats
    freedom: Floats


class Compared(NamedTuple):
    """A bot compared with others, by key: its value, theirs, and theirs minus its own.

    `opponents` is the number of common opponents; without any the values are nan. The p-values are
    two-sided, against no difference.
    """

    opponents: Ints
    own: Floats
    other: Floats
    difference: Estimates
    p_value: Floats


def shares_against(moments: Moments, two: Ints, size: tuple[int, int]) -> Against:
    """Return the shares of some bots; `two` has the bot and the opponent of each group.

    `size` is the number of bots, the first ones, and the number of opponents.
    """
    variance = moments.share_variances()
    value = np.where(moments.counts > 0, moments.shares().value, np.nan)
    return _spread_out(Against(value, variance, np.full_like(variance, np.inf)), two, size)


def means_against(moments: Moments, two: Ints, size: tuple[int, int]) -> Against:
    """Return the means of some bots, as `shares_against`."""
    return _spread_out(Against(moments.means().value, *moments.mean_variances()), two, size)


def _spread_out(of_groups: Against, two: Ints, size: tuple[int, int]) -> Against:
    shown = two[:, 0] < size[0]
    bot, opponent = two[shown].T
    tables = []
    for part in of_groups:
        table = np.full((*size, part.shape[1]), np.nan)
        table[bot, opponent] = part[shown]
        tables.append(table)
    return Against(*tables)


def join(*parts: Against) -> Against:
    """Return several concatenated along their keys."""
    return Against(*(np.concatenate(of, axis=2) for of in zip(*parts, strict=True)))


def compare(against: Against, bot: int, others: Ints) -> Compared:
    """Compare a bot with each of some others (others x keys), by their common opponents.

    No bot is an opponent of itself, so the games of the two against each other do not count.

    >>> moments = Moments(4, 1)
    >>> moments.add(np.array([0, 1, 2, 3]), np.array([[20] * 4]), np.array([[2, 5, 8, 14]]))
    >>> two = np.array([[0, 2], [0, 3], [1, 2], [1, 3]])
    >>> beside = compare(shares_against(moments, two, (2, 4)), 0, np.array([1]))
    >>> beside.difference.value.round(3).tolist(), beside.opponents.tolist()
    ([[0.375]], [[2]])
    """
    own, other = (Against(*(part[who] for part in against)) for who in ([bot], others))
    is_common = ~np.isnan(own.value + other.value)
    opponents = is_common.sum(axis=1)
    number = np.where(opponents, opponents, np.nan)

    def add(values: Floats) -> Floats:
        return np.asarray(np.where(is_common, values, 0.0).sum(axis=1))

    one, two = (add(side.value) / number for side in (own, other))
    variance = add(own.variance + other.variance)
    less_free = add(own.variance**2 / own.freedom + other.variance**2 / other.freedom)
    some = less_free > 0
    freedom = np.divide(variance**2, less_free, where=some, out=np.full_like(variance, np.inf))
    bound = np.where(some, student_bound(np.where(some, np.maximum(freedom, 1), 1)), Z95)
    error = np.sqrt(variance) / number
    ends = (two - one + side * bound * error for side in (-1, 1))
    p_value = find_p_values(two - one, error, freedom)
    return Compared(opponents, one, two, Estimates(two - one, *ends), p_value)


def find_p_values(values: Floats, errors: Floats, freedom: Floats) -> Floats:
    """Return the two-sided p-values of numbers against 0; nan for numbers without an error.

    The tails of Student's t are approximated by the normal distribution. Source: Wallace 1959.

    >>> find_p_values(np.array([1.96, 3.182]), np.ones(2), np.array([np.inf, 3])).round(2).tolist()
    [0.05, 0.05]
    """
    known = errors > 0
    scaled = np.divide(values, errors, where=known, out=np.full_like(values, np.nan))
    few = np.where(np.isfinite(freedom), freedom, 1.0)
    drawn = np.sqrt(few * np.log1p(scaled**2 / few)) * (8 * few + 1) / (8 * few + 3)
    return 2 * normal_below(-np.where(np.isfinite(freedom), drawn, np.abs(scaled)))


def subtract(one: Estimates, other: Estimates, direct: Floats) -> tuple[Estimates, Floats]:
    """Return the differences of other bots' numbers from one bot's, and their p-values.

    `direct` is the share of the two bots' pairs that they played against each other. There one
    number may rise as the other falls, so half the width is that of independent numbers plus the
    most that the covariance of these pairs can add (Cauchy-Schwarz inequality).

    >>> sides = [Estimates(*np.array([[one], [one - 1], [one + 1]])) for one in (1.0, 3.0)]
    >>> [[round(end.item(), 2) for end in subtract(*sides, np.array([part]))[0]] for part in (0, 1)]
    [[2.0, 0.59, 3.41], [2.0, 0.0, 4.0]]
    """
    first, second = ((side.high - side.low) / 2 for side in (one, other))
    half = np.sqrt(first**2 + second**2 + 2 * direct * first * second)
    value = other.value - one.value
    p_value = find_p_values(value, half / Z95, np.full_like(half, np.inf))
    return Estimates(value, value - half, value + half), p_value
