"""Change: by how much a mean is larger in one run than in another.

The pair (one deal played twice, seats swapped) is the statistical unit. Where both runs have
played a deal, most of its luck is in both pairs; so what differs is the difference by deal, and
its error is that of these differences. Pairs on deals of their own are independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.statistics.distributions import normal_below
from arena.statistics.model import Floats
from arena.statistics.ratings import Z95
from arena.statistics.residuals import LEVEL, correct


class Change(NamedTuple):
    """The mean of a measure in the base and in the other run, and the second less the first.

    `low` and `high` are the bounds of the difference's 95 % interval, `error` is its standard
    error.
    """

    base: float
    other: float
    difference: float
    low: float
    high: float
    error: float

    @property
    def chance(self) -> float:
        """How likely chance makes so large a difference where there is none."""
        return chance_of(self.difference, self.error)


class Values(NamedTuple):
    """What the pairs of one pairing came to in two runs: numbers from 0 to 1, a pair each.

    The first `shared` of both are pairs on the same deals, in the same order.
    """

    base: Floats
    other: Floats
    shared: int


def chance_of(difference: float, error: float) -> float:
    """Return the two-sided p-value of a difference; nan where it has no error.

    >>> round(chance_of(19.6, 10.0), 3)
    0.05
    """
    return 2 * float(normal_below(-abs(difference) / error)) if error else math.nan


class Shown(NamedTuple):
    """A number as it is shown, with its 95 % interval and its standard error, None without one.

    The error is not that of the interval, which ends where the number cannot go on.
    """

    value: float
    low: float | None
    high: float | None
    error: float | None


def beyond_chance(shown: Sequence[Shown]) -> list[bool]:
    """Return which of some numbers are not 0 when all of them are looked at together.

    Corrected for their number at 5 %, after Benjamini and Hochberg 1995. None is that has 0 in
    its interval as it is shown.

    >>> beyond_chance([Shown(3, 1, 5, 1.0), Shown(2.1, 0.1, 4.1, 1.9), Shown(9, None, None, None)])
    [True, False, False]
    """
    chances = [math.nan if one.error is None else chance_of(one.value, one.error) for one in shown]
    return [
        bool(q < LEVEL) and excludes_zero(one.low, one.high)
        for q, one in zip(correct(np.array(chances)), shown, strict=True)
    ]


def excludes_zero(low: float | None, high: float | None) -> bool:
    """Return whether an interval leaves out 0, which one without an end does not.

    >>> excludes_zero(0.1, 3.0), excludes_zero(0.0, 3.0), excludes_zero(None, None)
    (True, False, False)
    """
    return low is not None and high is not None and (low > 0 or high < 0)


def change_of_mean(strata: Sequence[Values]) -> Change:
    """Return the change of a mean over pairings, each of which weighs the same.

    Where all deals are those of both runs, the error is that of `twins.lead_by_deal`.

    >>> import numpy as np
    >>> values = np.array(20 * [0.0, 0.5, 1.0])
    >>> apart = change_of_mean([Values(values, values, 0)])
    >>> paired = change_of_mean([Values(values, values, 60)])
    >>> round(apart.error, 2), round(paired.error, 2)
    (0.07, 0.02)
    """
    weight = 1 / len(strata)
    base, other = (weight * math.fsum(float(side.mean()) for side in two) for two in _sides(strata))
    error = weight * math.sqrt(math.fsum(map(_variance, strata)))
    difference = other - base
    low, high = (difference + side * Z95 * error for side in (-1, 1))
    return Change(base, other, difference, max(-1.0, low), min(1.0, high), error)


def _sides(strata: Sequence[Values]) -> tuple[list[Floats], list[Floats]]:
    return [values.base for values in strata], [values.other for values in strata]


def _variance(values: Values) -> float:
    """Return the variance of the difference of the means of one pairing.

    A pair of the base counts -value / n there, one of the other run value / n, and a deal of
    both the sum of the two. Each sort of pairs has one more, half of it as small as can be and
    half as large.
    """
    base, other, shared = values
    least, most = -1 / len(base), 1 / len(other)
    together = most * other[:shared] + least * base[:shared]
    return (
        _sum_variance(together, least, most)
        + _sum_variance(least * base[shared:], least, 0.0)
        + _sum_variance(most * other[shared:], 0.0, most)
    )


def _sum_variance(values: Floats, least: float, most: float) -> float:
    """Return the variance of the sum of independent values, with one more in their spread."""
    number = len(values)
    if not number:
        return 0.0
    total = float(values.sum()) + (least + most) / 2
    square = float((values**2).sum()) + (least**2 + most**2) / 2
    return number * (square / (number + 1) - (total / (number + 1)) ** 2)
