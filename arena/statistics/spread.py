"""Estimate by how much the results of pairings differ from what the Elo says (the spread).

One number for each bot does not say how every two of them play. Each pairing is taken to differ
from its two strengths by a number of its own, normal with the same spread everywhere. The spread is
estimated by restricted maximum likelihood from the residuals of the pairings, beyond what the luck
of their pairs explains, and shrunk towards the most that the ladder's may be where there are few
pairings: without a degree of freedom it is that.

Sources: Patterson and Thompson 1971 for the restricted likelihood; DerSimonian and Laird 1986 for
effects that differ between studies, which are the pairings here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arena.statistics.distributions import ELO, Floats, expit
from arena.statistics.intervals import Estimate
from arena.statistics.model import Model, invert, make_laplacian

LADDER_SPREAD = Estimate(20.0, 0.0, 34.0)
"""By how much pairings of the ladder differ from what its Elo says, in Elo points.

It is the standard deviation, with its 95 % interval. `python -m bench.ladder FOLDER` writes it from
a run of `configs/ladder.yaml`; a test finds the same from the counts of its pairs
(`bench/ladder.csv`).
"""

_SCALE = LADDER_SPREAD.high  # of the prior: other bots may differ more than the ladder's
_GRID = np.linspace(0.0, 190.0, 51)
_MANY, _COARSE = 40, 5  # bots; which part of the grid is enough to find the place
_LEAST_FREEDOM = 3
_LEAST = 1e-9  # information about a mean
_LITTLE, _MUCH = 0.15, 1.5  # of the scale: the interval of the prior is 0.03 to 2.2 of it


class Spread(NamedTuple):
    """The standard deviation of pairings about the Elo, in Elo points, with its 95 % interval.

    `variance` is its expected square, in log odds, and `thirds` are those of the lower, middle and
    upper third of what it may be. `freedom` is how many pairings there are beyond those that the
    ratings need: with 0 nothing was measured.
    """

    elo: float
    low: float
    high: float
    variance: float
    freedom: int
    thirds: tuple[float, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether the results say something of it, which few pairings or few pairs do not."""
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
    if model.bots > _MANY:  # many bots tell it well, and each value takes long
        coarse = _GRID[::_COARSE]
        best = float(coarse[_log_likelihoods(model, strengths, coarse, scale).argmax()])
        grid = _GRID[np.abs(_GRID - best) <= _COARSE * _GRID[1]]
    logs = _log_likelihoods(model, strengths, grid, scale)
    posterior = np.exp(logs - logs.max())
    posterior[grid == 0] /= 2  # an end of the grid stands for half as much
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
    """Return the logarithm of how likely each spread is, in Elo points: likelihood and prior."""
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
    """Return how often a pair of each pairing counts where results differ by a known spread.

    A pairing's weight is then one over the variance of its gap: that by luck, and the square of
    the spread, which is in Elo points. What the luck of a pair is, is taken from all pairings
    together: weights that follow the luck of each pairing's own pairs made intervals too narrow.
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
    """Return the covariance of the strengths less those of an equal round robin, for a spread of 1.

    In both a strength is a weighted sum of what the pairings differ by. The weights of pairings
    that were not played, and of those that count otherwise, do not cancel.
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
    """Return the logarithm of how likely the variances of each row are, whatever the gaps' mean.

    Source: Patterson and Thompson 1971.
    """
    sums = np.maximum((1 / variances).sum(axis=1), _LEAST)
    means = (gaps / variances).sum(axis=1) / sums
    squares = ((gaps - means[:, None]) ** 2 / variances).sum(axis=1)
    return np.asarray(-(np.log(variances).sum(axis=1) + np.log(sums) + squares) / 2)
