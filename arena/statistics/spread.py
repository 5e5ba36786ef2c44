"""Estimate the spread: the standard deviation of pairings about the scores expected by Elo.

One number for each bot cannot describe the results of every pairing. In this random-effects model
each pairing deviates from its two strengths by a normal variable, with the same standard deviation
for all. It is estimated by restricted maximum likelihood from the residuals of the pairings, beyond
the luck of their pairs. With few pairings it is shrunk towards the upper end of the ladder's
spread, which is the estimate without any degree of freedom.

Sources: Patterson and Thompson 1971 for the restricted likelihood; DerSimonian and Laird 1986 for
random effects of studies, which are the pairings here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arena.statistics.distributions import ELO, Floats, expit
from arena.statistics.intervals import Estimate
from arena.statistics.model import Model, invert, make_laplacian

LADDER_SPREAD = Estimate(20.0, 0.0, 34.0)
"""The spread of the pairings of the ladder, in Elo points.

It is the standard deviation, with its 95 % interval. `python -m bench.ladder FOLDER` writes it from
a run of `configs/ladder.yaml`; a test finds the same from the counts of its pairs
(`bench/ladder.csv`).
"""

_SCALE = LADDER_SPREAD.high  # of the prior: other bots may deviate more than the ladder's
_GRID = np.linspace(0.0, 190.0, 51)
_MANY, _COARSE = 40, 5  # with more bots, every fifth point of the grid is enough at first
_LEAST_FREEDOM = 3
_LEAST = 1e-9  # information about a mean
_LITTLE, _MUCH = 0.15, 1.5  # of the scale: the interval of the prior is 0.03 to 2.2 of it


class Spread(NamedTuple):
    """The spread, in Elo points, with its 95 % interval.

    `variance` is its expected square, in log odds, and `thirds` are the expected squares in the
    lower, middle and upper third of its posterior. `freedom` is the number of pairings beyond those
    that the ratings need: with 0 nothing was measured.
    """

    elo: float
    low: float
    high: float
    variance: float
    freedom: int
    thirds: tuple[float, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether there are enough pairings and pairs to estimate it."""
        is_told = self.low > _LITTLE * _SCALE or self.high < _MUCH * _SCALE
        return self.freedom >= _LEAST_FREEDOM and is_told


def estimate_spread(model: Model, strengths: Floats, scale: float = _SCALE) -> Spread:
    """Return the spread of the pairings about their strengths; `scale` is that of the prior.

    >>> from arena.statistics.model import PairScores
    >>> even = [PairScores(a, b, 500, 500.0, 750.0) for a, b in ((0, 1), (0, 2), (1, 2))]
    >>> model = Model(3, even, np.zeros(3))
    >>> spread = estimate_spread(model, model.fit())
    >>> spread.elo < 40, spread.freedom
    (True, 1)
    """
    grid = _GRID
    if model.bots > _MANY:  # many bots determine it well, and each value takes long
        coarse = _GRID[::_COARSE]
        best = float(coarse[_log_likelihoods(model, strengths, coarse, scale).argmax()])
        grid = _GRID[np.abs(_GRID - best) <= _COARSE * _GRID[1]]
    logs = _log_likelihoods(model, strengths, grid, scale)
    posterior = np.exp(logs - logs.max())
    posterior[grid == 0] /= 2  # the end of the grid has half a cell
    posterior /= posterior.sum()
    square = float(posterior @ grid**2)
    below = np.cumsum(posterior)
    low, high = (float(grid[np.searchsorted(below, level)]) for level in (0.025, 0.975))
    freedom = len(model.pairs) - model.bots + int(model.groups.max(initial=-1)) + 1
    thirds = tuple((_thirds(posterior, grid**2) / ELO**2).tolist())
    return Spread(math.sqrt(square), low, high, square / ELO**2, freedom, thirds)


def _thirds(shares: Floats, values: Floats) -> Floats:
    """Return the means of the lower, middle and upper third of a distribution.

    >>> _thirds(np.array([0.5, 0.5]), np.array([0.0, 1.0])).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    ends = np.minimum(np.cumsum(shares), 1.0)[:, None]
    filled = np.clip(3 * ends - np.arange(3), 0, 1)
    return np.asarray(values @ filled - values[1:] @ filled[:-1])


def _log_likelihoods(model: Model, strengths: Floats, grid: Floats, scale: float) -> Floats:
    """Return the log posterior, up to a constant, of each spread in Elo points."""
    information = model.information(strengths)
    beyond = (model.total - 2 * model.pairs * model.shares(strengths)) / information
    luck, means = model.effects(strengths) / information, model.means()
    logs = -((grid / scale) ** 2) / 2
    if not len(beyond):
        return logs
    for number, spread in enumerate(grid.tolist()):
        variance = luck + (spread / ELO) ** 2
        whole = model.matrix(1 / variance) + means
        pulls = model.sum_ends(beyond / variance)
        moved = float(pulls @ np.linalg.solve(whole, pulls))
        quadratic = float(np.sum(beyond**2 / variance)) - moved
        size = float(np.linalg.slogdet(whole)[1])
        logs[number] -= (float(np.log(variance).sum()) + size + quadratic) / 2
    return logs


def spread_factors(model: Model, strengths: Floats, spread: float) -> Floats:
    """Return the weight of a pair of each pairing if the spread is known.

    A pairing's weight is then the inverse of the variance of its gap: that by luck plus the square
    of the spread, which is given in Elo points. The variance of a pair is estimated from all
    pairings together, because weights from each pairing's own pairs made intervals too narrow.
    Source: DerSimonian and Laird 1986.

    >>> from arena.statistics.model import PairScores
    >>> few_and_many = [PairScores(0, 1, 9, 9.0, 13.5), PairScores(1, 2, 9000, 9000.0, 13500.0)]
    >>> model = Model(3, few_and_many, np.zeros(2))
    >>> few, many = spread_factors(model, np.zeros(3), 38.0) * [9, 9000]
    >>> round(float(many / few), 1)
    5.6
    """
    information = model.information(strengths)
    return np.asarray(1 / (model.effect(strengths) + (spread / ELO) ** 2 * information))


def is_equal(model: Model) -> bool:
    """Return whether every two bots of each group met, and all pairings weigh the same."""
    sizes = np.bincount(model.groups)
    if len(model.pairs) < int((sizes * (sizes - 1) // 2).sum()):
        return False
    counted = model.factors * model.played
    return len(counted) < 2 or bool(np.ptp(counted) < 1e-9 * counted.max())


def unequal_part(model: Model, strengths: Floats) -> Floats:
    """Return the covariance of the difference to an equal round robin, for a spread of 1.

    The difference is between the strengths fitted to the pairings that were played and to an equal
    round robin. In both a strength is a weighted sum of the deviations of pairings; the weights of
    pairings that were not played, or that count differently, do not cancel.
    """
    own, (full, equal) = model.inverse(strengths), weigh_equally(model, strengths)
    weights, theirs = model.weights(strengths), full[model.first, model.second]
    both = own @ model.matrix(weights * theirs) @ equal
    alone = own @ model.matrix(weights**2) @ own + equal @ make_laplacian(full**2) @ equal
    return np.asarray(alone - both - both.T)


def weigh_equally(model: Model, strengths: Floats) -> tuple[Floats, Floats]:
    """Return the weights of all pairings of an equal round robin, and its pseudoinverse (n, n)."""
    means = model.means()
    share = expit(strengths[:, None] - strengths[None, :])
    full = np.where(means > 0, share * (1 - share), 0.0)
    np.fill_diagonal(full, 0.0)
    return full, invert(make_laplacian(full), means)


def weigh_variances(gaps: Floats, variances: Floats) -> Floats:
    """Return the restricted log-likelihood of the variances in each row, for any mean of the gaps.

    Source: Patterson and Thompson 1971.
    """
    sums = np.maximum((1 / variances).sum(axis=1), _LEAST)
    means = (gaps / variances).sum(axis=1) / sums
    squares = ((gaps - means[:, None]) ** 2 / variances).sum(axis=1)
    return np.asarray(-(np.log(variances).sum(axis=1) + np.log(sums) + squares) / 2)
