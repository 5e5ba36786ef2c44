"""Estimate how the errors of scores on common deals go together, by how alike the settings are.

Two settings that play the same deals share much of their luck: all of it where they are the same,
and some of it, always, because the deals are. So the correlation of their scores in a deal is taken
to fall with their distance from 1 to a floor. Few deals say little of one pair of settings, but all
pairs of all rounds together say what the floor is, and over which distance it is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from arena.statistics.distributions import Floats

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
        of_each = [_covariance(s, expected, self.variance) for s in one.by_opponent()]
        return np.asarray(np.sum(of_each, axis=0) / len(of_each) ** 2)

    def expect(self, points: Floats, deals: int) -> Floats:
        """Return the covariance that is expected of so many deals of some points."""
        return np.asarray(self.variance / deals * self.rule.at(_distances(points)))


def _covariance(scores: Floats, expected: Floats, usual: float) -> Floats:
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
