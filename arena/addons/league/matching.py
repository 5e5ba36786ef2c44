"""Choose the meetings of a league's next round for the most information per second of play.

A bot's rating is its Elo against all others. Results spread about the Elo model, so the variance of
a rating has two parts: the luck of the bot's pairs, and the choice of its opponents among all. That
is why further pairs against one opponent give little information, and a new opponent of known Elo
gives much. So newcomers first meet the panel, which connects them with all others. Each block of
pairs goes to the two bots whose variances it lowers most for its cost, weighted by importance:

1. versions with less than a tenth of the mean number of pairs come first, so that none starves;
2. then versions whose interval is wider than the target, the widest first; until they have met
   30 opponents (or all), they meet only new ones;
3. once all are within the target, versions whose order with a neighbour is least certain.

Sources: for one bot, the variance follows from the random-effects weights of DerSimonian and Laird
1986, with the variance of each opponent's own Elo added; choosing the greatest decrease of a
variance is the c-optimal design of Elfving 1952. Measured in bench/STUDIES.md, league.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from arena.statistics.distributions import Floats, expit, normal_below
from arena.statistics.intervals import Z95
from arena.statistics.ratings import ELO

BLOCK: Final = 10
"""Pairs that are assigned at once."""

BREADTH: Final = 30
"""The number of different opponents that a bot meets before it meets one of them again."""

_SHARE: Final = 0.1  # of the mean number of pairs: the least for every version
_PRIOR: Final = (400 / ELO) ** 2  # the variance of an unknown strength
_EFFECT: Final = 1.1  # the ratio of a pair's variance to that of two independent games
_SURE: Final = 1e-9


class Contender(NamedTuple):
    """An active version: its present Elo, half the width of its interval, and its cost.

    `half` is inf for a version without rating. `cost` is its time for a pair in seconds, and `most`
    the most pairs that it may play in the round.
    """

    elo: float
    half: float
    cost: float
    most: int


class Field:
    """The contenders of a round as arrays, with the information from their pairs so far.

    `pairs` is a symmetric matrix: the number of pairs played by each two contenders.
    """

    def __init__(self, contenders: Sequence[Contender], pairs: Floats, spread: float) -> None:
        columns = np.array(contenders, dtype=float).reshape(-1, len(Contender._fields)).T
        elo, self.half, self.cost, self.left = columns.copy()
        self.strengths = elo / ELO
        self.pairs = pairs.astype(float).copy()
        self.square = (spread / ELO) ** 2
        self.unknown = ~np.isfinite(self.half)
        self.doubt = np.minimum((self.half / Z95 / ELO) ** 2, _PRIOR)  # variances of strengths
        share = expit(self.strengths[:, None] - self.strengths[None, :])
        self.tells = 2 * share * (1 - share) / _EFFECT  # the information from one pair
        np.fill_diagonal(self.tells, 0.0)
        self.even = self.tells / np.maximum(self.tells.sum(axis=1, keepdims=True), _SURE)
        self._update(slice(None))

    def _weights(self, pairs: Floats, tells: Floats) -> Floats:
        """Return the inverse variance of each gap, from luck, spread, and the opponent's Elo."""
        information = pairs * tells
        return np.asarray(information / (1 + (self.square + self.doubt) * information))

    def _update(self, rows: slice | list[int]) -> None:
        """Recompute for some bots the sums of weights, and how much each block lowers variances."""
        if isinstance(rows, slice):
            self.whole = np.zeros(len(self.pairs))
            self.drop = np.zeros_like(self.pairs)
        own, tells, even = self.pairs[rows], self.tells[rows], self.even[rows]
        weights = self._weights(own, tells)
        whole, common = weights.sum(axis=1), (weights * even).sum(axis=1)
        more = self._weights(own + BLOCK, tells) - weights
        after = self._variance(whole[:, None] + more, common[:, None] + more * even)
        self.whole[rows] = whole
        self.drop[rows] = np.maximum(self._variance(whole, common)[:, None] - after, 0.0)

    def _variance(self, whole: Floats, common: Floats) -> Floats:
        """Return the variance of a strength, except for terms that do not depend on the pairs.

        `whole` is the sum of the weights, `common` the sum of their products with the weights of
        an equal round robin. A prior keeps the variance finite without pairs.
        """
        whole = whole + 1 / _PRIOR
        return np.asarray((1 - 2 * self.square * common) / whole)

    def give(self, bot: int, opponent: int, pairs: int = BLOCK) -> None:
        """Assign a block of pairs to two bots."""
        self.pairs[bot, opponent] += pairs
        self.pairs[opponent, bot] += pairs
        self.left[[bot, opponent]] -= pairs
        self._update([bot, opponent])

    def best(self, importance: Floats) -> tuple[int, int] | None:
        """Return the two bots whose block is worth most for its cost; None if no two may play."""
        met, may = self.pairs > 0, self.left >= BLOCK
        is_new = ~met & may[None, :] & ~np.eye(len(met), dtype=bool)
        narrow = (met.sum(axis=1) < BREADTH) & is_new.any(axis=1)
        useless = narrow[:, None] & met | self.unknown[:, None] & self.unknown[None, :]
        own = np.where(useless, 0.0, self.drop) * importance[:, None]
        worth = (own + own.T) / (self.cost[:, None] + self.cost[None, :])
        worth = np.where(may[:, None] & may[None, :], worth, -1.0)
        np.fill_diagonal(worth, -1.0)
        bot, opponent = divmod(int(worth.argmax()), len(worth))
        return (bot, opponent) if worth[bot, opponent] >= 0 else None


def choose_meetings(
    contenders: Sequence[Contender], pairs: Floats, spread: float, budget: int, target: float
) -> dict[tuple[int, int], int]:
    """Return the number of pairs of each meeting in a round, by the contenders' numbers.

    `pairs` is the matrix of pairs played before, `spread` is in Elo points, and `budget` is the
    approximate number of pairs in the round.

    >>> known, new = Contender(1500, 9, 0.1, 1000), Contender(1500, math.inf, 0.1, 1000)
    >>> played = np.full((3, 3), 500.0); played[2] = played[:, 2] = 0
    >>> choose_meetings([known, known, new], played, 38.0, 40, 15.0)
    {(0, 2): 20, (1, 2): 20}
    """
    field = Field(contenders, pairs, spread)
    chosen: dict[tuple[int, int], int] = {}
    least = _SHARE * pairs.sum() / max(1, len(contenders))
    rank = _doubt_of_ranks(field)
    for _ in range(max(1, budget // BLOCK)):
        two = field.best(_importance(field, least, target, rank))
        if two is None:
            break
        field.give(*two)
        key = min(two), max(two)
        chosen[key] = chosen.get(key, 0) + BLOCK
    return dict(sorted(chosen.items()))


def _importance(field: Field, least: float, target: float, rank: Floats) -> Floats:
    """Return the weight of each bot's variance in the choice of the next block."""
    starving = (field.pairs.sum(axis=1) < least) & (field.left >= BLOCK)
    if starving.any():
        return np.where(starving, 1.0, _SURE)
    wide = (field.half > target) & (field.left >= BLOCK)
    if wide.any():
        return np.where(wide, np.minimum(field.half / target, 10.0) ** 2, _SURE)
    return rank


def _doubt_of_ranks(field: Field) -> Floats:
    """Return, for each bot, the largest probability that it and a neighbour are misordered."""
    doubt = np.full(len(field.half), _SURE)
    errors = np.where(np.isfinite(field.half), field.half, 10 * ELO) / (Z95 * ELO)
    order = np.argsort(-field.strengths, kind="stable")
    for upper, lower in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        gap = float(field.strengths[upper] - field.strengths[lower])
        error = math.hypot(float(errors[upper]), float(errors[lower]))
        wrong = float(normal_below(np.array(-gap / max(error, _SURE))))
        doubt[[upper, lower]] = np.maximum(doubt[[upper, lower]], wrong)
    return doubt
