"""A Gaussian process that smooths the means of a recorded landscape.

Matérn 5/2 with a length for each parameter, and noise that is the same everywhere; all by greatest
likelihood. Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters
2 and 5.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import scipy

from arena.statistics.distributions import Floats

_BOUNDS: Final = {"length": (0.03, 10.0), "noise": (1e-4, 3.0)}


class Smooth(NamedTuple):
    """A fitted mean: `lengths` in the unit cube, `noise` the standard error of a mean alone."""

    places: Floats
    lengths: Floats
    level: float
    weights: Floats
    noise: float
    error: float  # the mean posterior standard error at the places

    def at(self, places: Floats) -> Floats:
        """Return the smoothed means at some places."""
        return np.asarray(self.level + _kernel(places, self.places, self.lengths) @ self.weights)


def smooth(places: Floats, means: Floats) -> Smooth:
    """Return the process of the greatest likelihood."""
    dims = places.shape[1]
    start = np.log(np.array([0.3] * dims + [0.1]))
    bounds = [tuple(np.log(_BOUNDS["length"]))] * dims + [tuple(np.log(_BOUNDS["noise"]))]
    found = scipy.optimize.minimize(_unlikely, start, (places, means), "L-BFGS-B", bounds=bounds)
    logs = np.asarray(found.x)
    lengths, ratio = np.exp(logs[:-1]), float(np.exp(logs[-1]))
    kernel = _kernel(places, places, lengths)
    factor = scipy.linalg.cho_factor(kernel + ratio**2 * np.eye(len(places)), lower=True)
    level, scale = _level_and_scale(factor, means)
    inner = np.einsum("ij,ji->i", kernel, scipy.linalg.cho_solve(factor, kernel))
    error = scale * float(np.sqrt(np.maximum(0, 1 - inner).mean()))
    return Smooth(
        places, lengths, level, scipy.linalg.cho_solve(factor, means - level), ratio * scale, error
    )


def _unlikely(logs: Floats, places: Floats, means: Floats) -> float:
    """Return the negative logarithm of the likelihood; level and scale are the best ones."""
    kernel = _kernel(places, places, np.exp(logs[:-1]))
    factor = scipy.linalg.cho_factor(
        kernel + np.exp(2 * logs[-1]) * np.eye(len(places)), lower=True
    )
    scale = _level_and_scale(factor, means)[1]
    return float(len(means) * np.log(scale) + np.log(np.diag(factor[0])).sum())


def _level_and_scale(factor: tuple[Floats, bool], means: Floats) -> tuple[float, float]:
    ones = np.ones(len(means))
    solved = scipy.linalg.cho_solve(factor, ones)
    level = float(solved @ means / (solved @ ones))
    rest = means - level
    return level, float(np.sqrt(rest @ scipy.linalg.cho_solve(factor, rest) / len(means)))


def _kernel(first: Floats, second: Floats, lengths: Floats) -> Floats:
    far = np.sqrt(5) * apart(first, second, lengths)
    return np.asarray((1 + far + far**2 / 3) * np.exp(-far))


def apart(first: Floats, second: Floats, lengths: Floats) -> Floats:
    """Return the distances of all places of two lists, each parameter in its own unit."""
    one, two = first / lengths, second / lengths
    squares = (one**2).sum(1)[:, None] + (two**2).sum(1)[None, :] - 2 * one @ two.T
    return np.asarray(np.sqrt(np.maximum(0.0, squares)))
