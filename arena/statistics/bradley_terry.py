"""Fit the Bradley-Terry model, and estimate by how much pairings deviate from it.

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
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.statistics.distributions import ELO, expit
from arena.statistics.distributions import Floats as Floats
from arena.statistics.intervals import Estimate, least_variance

Numbers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_LONGEST_STEP = 0.75  # in log odds; a gap changes by 1.5 at most, so every step lowers the loss
_SHORTEST_STEP = 1e-10
_MOST_STEPS = 1000
_LENT = 10.0  # pairs of the mean variance that are added to each pairing's own pairs
_LEAST_EFFECT = 0.25


class PairScores(NamedTuple):
    """The result of one pairing in pairs: the first bot's score is 0, 1/2, 1, 3/2 or 2 in each.

    `total` and `squares` are the sums of the scores and of their squares over `pairs` pairs.
    """

    bot: int
    opponent: int
    pairs: int
    total: float
    squares: float


class Model:
    """The Bradley-Terry model of some pairings: each bot has a strength, in log odds.

    Every pairing is credited with a part of a pair, `credit`, half of it won 2 : 0 and half of it
    lost 0 : 2. Each of its pairs is weighted by `factors` in the fit, by default 1. The variance of
    its score is `growth` times that of independent pairs.
    """

    def __init__(
        self,
        bots: int,
        scores: Sequence[PairScores],
        credit: Floats,
        factors: Floats | None = None,
        growth: Floats | float = 1.0,
    ) -> None:
        columns = np.array(scores, dtype=float).reshape(len(scores), len(PairScores._fields)).T
        self.bots = bots
        self.first, self.second = columns[:2].astype(int)
        self.played = columns[2]
        self.pairs, self.total, self.squares = columns[2:] + np.outer((1, 1, 2), credit)
        self.factors: Floats = np.ones(len(scores)) if factors is None else factors
        self.growth = growth
        self.groups = find_groups(bots, self.first, self.second)

    def shares(self, strengths: Floats) -> Floats:
        """Return the expected share of each pairing's first bot, 0 to 1."""
        return expit(strengths[self.first] - strengths[self.second])

    def information(self, strengths: Floats) -> Floats:
        """Return the information of each pairing about its gap: 2 pairs x share x (1 - share)."""
        return np.asarray(2 * self.pairs * self.shares(strengths) * self.shares(-strengths))

    def weights(self, strengths: Floats) -> Floats:
        """Return the weight of each pairing's gap in the fit: information times factor."""
        return np.asarray(self.factors * self.information(strengths))

    def effects(self, strengths: Floats) -> Floats:
        """Return each pairing's design effect: the variance of its pairs over independent games'.

        The variance is taken about the pairing's own mean, shrunk towards the fitted one, and is
        itself shrunk towards that of all pairings, because few pairs say little about their
        variance. It is at least that of pairs without drawn games, because pairs that were all lost
        would have none.
        """
        share, information = self.shares(strengths), self.information(strengths)
        lent = 2 * _LENT
        own = (self.total + 2 * lent * share) / (2 * (self.pairs + lent))
        rest = self.squares - 4 * own * (self.total - own * self.pairs)
        rest = np.maximum(rest, 4 * self.pairs * least_variance(share))
        follows = 1 - (lent / (self.pairs + lent)) ** 2  # the own mean follows its pairs
        rest /= 1 - follows / np.maximum(self.pairs, 2)
        played = float(self.played.sum())
        all_of_them = max(float(rest.sum()) / (float(information.sum()) or 1.0), _LEAST_EFFECT)
        all_of_them *= played / max(1.0, played - self.bots + 1)
        lent_now = _LENT * information / self.pairs
        luck = (rest + lent_now * all_of_them) / (information + lent_now)
        return np.asarray(self.growth * luck)

    def matrix(self, weights: Floats) -> Floats:
        """Return the Laplacian of the graph of pairings with these weights."""
        whole = np.zeros((self.bots, self.bots))
        np.add.at(whole, (self.first, self.second), weights)
        return make_laplacian(whole + whole.T)

    def inverse(self, strengths: Floats) -> Floats:
        """Return the pseudoinverse of the Hessian; each group of bots has a mean of 0."""
        return invert(self.matrix(self.weights(strengths)), self.means())

    def covariance(self, strengths: Floats) -> Floats:
        """Return the sandwich covariance, a pair of games being a cluster."""
        inverse = self.inverse(strengths)
        spreads = self.factors * self.weights(strengths) * self.effects(strengths)
        return np.asarray(inverse @ self.matrix(spreads) @ inverse)

    def fit(self, start: Floats | None = None) -> Floats:
        """Return the maximum-likelihood strengths; each group of bots has a mean of 0.

        `start` are strengths to begin with, which save time if they are close.
        """
        means = self.means()
        strengths = np.zeros(self.bots) if start is None else start.copy()
        for _ in range(_MOST_STEPS):
            hessian = self.matrix(self.weights(strengths))
            beyond = self.factors * (2 * self.pairs * self.shares(strengths) - self.total)
            step = np.linalg.solve(hessian + _scale(hessian) * means, self.sum_ends(beyond))
            longest = float(np.abs(step).max(initial=0.0))
            strengths -= step * min(1.0, _LONGEST_STEP / max(longest, _SHORTEST_STEP))
            if longest < _SHORTEST_STEP:
                break
        return np.asarray(strengths - means @ strengths)

    def sum_ends(self, values: Floats) -> Floats:
        """Return each bot's sum of values of pairings in which it is first minus second."""
        return np.asarray(
            np.bincount(self.first, values, self.bots) - np.bincount(self.second, values, self.bots)
        )

    def means(self) -> Floats:
        """Return the matrix that replaces each bot's value by the mean of its group."""
        same = self.groups[:, None] == self.groups[None, :]
        return np.asarray(same / same.sum(axis=1))


def make_laplacian(weights: Floats) -> Floats:
    """Return the Laplacian of a graph whose edges have these weights (n, n)."""
    return np.asarray(np.diag(weights.sum(axis=1)) - weights)


def invert(laplacian: Floats, means: Floats) -> Floats:
    """Return the pseudoinverse of a Laplacian; `means` projects on its null space."""
    scale = _scale(laplacian)
    return np.asarray(np.linalg.inv(laplacian + scale * means) - means / scale)


def _scale(laplacian: Floats) -> float:
    """Return the magnitude of the matrix's entries."""
    return float(np.trace(laplacian)) / max(1, len(laplacian)) or 1.0


def find_groups(bots: int, first: Numbers, second: Numbers) -> Numbers:
    """Return the number of each bot's connected component in the graph of games, its group.

    Groups are numbered in the order of their first bots.

    >>> find_groups(5, np.array([0, 3]), np.array([2, 4])).tolist()
    [0, 1, 0, 2, 2]
    """
    met = np.zeros((bots, bots), dtype=bool)
    met[first, second] = met[second, first] = True
    firsts = np.where(find_reach(met), np.arange(bots), bots).min(axis=1, initial=bots)
    return np.unique(firsts, return_inverse=True)[1]


def find_reach(edges: Flags) -> Flags:
    """Return the reflexive transitive closure (n, n) of a graph's edges."""
    reach = edges | np.eye(len(edges), dtype=bool)
    for _ in range(len(edges).bit_length()):
        reach = reach.astype(np.float32) @ reach > 0
    return reach


def gap_errors(covariance: Floats, groups: Numbers) -> Floats:
    """Return the standard errors of the gaps between every two bots (n, n), nan between groups."""
    own = np.diag(covariance)
    errors = np.sqrt(np.maximum(own[:, None] + own - 2 * covariance, 0))
    return np.where(groups[:, None] == groups, errors, np.nan)


def share_credit(bots: int, scores: Sequence[PairScores]) -> Floats:
    """Return the credit of each pairing, as a part of a pair.

    Every bot contributes half a pair, spread evenly over its opponents. With a whole pair for each
    pairing, the interval of a bot that was far weaker than seven others and met them in 20 pairs
    each covered its true rating in only 52 % of 500 simulated runs.

    >>> share_credit(3, [PairScores(0, 1, 9, 9.0, 9.0), PairScores(0, 2, 9, 9.0, 9.0)]).tolist()
    [0.75, 0.75]
    """
    first, second = (np.array([score[side] for score in scores], dtype=int) for side in (0, 1))
    opponents = np.bincount(first, minlength=bots) + np.bincount(second, minlength=bots)
    return np.asarray((1 / opponents[first] + 1 / opponents[second]) / 2)


LADDER_SPREAD = Estimate(28.0, 19.0, 38.0)
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
    lower, middle and upper third of its posterior, in which larger values weigh more if there are
    enough pairings (otherwise leads of gauntlets whose pairings deviate by 60 were missed in 11 %
    of runs, and not in 6 %). `freedom` is the number of pairings beyond those
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

    >>> from arena.statistics.bradley_terry import PairScores
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
    if freedom >= _LEAST_FREEDOM:
        posterior *= grid**1.5  # with a power of 1 they miss 7 %, with 2 it is 5 %
        posterior /= posterior.sum()
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

    >>> from arena.statistics.bradley_terry import PairScores
    >>> few_and_many = [PairScores(0, 1, 9, 9.0, 13.5), PairScores(1, 2, 9000, 9000.0, 13500.0)]
    >>> model = Model(3, few_and_many, np.zeros(2))
    >>> few, many = spread_factors(model, np.zeros(3), 38.0) * [9, 9000]
    >>> round(float(many / few), 1)
    5.6
    """
    information = model.information(strengths)
    effect = (model.effects(strengths) * information).sum() / information.sum()
    return np.asarray(1 / (effect + (spread / ELO) ** 2 * information))


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
