"""Compute logistic, normal and Student distributions, draw points, find roots, without scipy.

scipy has all of them, but would add 140 MB to what a tournament needs
(tests/statistics/test_distributions.py compares them).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import count as numbers
from itertools import islice
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

ELO = 400 / math.log(10)
"""Elo points in one unit of log odds."""

_LEAST_ODDS = -700.0  # exp(700) does not overflow
_NODES = 30  # of the quadrature: the error is then below a float's precision
_CLOSE = 1e-12
_FAR = 60.0  # a logarithm


def expit(odds: npt.ArrayLike) -> Floats:
    """Return the probabilities, 0 to 1, of these log odds.

    >>> expit([-np.inf, 0.0, np.log(3)]).round(3).tolist()
    [0.0, 0.5, 0.75]
    """
    return np.asarray(1 / (1 + np.exp(-np.maximum(odds, _LEAST_ODDS))))


def normal_below(values: npt.ArrayLike) -> Floats:
    """Return the standard normal distribution function at each value.

    >>> normal_below([-1.96, 0.0, np.nan]).round(3).tolist()
    [0.025, 0.5, nan]
    """
    scaled = np.asarray(values, dtype=float) / -math.sqrt(2)
    tails = map(math.erfc, scaled.ravel().tolist())  # 50 ns for each
    return np.fromiter(tails, float, scaled.size).reshape(scaled.shape) / 2


@cache
def normal_points(count: int, dimensions: int) -> Floats:
    """Return this many points of the standard normal distribution (count, dimensions).

    They are a Kronecker lattice under the Box-Muller transform, corrected to mean 0 and unit
    covariance. Source: Niederreiter 1992 for the lattice.

    >>> points = normal_points(4096, 5)
    >>> np.allclose(points.mean(axis=0), 0), np.allclose(points.T @ points / 4096, np.eye(5))
    (True, True)
    """
    primes = _primes(dimensions + dimensions % 2)
    uniform = (np.outer(np.arange(1, count + 1), np.sqrt(primes)) + 0.5) % 1
    size = np.sqrt(-2 * np.log(1 - np.minimum(uniform[:, ::2], 1 - 1e-12)))
    turn = 2 * np.pi * uniform[:, 1::2]
    points = np.hstack([size * np.cos(turn), size * np.sin(turn)])[:, :dimensions]
    points -= points.mean(axis=0)
    root = np.linalg.cholesky(points.T @ points / count)
    return np.linalg.solve(root, points.T).T


def _primes(count: int) -> list[int]:
    primes = (n for n in numbers(2) if all(n % one for one in range(2, math.isqrt(n) + 1)))
    return [*islice(primes, count)]


def draw(count: int, covariance: Floats, means: Floats, order: npt.NDArray[np.int64]) -> Floats:
    """Return points (count, n) of a normal distribution that is degenerate along `means`.

    `means` projects on the means of groups. These get a variance of their own, which does not
    change the differences within a group. The points depend on the `order` of the bots, not on
    their numbers. The Cholesky root is unique, whereas eigenvectors are not.
    """
    scale = float(np.trace(covariance)) / len(covariance) or 1.0
    whole = covariance + scale * means + 1e-12 * scale * np.eye(len(covariance))
    points = np.empty((count, len(covariance)))
    root = np.linalg.cholesky(whole[np.ix_(order, order)])
    points[:, order] = normal_points(count, len(covariance)) @ root.T
    return points


def student_bound(freedom: npt.ArrayLike, level: float = 0.975) -> Floats:
    """Return the quantile of Student's t at `level`, for each number of degrees of freedom.

    With t = sqrt(freedom) tan(angle), the density of the angle is a power of its cosine. It is
    integrated by Gauss-Legendre quadrature, and Newton's method finds the quantile. `level` is
    above one half.

    >>> student_bound([1, 10, 10**9]).round(3).tolist()
    [12.706, 2.228, 1.96]
    """
    distinct, places = np.unique(np.asarray(freedom, dtype=float), return_inverse=True)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    logs = [math.lgamma((one + 1) / 2) - math.lgamma(one / 2) for one in distinct.tolist()]
    density = np.exp(logs) / math.sqrt(math.pi)  # at the angle 0
    angle = (level - 0.5) / density  # too small: the density is largest there
    for _ in range(_NODES):
        halves = angle[:, None] / 2 * (nodes + 1)
        above = density * angle / 2 * (np.cos(halves) ** (distinct[:, None] - 1) @ weights)
        step = (level - 0.5 - above) / (density * np.cos(angle) ** (distinct - 1))
        angle += step
        if np.all(np.abs(step) < _CLOSE * angle):
            break
    bounds = np.sqrt(distinct) * np.tan(angle)
    return np.asarray(bounds[places].reshape(np.shape(freedom)))


def quantile(values: Floats, share: float) -> float:
    """Return the number of np.quantile, which imports numpy.ma: 30 ms of a short command."""
    place = share * (len(values) - 1)
    below, above = math.floor(place), math.ceil(place)
    ordered = np.partition(values, (below, above))
    low, high, part = ordered[below], ordered[above], place - below
    return float(high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part)


def fair_binomial(trials: int) -> Floats:
    """Return the binomial probabilities of 0, 1, ... successes, which are as likely as not.

    >>> fair_binomial(2).round(3).tolist()
    [0.25, 0.5, 0.25]
    """
    logs = np.append(0.0, np.cumsum(np.log(np.arange(1, trials + 1))))
    return np.asarray(np.exp(logs[-1] - logs - logs[::-1] - trials * math.log(2)))


def limit(shares: Floats, most: Floats) -> Floats:
    """Return shares of a whole, none of which is above its limit: the others grow in proportion.

    >>> limit(np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.4, 0.4])).round(3).tolist()
    [0.5, 0.375, 0.125]
    """
    if (shares <= most).all():
        return shares
    if most.sum() <= 1:
        return np.asarray(most / most.sum())

    def excess(growth: float) -> float:
        return float(np.minimum(most, math.exp(growth) * (shares + _CLOSE)).sum()) - 1

    return np.minimum(most, math.exp(find_root(excess, -1.0, _FAR, _CLOSE)) * (shares + _CLOSE))


_MOST_STEPS = 200  # bisection needs about 60


def find_root(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """Return a root of a continuous function to a tolerance above 0.

    The values at `low` and `high` have different signs, or are 0. Each step uses inverse quadratic
    interpolation through the last three points if that is safe, and otherwise bisection. Source:
    Chandrupatla 1997.

    >>> round(find_root(lambda x: x**2 - 2, 0.0, 2.0, 1e-9), 6)
    1.414214
    """
    before, last = low, high
    at_before, at_last = function(before), function(last)
    if at_before == 0 or at_last == 0:
        return before if at_before == 0 else last
    part = 0.5  # of the way from the last point to the one before
    for _ in range(_MOST_STEPS):
        place = last + part * (before - last)
        at_place = function(place)
        if (at_place > 0) == (at_last > 0):
            third, at_third = last, at_last
        else:
            third, at_third = before, at_before
            before, at_before = last, at_last
        last, at_last = place, at_place
        width = abs(before - last)
        if at_last == 0 or width <= 2 * tolerance:
            break
        part = _part((last, before, third), (at_last, at_before, at_third))
        part = min(1 - tolerance / width, max(tolerance / width, part))
    return last if abs(at_last) < abs(at_before) else before


def _part(places: tuple[float, float, float], values: tuple[float, float, float]) -> float:
    """Return the part of the way from the first point to the second for the next step."""
    (a, b, c), (fa, fb, fc) = places, values
    where, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if height**2 < where and (1 - height) ** 2 < 1 - where:
        return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5
