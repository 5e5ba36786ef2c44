"""Ratings: Elo by a Bradley-Terry fit, and intervals from pairs of games.

The pair (one deal played twice, seats swapped) is the statistical unit: its two games are
not independent. Every bot is credited with half a pair more, spread evenly over its opponents,
and half of it won and half of it lost, in the fit and in its error alike, so that an
undefeated bot has a finite rating, and a few pairs, however even, cannot look certain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from arena.statistics.model import Floats, Model, Numbers, least_variance, share_credit
from arena.statistics.model import PairScores as PairScores
from arena.statistics.root import find_root
from arena.statistics.scale import Scale, find_scale
from arena.statistics.spread import Spread, estimate_spread, is_equal, unequal_part

MEAN = 1500.0
Z95 = 1.959963984540054
ELO = 400 / math.log(10)
"""Elo points in one unit of log odds."""

_MOST_STRENGTH = 30.0  # in log odds: nobody is further from the mean
_NEAR = 1e-12


class Rating(NamedTuple):
    """An Elo rating with its 95 % interval.

    Of a bot that nobody has beaten `high` is infinite, and `low` of one that has beaten nobody; the
    rating itself is then what half a pair of credit makes of it.
    """

    elo: float
    low: float
    high: float

    @property
    def cells(self) -> tuple[float, float | None, float | None]:
        """The rating and its ends, None for an infinite one."""
        low, high = (end if math.isfinite(end) else None for end in self[1:])
        return self.elo, low, high


class Fit:
    """The likeliest strengths of some bots, in log odds, and their covariance.

    Bots that no chain of games connects are in different groups, each of mean 0.

    With `even` every pairing weighs the same, however many pairs it has: so the strengths are those
    of an equal round robin, also where the games of two bots are not what their Elo says. Where
    pairings weigh otherwise, or not all bots met, the spread of the results about the Elo is a part
    of the error (`spread`).
    """

    def __init__(self, bots: int, scores: Sequence[PairScores], *, even: bool = False) -> None:
        factors = even_factors(scores) if even else None
        self.scores = scores
        self.model = Model(bots, scores, share_credit(bots, scores), factors)
        self.strengths: Floats = self.model.fit()

    @property
    def groups(self) -> Numbers:
        """The number of each bot's group."""
        return self.model.groups

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the strengths, about the mean of each group, by the luck of pairs."""
        return self.model.covariance(self.strengths)

    @cached_property
    def spread(self) -> Spread:
        """By how much results differ from what the strengths say, beyond luck."""
        return estimate_spread(self.model, self.strengths)

    @cached_property
    def full_covariance(self) -> Floats:
        """The covariance with what an equal round robin of all would say otherwise."""
        if is_equal(self.model):
            return self.covariance
        lack = unequal_part(self.model, self.strengths)
        return np.asarray(self.covariance + self.spread.variance * lack)

    @cached_property
    def gap_errors(self) -> Floats:
        """The error of the gap between every two bots by luck, nan where no games lead."""
        return self._errors_of_gaps(self.covariance)

    @cached_property
    def full_errors(self) -> Floats:
        """The same with what an equal round robin of all would say otherwise."""
        return self._errors_of_gaps(self.full_covariance)

    def _errors_of_gaps(self, covariance: Floats) -> Floats:
        own = np.diag(covariance)
        squares = own[:, None] + own[None, :] - 2 * covariance
        errors = np.sqrt(np.clip(squares, 0, None))
        return np.where(self.groups[:, None] == self.groups[None, :], errors, np.nan)

    def ratings(self, anchor: tuple[int, float] | None = None) -> list[Rating]:
        """Return the rating of every bot; each group has the mean 1500, or that of the anchor.

        The anchor is a bot's number and its Elo. Bots that are unbeaten or winless do not count
        for the mean (`arena.statistics.scale`).
        The interval of a rating is that of its difference to the mean. In the anchor's group it
        is that of the difference to the anchor, which itself has no error.
        """
        scale = self.scale(anchor[0] if anchor else None)
        zero = np.full(len(self.strengths), MEAN)
        if anchor:
            zero[self.groups == self.groups[anchor[0]]] = anchor[1]
        elo = zero + ELO * scale.move(self.strengths)
        half = Z95 * ELO * np.sqrt(np.clip(scale.variances(self.full_covariance), 0, None))
        low = np.where(scale.no_low, -np.inf, elo - half)
        high = np.where(scale.no_high, np.inf, elo + half)
        columns = (elo.tolist(), low.tolist(), high.tolist())
        return list(map(Rating._make, zip(*columns, strict=True)))

    def scale(self, anchor: int | None = None) -> Scale:
        """Return what the ratings are counted from; `anchor` is a bot's number."""
        return find_scale(self.scores, self.groups, self.gap_errors, anchor)


def even_factors(scores: Sequence[PairScores]) -> Floats:
    """Return how often a pair of each pairing counts, so that all pairings weigh the same.

    >>> even_factors([PairScores(0, 1, 30, 30.0, 45.0), PairScores(0, 2, 10, 9.0, 15.0)]).tolist()
    [0.6666666666666666, 2.0]
    """
    pairs = np.array([score.pairs for score in scores], dtype=float)
    return np.asarray(pairs.mean() / pairs) if len(pairs) else pairs


def fit(
    bots: int, scores: Sequence[PairScores], anchor: tuple[int, float] | None = None
) -> list[Rating]:
    """Return the rating of every bot, on a scale of mean 1500 or with an anchor.

    Sources: Bradley and Terry 1952; for the error, Liang and Zeger 1986.

    >>> [round(rating.elo) for rating in fit(2, [PairScores(0, 1, 999, 1499.0, 2500.0)])]
    [1595, 1405]
    """
    return Fit(bots, scores).ratings(anchor)


def fit_one(anchors: Sequence[float], scores: Sequence[PairScores], spread: float = 0.0) -> Rating:
    """Return the rating of one bot by its games against others, whose ratings stay as they are.

    `anchors` are the others' Elo ratings; in `scores` the bot's number is `len(anchors)`. It is
    credited with one pair, spread evenly over its opponents. `spread` is by how many Elo points
    results differ from the Elo: few opponents do not say what others would.

    >>> round(fit_one([1405], [PairScores(1, 0, 999, 1499.0, 2500.0)]).elo)
    1596
    """
    model = Model(len(anchors) + 1, scores, np.full(len(scores), 1 / max(1, len(scores))))
    strengths = (np.array([*anchors, MEAN]) - MEAN) / ELO

    def at(strength: float) -> Floats:
        strengths[-1] = strength
        return strengths

    def slope(strength: float) -> float:
        return float(model.gradient(at(strength))[-1])

    best = find_root(slope, -_MOST_STRENGTH, _MOST_STRENGTH, _NEAR)
    weights = model.weights(at(best))
    luck = max(0.0, float(model.spreads(strengths).sum()))
    beyond = (spread / ELO) ** 2 * float((weights**2).sum())
    error = Z95 * math.sqrt(luck + beyond) / float(weights.sum())
    return Rating(*(MEAN + ELO * (best + side * error) for side in (0, -1, 1)))


def score_interval(pairs: int, total: float, squares: float) -> tuple[float, float]:
    """Return the 95 % interval of a mean score per game (0..1), from the scores of pairs.

    Wilson's interval with the number of games that would give the variance seen between
    pairs; one pair of full variance is added, so that few pairs cannot look certain, and the
    variance is at least that which pairs of the mean must have.
    Sources: Wilson 1927; Kish 1965 for the design effect.

    >>> low, high = score_interval(100, 100.0, 150.0)
    >>> round(low, 3), round(high, 3)
    (0.431, 0.569)
    """
    low, high = score_intervals(*(np.array([float(value)]) for value in (pairs, total, squares)))
    return float(low[0]), float(high[0])


def score_intervals(pairs: Floats, total: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper bounds of `score_interval` for many pairings."""
    mean = total / (2 * pairs)
    prior = (total / 2 + 0.5) / (pairs + 1)
    full = prior * (1 - prior)
    between = np.maximum(0.0, squares / 4 - pairs * mean**2)
    effect = np.maximum(between + full, pairs * least_variance(prior)) / (pairs * full)
    games = pairs / effect
    centre = (mean + Z95**2 / (2 * games)) / (1 + Z95**2 / games)
    half = Z95 * np.sqrt(mean * (1 - mean) / games + (Z95 / (2 * games)) ** 2)
    half /= 1 + Z95**2 / games
    return np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)
