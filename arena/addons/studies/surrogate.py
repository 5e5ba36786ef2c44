"""Estimate a score as a smooth function of parameters from noisy scores on common deals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import Final, NamedTuple

import numpy as np

from arena.statistics.distributions import Floats

KERNELS: Final = 192
"""The number of kernels drawn from the prior."""

_KEPT = 12  # of these, the likeliest ones
_HEIGHT = math.log(0.2), 0.5  # prior of the log amplitude, in scores from 0 to 1: median, deviation
_LENGTH = math.log(0.3), 0.5  # prior of the log length scale, in ranges, for one parameter
_LEVEL = 0.5  # prior standard deviation of the mean score about one half
_MISFIT = 1e-3  # standard deviation of deviations from a smooth function
_AHEAD = 3  # kernels from which future scores are drawn
_JITTER = 1e-8  # relative, added to variances so that a Cholesky root exists


class Kernel(NamedTuple):
    """The amplitude of a random function, and the length scale of each feature."""

    height: float
    lengths: Floats


class _Fitted(NamedTuple):
    """A kernel with its weight, and matrices that predictions use."""

    kernel: Kernel
    weight: float
    inverse: Floats
    weights: Floats


def draw_kernels(groups: Sequence[Sequence[int]], number: int = KERNELS) -> list[Kernel]:
    """Return kernels drawn from the prior, the same in each call.

    Each of `groups` are the features of one parameter, which share a length scale.
    """
    random = Random(20)
    longer = math.log(len(groups)) / 2
    kernels = []
    for _ in range(number):
        height = math.exp(random.gauss(*_HEIGHT))
        lengths = np.ones(sum(map(len, groups)))
        for group in groups:
            lengths[[*group]] = math.exp(random.gauss(*_LENGTH) + longer)
        kernels.append(Kernel(height, lengths))
    return kernels


class Surrogate:
    """The posterior of a function of points, given scores with a covariance of their errors.

    `points` are n x features, `scores` n and `covariance` n x n; `groups` are the features of
    each parameter.

    >>> points = np.linspace(0, 1, 9)[:, None]
    >>> scores = 0.5 - (points[:, 0] - 0.3) ** 2
    >>> fitted = Surrogate(points, scores, 1e-6 * np.eye(9), [[0]])
    >>> means, errors = fitted.predict(np.array([[0.3], [0.9]]))
    >>> means.round(2).tolist()
    [0.5, 0.14]
    """

    def __init__(
        self, points: Floats, scores: Floats, covariance: Floats, groups: Sequence[Sequence[int]]
    ) -> None:
        self.points = points
        centred = scores - 0.5
        noise = covariance + _MISFIT**2 * np.eye(len(scores))
        fits = []
        for kernel in draw_kernels(groups):
            whole = _covariance(kernel, points, points) + noise
            factor = np.linalg.cholesky(whole)
            half = np.linalg.solve(factor, centred)
            likelihood = -0.5 * float(half @ half) - float(np.log(np.diag(factor)).sum())
            fits.append((likelihood, kernel, whole))
        fits = sorted(fits, key=lambda fit: -fit[0])[:_KEPT]
        chances = [math.exp(likelihood - fits[0][0]) for likelihood, _, _ in fits]
        self._fitted = []
        for (_, kernel, whole), chance in zip(fits, chances, strict=True):
            inverse = np.asarray(np.linalg.inv(whole))
            self._fitted.append(_Fitted(kernel, chance / sum(chances), inverse, inverse @ centred))

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """Return the posterior mean of the function at some points, and its standard deviation."""
        mean, deviation = self._average(points, None)
        return mean + 0.5, deviation

    def compare(self, points: Floats, reference: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the function's rise from a reference point."""
        return self._average(points, reference[None])

    def _average(self, points: Floats, reference: Floats | None) -> tuple[Floats, Floats]:
        mean, square = np.zeros(len(points)), np.zeros(len(points))
        for kernel, weight, inverse, weights in self._fitted:
            across = _covariance(kernel, points, self.points)
            prior: Floats | float = kernel.height**2 + _LEVEL**2
            if reference is not None:
                across = across - _covariance(kernel, reference, self.points)
                prior = 2 * (prior - _covariance(kernel, points, reference)[:, 0])
            value = across @ weights
            spread = prior - ((across @ inverse) * across).sum(axis=1)
            mean += weight * value
            square += weight * (np.maximum(spread, 0) + value**2)
        return mean, np.sqrt(np.maximum(square - mean**2, 0))

    def draw(self, points: Floats, random: Random) -> Iterator[Floats]:
        """Yield the values at some points of functions drawn from the posterior."""
        prepared: dict[int, tuple[Floats, Floats]] = {}
        places, chances = range(len(self._fitted)), [fit.weight for fit in self._fitted]
        while True:
            (place,) = random.choices(places, chances)
            if place not in prepared:
                mean, spread = self._posterior(self._fitted[place], points)
                spread = spread + _JITTER * np.eye(len(points))
                prepared[place] = mean + 0.5, np.asarray(np.linalg.cholesky(spread))
            mean, root = prepared[place]
            yield mean + root @ np.array([random.gauss(0, 1) for _ in range(len(points))])

    def look_ahead(self, points: Floats, random: Random, futures: int) -> LookAhead:
        """Return the estimator of the gain by further scores of some of these points."""
        ahead = self._fitted[:_AHEAD]
        posteriors = [(fit.weight, *self._posterior(fit, points)) for fit in ahead]
        return LookAhead(posteriors, random, futures)

    def _posterior(self, fit: _Fitted, points: Floats) -> tuple[Floats, Floats]:
        """Return the mean minus one half and the covariance at some points."""
        across = _covariance(fit.kernel, points, self.points)
        spread = _covariance(fit.kernel, points, points) - across @ fit.inverse @ across.T
        return across @ fit.weights, spread


class LookAhead:
    """Estimates the knowledge gradient: how much further scores raise the best expected score.

    Source: Frazier, Powell and Dayanik 2009 (the knowledge gradient with correlated beliefs).
    """

    def __init__(
        self, posteriors: Sequence[tuple[float, Floats, Floats]], random: Random, futures: int
    ) -> None:
        self.posteriors = posteriors
        self.normals = np.array([[random.gauss(0, 1) for _ in range(futures)] for _ in range(16)])

    def gain(self, batch: Sequence[int], errors: Floats) -> float:
        """Return the gain by scores of a batch of points, given the covariance of their errors."""
        total = 0.0
        for weight, mean, spread in self.posteriors:
            seen = spread[np.ix_(batch, batch)] + errors + _MISFIT**2 * np.eye(len(batch))
            factor = np.linalg.cholesky(seen)
            moved = np.linalg.solve(factor, spread[batch]).T  # points x batch
            best = (mean[:, None] + moved @ self.normals[: len(batch)]).max(axis=0)
            total += weight * float(best.mean() - mean.max())
        return total


def _covariance(kernel: Kernel, points: Floats, others: Floats) -> Floats:
    """Return the prior covariance between points (a Matern 5/2 kernel and a constant)."""
    apart = (points[:, None, :] - others[None, :, :]) / kernel.lengths
    squares = 5 * (apart**2).sum(axis=2)
    roots = np.sqrt(squares)
    near = (1 + roots + squares / 3) * np.exp(-roots)
    return np.asarray(kernel.height**2 * near + _LEVEL**2)


_FLOORS: Final = np.linspace(0.0, 0.9, 19)
_LENGTHS: Final = np.geomspace(0.02, 2.0, 21)
_PRIOR: Final = 20  # deals' worth of trust in the variance of all settings, for that of one
_TRUST: Final = 100  # deals after which what was seen of one pair weighs as much as the rule
_LEAST_VARIANCE: Final = 1e-4


class Deals(NamedTuple):
    """The scores of a round, 0 to 1, settings x opponents x deals, and the settings as points.

    A deal that does not count is nan somewhere.
    """

    points: Floats
    scores: Floats

    def by_opponent(self) -> list[Floats]:
        """Return the deals that count, settings x deals for each opponent."""
        return [of_one[:, ~np.isnan(of_one).any(axis=0)] for of_one in self.scores.swapaxes(0, 1)]

    def means(self) -> Floats:
        """Return the mean score of each setting; each opponent weighs the same."""
        return np.asarray(np.mean([of_one.mean(axis=1) for of_one in self.by_opponent()], axis=0))


class _Rule(NamedTuple):
    """How correlation falls with distance, from 1 to a floor."""

    floor: float
    length: float

    def at(self, distances: Floats) -> Floats:
        return np.asarray(self.floor + (1 - self.floor) * np.exp(-distances / self.length))


class CommonLuck:
    """What the scores of all rounds say of their errors.

    >>> luck = np.random.default_rng(1).normal(size=(1, 1, 400))
    >>> both = Deals(np.array([[0.4], [0.4]]), np.repeat(luck, 2, axis=0))
    >>> (CommonLuck([both]).of_round(both) * 400).round(1).tolist()
    [[0.8, 0.8], [0.8, 0.8]]
    """

    def __init__(self, rounds: Sequence[Deals]) -> None:
        by_round = [one.by_opponent() for one in rounds]
        total = deals = 0.0
        for scores in (scores for of_one in by_round for scores in of_one):
            total += float(scores.var(axis=1).sum()) * scores.shape[1]
            deals += scores.size
        self.variance = max(total / max(1.0, deals), _LEAST_VARIANCE)
        self.rule = _fit(rounds, by_round)

    def of_round(self, one: Deals) -> Floats:
        """Return the covariance of the errors of the mean scores of a round."""
        expected = self.rule.at(_distances(one.points))
        of_each = [_pair_covariance(s, expected, self.variance) for s in one.by_opponent()]
        return np.asarray(np.sum(of_each, axis=0) / len(of_each) ** 2)

    def expect(self, points: Floats, deals: int) -> Floats:
        """Return the covariance that is expected at some points with this many deals."""
        return np.asarray(self.variance / deals * self.rule.at(_distances(points)))


def _pair_covariance(scores: Floats, expected: Floats, usual: float) -> Floats:
    """Return the covariance of the means of scores, settings x deals, of one opponent."""
    deals = scores.shape[1]
    spread = (deals * scores.var(axis=1) + _PRIOR * usual) / (deals + _PRIOR)
    share = deals / (deals + _TRUST)
    correlation = share * _correlate(scores, expected) + (1 - share) * expected
    roots = np.sqrt(spread)
    return np.asarray(correlation * np.outer(roots, roots) / max(1, deals))


def _correlate(scores: Floats, otherwise: Floats) -> Floats:
    """Return the correlations that were seen; `otherwise` stands where scores do not vary."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    roots = np.sqrt((centred**2).sum(axis=1))
    sizes = np.outer(roots, roots)
    return np.where(sizes > 0, centred @ centred.T / np.where(sizes > 0, sizes, 1), otherwise)


def _fit(rounds: Sequence[Deals], by_round: Sequence[Sequence[Floats]]) -> _Rule:
    """Return the rule that is nearest to the correlations of all pairs of all rounds."""
    parts = [np.zeros((3, 0))]
    for one, of_one in zip(rounds, by_round, strict=True):
        upper = np.triu_indices(len(one.points), 1)
        apart = _distances(one.points)[upper]
        for scores in of_one:
            found = _correlate(scores, np.full((len(scores),) * 2, np.nan))[upper]
            of_pairs = np.stack([apart, found, np.full_like(found, scores.shape[1])])
            parts.append(of_pairs[:, ~np.isnan(found)])
    x, y, w = np.concatenate(parts, axis=1)
    rules = [_Rule(float(floor), float(length)) for floor, length in product(_FLOORS, _LENGTHS)]
    return min(rules, key=lambda rule: float((w * (y - rule.at(x)) ** 2).sum()))


def _distances(points: Floats) -> Floats:
    return np.asarray(np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)))
