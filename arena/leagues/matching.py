"""Choose the meetings of a league's next round: those that tell most for a second of playing.

A bot's rating is its Elo against all others. With results that spread about the Elo, its variance
has two parts: the luck of its pairs, and that the opponents it met are not all there are. So many
pairs against one opponent tell little, and a new opponent tells much, if its own Elo is known: so
newcomers meet the panel first, which connects them with all others. Each block of pairs goes to
the two bots whose variances it lowers most for its cost, weighted by how much each of them matters:

1. versions with less than a tenth of the mean number of pairs come first, so nobody starves;
2. then those whose interval is wider than the target, the widest first, and until they have met
   30 others (or all) only against new ones;
3. once all are within the target, those who are least surely above or below their neighbours.

Sources: the variance is that of the random-effects weights of DerSimonian and Laird 1986 for one
bot, to which the variance of each opponent's own Elo is added; choosing by the greatest drop of a
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
"""Pairs that are given out at once."""

BREADTH: Final = 30
"""Other bots that a bot meets before it meets any of them again."""

_SHARE: Final = 0.1  # of the mean number of pairs, which every version plays
_PRIOR: Final = (400 / ELO) ** 2  # the variance of a strength of which nothing is known
_EFFECT: Final = 1.1  # the variance of a pair's score over that of two independent games
_SURE: Final = 1e-9


class Contender(NamedTuple):
    """An active version: its Elo so far, half its interval, and its cost.

    `half` is inf for one without a rating. `cost` is the seconds of a pair, and `most` how many
    pairs it may play in the round.
    """

    elo: float
    half: float
    cost: float
    most: int


class Field:
    """The contenders of a round as arrays, with what their pairs tell so far.

    `pairs` are those of each two that they have played (a symmetric matrix).
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
        self.tells = 2 * share * (1 - share) / _EFFECT  # of one pair
        np.fill_diagonal(self.tells, 0.0)
        self.even = self.tells / np.maximum(self.tells.sum(axis=1, keepdims=True), _SURE)
        self._update(slice(None))

    def _weights(self, pairs: Floats, tells: Floats) -> Floats:
        """Return one over the variance of a gap: by luck, the spread, and the opponent's Elo."""
        information = pairs * tells
        return np.asarray(information / (1 + (self.square + self.doubt) * information))

    def _update(self, rows: slice | list[int]) -> None:
        """Find the sums of some bots anew, and by how much a block of each pairing lowers them."""
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
        """Return the variance of a strength, up to what does not depend on the pairs.

        `whole` are the sums of the weights, `common` those of their products with the weights of
        an equal round robin. A strength has a prior, so it is finite without pairs.
        """
        whole = whole + 1 / _PRIOR
        return np.asarray((1 - 2 * self.square * common) / whole)

    def give(self, bot: int, opponent: int, pairs: int = BLOCK) -> None:
        """Take note that two bots will play a block."""
        self.pairs[bot, opponent] += pairs
        self.pairs[opponent, bot] += pairs
        self.left[[bot, opponent]] -= pairs
        self._update([bot, opponent])

    def best(self, importance: Floats) -> tuple[int, int] | None:
        """Return the two bots whose block tells most for its cost; None if nobody may play."""
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
    """Return how many pairs each two contenders play in a round, by their numbers.

    `pairs` are those of each two that they have played, `spread` is in Elo points, and `budget`
    is about how many pairs the round has.

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
    """Return how much the variance of each bot matters now."""
    starving = (field.pairs.sum(axis=1) < least) & (field.left >= BLOCK)
    if starving.any():
        return np.where(starving, 1.0, _SURE)
    wide = (field.half > target) & (field.left >= BLOCK)
    if wide.any():
        return np.where(wide, np.minimum(field.half / target, 10.0) ** 2, _SURE)
    return rank


def _doubt_of_ranks(field: Field) -> Floats:
    """Return how likely each bot and one of its neighbours are in the wrong order."""
    doubt = np.full(len(field.half), _SURE)
    errors = np.where(np.isfinite(field.half), field.half, 10 * ELO) / (Z95 * ELO)
    order = np.argsort(-field.strengths, kind="stable")
    for upper, lower in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        gap = float(field.strengths[upper] - field.strengths[lower])
        error = math.hypot(float(errors[upper]), float(errors[lower]))
        wrong = float(normal_below(np.array(-gap / max(error, _SURE))))
        doubt[[upper, lower]] = np.maximum(doubt[[upper, lower]], wrong)
    return doubt
