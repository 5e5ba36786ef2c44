"""Make fixed points of a normal distribution, to find chances in many dimensions without luck."""

from __future__ import annotations

from functools import cache

import numpy as np

from arena.statistics.distributions import Floats
from arena.statistics.model import Numbers


@cache
def normal_points(count: int, dimensions: int) -> Floats:
    """Return so many points of the standard normal distribution (count, dimensions).

    They are those of a Kronecker lattice, moved by Box and Muller's rule, with the mean and the
    covariance of the distribution. Source: Niederreiter 1992 for the lattice.

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
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
        number += 1
    return found


def draw(count: int, covariance: Floats, means: Floats, order: Numbers) -> Floats:
    """Return points of a normal distribution (count, n) of which nothing is known along `means`.

    These are the means of groups, which it gets a variance of its own: differences within a group
    keep theirs. The points do not depend on how the places are numbered, but on their `order`. A
    Cholesky root is the only one of its kind, where eigenvectors could turn.
    """
    scale = float(np.trace(covariance)) / len(covariance) or 1.0
    whole = covariance + scale * means + 1e-12 * scale * np.eye(len(covariance))
    points = np.empty((count, len(covariance)))
    root = np.linalg.cholesky(whole[np.ix_(order, order)])
    points[:, order] = normal_points(count, len(covariance)) @ root.T
    return points
