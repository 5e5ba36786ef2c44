"""Distributions: the logistic, the normal and Student's, of arrays.

They are here because scipy, which has them too, is 140 MB for whoever plays a tournament
(tests/statistics/test_distributions.py compares them).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

_LEAST_ODDS = -700.0  # e to 700 is a number
_NODES = 30  # of an integral: it is then as exact as a float
_CLOSE = 1e-12


def expit(odds: npt.ArrayLike) -> Floats:
    """Return the chances, 0 to 1, of these log odds.

    >>> expit([-np.inf, 0.0, np.log(3)]).round(3).tolist()
    [0.0, 0.5, 0.75]
    """
    return np.asarray(1 / (1 + np.exp(-np.maximum(odds, _LEAST_ODDS))))


def logit(chances: npt.ArrayLike) -> Floats:
    """Return the log odds of chances, which are neither 0 nor 1.

    >>> logit([0.5, 0.75]).round(3).tolist()
    [0.0, 1.099]
    """
    chance = np.asarray(chances, dtype=float)
    return np.asarray(np.log(chance / (1 - chance)))


def normal_below(values: npt.ArrayLike) -> Floats:
    """Return how likely a standard normal variable is below each value.

    >>> normal_below([-1.96, 0.0, np.nan]).round(3).tolist()
    [0.025, 0.5, nan]
    """
    scaled = np.asarray(values, dtype=float) / -math.sqrt(2)
    tails = map(math.erfc, scaled.ravel().tolist())  # 50 ns for each
    return np.fromiter(tails, float, scaled.size).reshape(scaled.shape) / 2


def student_bound(freedom: npt.ArrayLike, level: float = 0.975) -> Floats:
    """Return what Student's t with so many degrees of freedom is below with the chance `level`.

    With t = sqrt(freedom) tan(angle), the density of the angle is a power of its cosine, whose
    integral is taken by Gauss and Legendre's rule, and Newton's method finds the bound. `level`
    is above one half.

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
