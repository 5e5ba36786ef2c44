"""A landscape that is a model of real pairs: a smooth mean, and luck that settings share by deal.

The mean is a Gaussian process through the recorded settings. The two games of a pair are won where
two hidden fields over the settings are low enough: so near settings mostly win the same games. How
fast the fields change is fitted to the products of what settings scored on the same deals.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import scipy

from arena.statistics.distributions import Floats
from arena.statistics.sprt import elo_of
from bench.studies.families import SEED, Recorded, smooth_recorded
from bench.studies.smoothing import Smooth, apart

_LEAST: Final = 0.02  # share of the score: no setting is worse, or better than 1 less this
_SAMPLE: Final = 400_000  # pairs of settings on the same deal, for the luck
_TRIED: Final = 1 << 15  # places where the search for the best begins


class Luck(NamedTuple):
    """How the hidden fields of two settings correlate: `floor` far apart, more when near.

    `pair` is the correlation of the fields of the two games of one deal.
    """

    pair: float
    floor: float
    lengths: Floats

    def fields(self, first: Floats, second: Floats) -> Floats:
        """Return the correlations of the fields at all places of two lists."""
        far = apart(first, second, self.lengths)
        return np.asarray(self.floor + (1 - self.floor) * (1 + far) * np.exp(-far))

    def scores(self, fields: Floats) -> Floats:
        """Return the correlations of the scores of pairs, for settings that win half of them."""
        both = np.arcsin(fields) + np.arcsin(self.pair * fields)
        return np.asarray(both / (np.pi / 2 + np.arcsin(self.pair)))


class Surface:
    """A model of a landscape in the unit cube."""

    def __init__(self, name: str, mean: Smooth, luck: Luck) -> None:
        self.name = name
        self.mean = mean
        self.luck = luck
        self.dims = mean.places.shape[1]
        self.steps = (0,) * self.dims
        self.best = self._find_best()
        self._top = elo_of(float(self.shares(self.best[None, :])[0]))

    @classmethod
    def fit(cls, name: str, found: Recorded) -> Surface:
        """Return the model of what was recorded."""
        mean = smooth_recorded(found)
        return cls(name, mean, _fit_luck(found, mean))

    def shares(self, settings: Floats) -> Floats:
        """Return the shares of the score that settings have in the long run."""
        return np.clip(self.mean.at(np.clip(settings, 0, 1)), _LEAST, 1 - _LEAST)

    def play(self, settings: Floats, deals: int, rng: np.random.Generator) -> Floats:
        """Return the scores of pairs per game, a row for each setting."""
        distinct, back = np.unique(
            np.clip(np.atleast_2d(settings), 0, 1), axis=0, return_inverse=True
        )
        fields = self.luck.fields(distinct, distinct)
        root = np.linalg.cholesky(fields + 1e-6 * np.eye(len(distinct)))
        first = root @ rng.standard_normal((len(distinct), deals))
        second = root @ rng.standard_normal((len(distinct), deals))
        second = self.luck.pair * first + np.sqrt(1 - self.luck.pair**2) * second
        limit = scipy.special.ndtri(self.shares(distinct))[:, None]
        scores = ((first < limit) + 1.0 * (second < limit)) / 2
        return np.asarray(scores[back.ravel()])

    def regret(self, setting: Floats) -> float:
        """Return the Elo points by which a setting is below the best."""
        return max(0.0, self._top - elo_of(float(self.shares(np.atleast_2d(setting))[0])))

    def _find_best(self) -> Floats:
        tried = np.random.default_rng(SEED).random((_TRIED, self.dims))
        starts = tried[np.argsort(-self.mean.at(tried))[:20]]
        box = [(0.0, 1.0)] * self.dims
        ends = [
            scipy.optimize.minimize(self._below, start, method="L-BFGS-B", bounds=box)
            for start in starts
        ]
        return np.asarray(min(ends, key=lambda end: float(end.fun)).x)

    def _below(self, place: Floats) -> float:
        return -float(self.mean.at(place[None, :])[0])


def _fit_luck(found: Recorded, mean: Smooth) -> Luck:
    """Return the luck whose correlations are nearest to the products of what pairs scored."""
    rng = np.random.default_rng(SEED)
    shares = np.clip(mean.at(found.places), _LEAST, 1 - _LEAST)
    even = shares * (1 - shares)
    expected = shares[found.numbers]
    rest = (found.quarters / 4 - expected) / np.sqrt(even[found.numbers] / 2)
    within = float(np.clip((rest**2).mean() - 1, -0.9, 0.9))  # of the two games of a deal
    rest /= np.sqrt((rest**2).mean())
    deal = rng.integers(len(rest), size=_SAMPLE)
    one, two = rng.integers(rest.shape[1], size=(2, _SAMPLE))
    apart_only = one != two
    deal, one, two = deal[apart_only], one[apart_only], two[apart_only]
    product = rest[deal, one] * rest[deal, two]
    first = found.places[found.numbers[deal, one]]
    second = found.places[found.numbers[deal, two]]
    squares = (first - second) ** 2

    def luck(logs: Floats) -> Luck:
        return Luck(float(np.sin(np.pi / 2 * within)), float(logs[-1]), np.exp(logs[:-1]))

    def misfit(logs: Floats) -> float:
        one = luck(logs)
        far = np.sqrt(squares @ one.lengths**-2.0)
        fields = one.floor + (1 - one.floor) * (1 + far) * np.exp(-far)
        return float(((product - one.scores(fields)) ** 2).mean())

    dims = found.places.shape[1]
    start = np.append(np.log(np.full(dims, 0.3)), 0.3)
    bounds = [(np.log(0.02), np.log(20.0))] * dims + [(0.0, 0.9)]
    return luck(
        np.asarray(scipy.optimize.minimize(misfit, start, method="L-BFGS-B", bounds=bounds).x)
    )
