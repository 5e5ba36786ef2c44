"""A quadratic response surface around the best, and Thompson sampling from it.

Source: Box and Wilson 1951 for the surface; Russo and others, A Tutorial on Thompson Sampling,
2018.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from arena.statistics.distributions import Floats
from bench.studies.landscapes import Landscape
from bench.studies.searches.space import nearest, spread

_ROUNDS: Final = 16
_WIDTH: Final = 0.15
_SHRINK: Final = 0.94
_TOGETHER: Final = 8  # settings that play the same deals
_FIRST: Final = 0.25  # share of the budget for settings that fill the space
_TRIED: Final = 500
_PRIOR: Final = 30.0  # standard deviation of a coefficient, in shares of the score


class _Seen:
    """Mean scores of settings, less the mean of those that played the same deals."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.places = np.empty((0, dims))
        self.means = np.empty(0)
        self.blocks = np.empty(0, dtype=np.intp)
        self.noise = np.empty(0)

    def add(self, places: Floats, scores: Floats) -> None:
        """Add what some settings scored on the same deals."""
        block = 1 + (self.blocks[-1] if len(self.blocks) else -1)
        rest = scores - scores.mean(0)
        self.places = np.vstack([self.places, places])
        self.means = np.append(self.means, scores.mean(1))
        self.blocks = np.append(self.blocks, np.full(len(places), block))
        error = rest.var() / scores.shape[1] + 1e-6
        self.noise = np.append(self.noise, np.full(len(places), error))

    def fit(self, centre: Floats, width: float) -> tuple[Floats, Floats]:
        """Return the mean and a root of the covariance of the coefficients near a centre."""
        near = np.exp(-0.5 * (((self.places - centre) / width) ** 2).sum(1) / self.dims)
        kinds = np.eye(self.blocks[-1] + 1)[self.blocks]
        table = np.hstack([_terms(self.places - centre), kinds])
        weight = near / self.noise
        precision = (table.T * weight) @ table + np.eye(table.shape[1]) / _PRIOR**2
        root = np.linalg.inv(np.linalg.cholesky(precision)).T
        return root @ (root.T @ (table.T @ (weight * self.means))), root


def sample(landscape: Landscape, budget: int, rng: np.random.Generator) -> Floats:
    """Play the best settings of surfaces drawn from the posterior; recommend the mean's best."""
    seen = _Seen(landscape.dims)
    first = spread(landscape, {1: 16, 2: 32, 4: 64, 6: 128}[landscape.dims], rng)
    scores = landscape.play(first, max(2, int(_FIRST * budget / len(first))), rng)
    seen.add(first, scores)
    centre = first[scores.mean(1).argmax()]
    deals = max(2, int((1 - _FIRST) * budget / _ROUNDS / _TOGETHER))
    for number in range(_ROUNDS):
        width = _WIDTH * _SHRINK**number
        mean, root = seen.fit(centre, width)
        tried = _around(landscape, centre, width, rng)
        terms = _terms(tried - centre)
        drawn = mean[:, None] + root @ rng.standard_normal((len(mean), _TOGETHER))
        places = tried[(terms @ drawn[: terms.shape[1]]).argmax(0)]
        seen.add(places, landscape.play(places, deals, rng))
        mean, _ = seen.fit(centre, width)
        centre = tried[(terms @ mean[: terms.shape[1]]).argmax()]
    return np.asarray(centre)


def _around(landscape: Landscape, centre: Floats, width: float, rng: np.random.Generator) -> Floats:
    drawn = centre + rng.normal(0, width, (_TRIED, landscape.dims))
    return nearest(landscape, np.vstack([centre[None, :], drawn]))


def _terms(places: Floats) -> Floats:
    """Return the linear and the quadratic terms, a row for each place."""
    one, two = np.triu_indices(places.shape[1])
    return np.hstack([places, places[:, one] * places[:, two]])
