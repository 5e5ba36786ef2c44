"""Ratings: Elo by a Bradley-Terry fit, and intervals from pairs of games.

The pair (one deal played twice, seats swapped) is the statistical unit: its two games are
not independent. Every pairing that was played is credited with one pair more, half of it won
and half of it lost, in the fit and in its error alike, so that an undefeated bot has a finite
rating, and a few pairs, however even, cannot look certain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq, minimize
from scipy.special import expit

Floats: TypeAlias = npt.NDArray[np.float64]

MEAN = 1500.0
Z95 = 1.959963984540054
ELO = 400 / math.log(10)  # Elo points in one unit of log odds
_MOST_STRENGTH = 30.0  # in log odds: nobody is further from the mean


class PairScores(NamedTuple):
    """How one pairing went, in pairs: the first bot's score in a pair is 0, 1/2, 1, 3/2 or 2.

    `total` and `squares` are the sums of the scores and of their squares over `pairs` pairs.
    """

    bot: int
    opponent: int
    pairs: int
    total: float
    squares: float


class Rating(NamedTuple):
    """An Elo rating with its 95 % interval."""

    elo: float
    low: float
    high: float


class Estimate(NamedTuple):
    """The fit in log odds: strengths of mean 0, and the covariance of their errors.

    `covariance` is the sandwich, a pair of games being a cluster; `single` is what it would be
    if the two games of a pair were independent.
    """

    strengths: Floats
    covariance: Floats
    single: Floats


class _Model:
    """The Bradley-Terry model of the pairs: bots have strengths, in log odds."""

    def __init__(self, bots: int, scores: Sequence[PairScores]) -> None:
        rows = np.arange(len(scores))
        self.contrast = np.zeros((len(scores), bots))
        self.contrast[rows, [score.bot for score in scores]] = 1.0
        self.contrast[rows, [score.opponent for score in scores]] = -1.0
        # half a pair won 2 : 0 and half a pair lost 0 : 2 for each pairing
        self.pairs = np.array([score.pairs + 1.0 for score in scores])
        self.total = np.array([score.total + 1.0 for score in scores])
        self.squares = np.array([score.squares + 2.0 for score in scores])

    def loss(self, strengths: Floats) -> float:
        gap = self.contrast @ strengths
        return float(np.sum(2 * self.pairs * np.logaddexp(0, gap) - self.total * gap))

    def gradient(self, strengths: Floats) -> Floats:
        share = expit(self.contrast @ strengths)
        return np.asarray(self.contrast.T @ (2 * self.pairs * share - self.total))

    def hessian(self, strengths: Floats) -> Floats:
        share = expit(self.contrast @ strengths)
        return self._weighted(2 * self.pairs * share * (1 - share))

    def spread(self, strengths: Floats) -> Floats:
        """Return the covariance of the gradient, from the squares of pairs."""
        share = expit(self.contrast @ strengths)
        spread = self.squares - 4 * share * self.total + 4 * share**2 * self.pairs
        return self._weighted(spread)

    def _weighted(self, weights: Floats) -> Floats:
        return np.asarray(self.contrast.T @ (self.contrast * weights[:, None]))


def fit(bots: int, scores: Sequence[PairScores]) -> list[Rating]:
    """Return the rating of every bot, on a scale of mean 1500.

    Sources: Bradley and Terry 1952; for the error, Liang and Zeger 1986.

    >>> [round(rating.elo) for rating in fit(2, [PairScores(0, 1, 999, 1499.0, 2500.0)])]
    [1595, 1405]
    """
    strengths, covariance, _ = estimate(bots, scores)
    errors = Z95 * np.sqrt(np.clip(np.diag(covariance), 0, None))
    return [
        Rating(MEAN + ELO * s, MEAN + ELO * (s - e), MEAN + ELO * (s + e))
        for s, e in zip(strengths.tolist(), errors.tolist(), strict=True)
    ]


def estimate(bots: int, scores: Sequence[PairScores]) -> Estimate:
    """Return the strengths of the bots, and how sure they are.

    >>> estimate(2, [PairScores(0, 1, 999, 1499.0, 2500.0)]).strengths.round(2).tolist()
    [0.55, -0.55]
    """
    model = _Model(bots, scores)
    best = minimize(
        model.loss,
        np.zeros(bots),
        jac=model.gradient,
        hess=model.hessian,
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    strengths = best.x - best.x.mean()
    single = np.linalg.pinv(model.hessian(strengths))
    covariance = single @ model.spread(strengths) @ single
    return Estimate(strengths, np.asarray(covariance), np.asarray(single))


def fit_one(anchors: Sequence[float], scores: Sequence[PairScores]) -> Rating:
    """Return the rating of one bot by its games against others, whose ratings stay as they are.

    `anchors` are the others' Elo ratings; in `scores` the bot's number is `len(anchors)`.

    >>> round(fit_one([1405], [PairScores(1, 0, 999, 1499.0, 2500.0)]).elo)
    1596
    """
    model = _Model(len(anchors) + 1, scores)
    strengths = (np.array([*anchors, MEAN]) - MEAN) / ELO

    def at(strength: float) -> Floats:
        strengths[-1] = strength
        return strengths

    def slope(strength: float) -> float:
        return float(model.gradient(at(strength))[-1])

    best = brentq(slope, -_MOST_STRENGTH, _MOST_STRENGTH)
    bend = float(model.hessian(at(best))[-1, -1])
    error = Z95 * math.sqrt(max(0.0, float(model.spread(strengths)[-1, -1]))) / bend
    return Rating(*(MEAN + ELO * (best + side * error) for side in (0, -1, 1)))


def score_interval(pairs: int, total: float, squares: float) -> tuple[float, float]:
    """Return the 95 % interval of a mean score per game (0..1), from the scores of pairs.

    Wilson's interval with the number of games that would give the variance seen between
    pairs; one pair of full variance is added, so that few pairs cannot look certain.
    Sources: Wilson 1927; Kish 1965 for the design effect.

    >>> low, high = score_interval(100, 100.0, 150.0)
    >>> round(low, 3), round(high, 3)
    (0.431, 0.569)
    """
    mean = total / (2 * pairs)
    prior = (total / 2 + 0.5) / (pairs + 1)
    full = prior * (1 - prior)
    between = squares / 4 - pairs * mean**2
    effect = (max(0.0, between) + full) / (pairs * full)
    games = pairs / effect
    centre = (mean + Z95**2 / (2 * games)) / (1 + Z95**2 / games)
    half = Z95 * math.sqrt(mean * (1 - mean) / games + (Z95 / (2 * games)) ** 2)
    half /= 1 + Z95**2 / games
    return max(0.0, centre - half), min(1.0, centre + half)
