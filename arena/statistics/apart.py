"""Apart: which bots of the standings are told apart, however often one has looked.

This is what "told apart" means everywhere: the upper one of two bots is surely the stronger one.
One of two tests says so: the confidence sequence of their own pairs, which uses nothing but those,
or the difference of their Elo in the fit of all pairs, with the error of that difference. (Whether
two intervals overlap says less: the error of a difference is smaller than the sum of both.) Both
tests hold at every number of pairs at once, and for all pairings of the field together. The
letters of the table, a run with `until` and what it says of its end follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from arena.statistics.ratings import Fit, PairScores
from arena.statistics.rows import ScoreCounts
from arena.statistics.sequences import SHARES, log_capital

ALPHA = 0.05
"""The chance, for a whole run, that any two bots are told apart in the wrong order."""

_EXPECTED = 0.2  # the typical difference between neighbours, in log odds: 35 Elo points
_MOST_FURTHER = 10**9
_UNMET = 4  # times as many pairs: two bots against others, half of the pairs for each


def pair_scores(bot: int, opponent: int, by_score: ScoreCounts) -> PairScores:
    """Return the sums over the pairs of two bots, as the fit needs them.

    >>> pair_scores(0, 1, (0, 0, 5, 2, 3))
    PairScores(bot=0, opponent=1, pairs=10, total=14.0, squares=21.5)
    """
    _, lost, even, won, both = by_score
    total = lost + 2 * even + 3 * won + 4 * both
    squares = lost + 4 * even + 9 * won + 16 * both
    return PairScores(bot, opponent, sum(by_score), total / 2, squares / 4)


class Gap(NamedTuple):
    """By how much one bot is stronger than another, in log odds, and the variance of that."""

    lead: float
    variance: float


class Evidence:
    """What the pairs of a field say of the order of its bots, which are numbers from 0.

    `met` are the pairs of every two bots that met, and `fit` is that of all of them.
    """

    def __init__(self, fit: Fit, met: Mapping[tuple[int, int], ScoreCounts]) -> None:
        self.fit = fit
        self.met = met
        bots = len(fit.strengths)
        self.level = ALPHA / max(2, bots * (bots - 1))  # of each of the two tests, for two bots

    def gap(self, bot: int, opponent: int) -> Gap | None:
        """Return the difference of two bots in the fit; None if no games lead to one another."""
        error = float(self.fit.gap_errors[bot, opponent])
        if math.isnan(error):
            return None
        lead = float(self.fit.strengths[bot] - self.fit.strengths[opponent])
        return Gap(lead, max(1e-12, error**2))

    def is_apart(self, upper: int, lower: int) -> bool:
        """Return whether the first bot is surely the stronger one of the two."""
        gap = self.gap(upper, lower)
        if gap is None:
            return False
        if gap.lead > 0 and gap.lead**2 / gap.variance >= boundary(1 / gap.variance, self.level):
            return True
        direct = self._direct(upper, lower)
        return any(direct) and float(log_capital(direct, 0.5)) >= math.log(2 / self.level)

    def further_pairs(self, upper: int, lower: int, *, meet: bool = True) -> int | None:
        """Return about how many further pairs would tell two bots apart.

        It supposes that the difference stays what it seems to be. Two bots that do not `meet`
        need four times as many pairs, against others. None if that cannot be said, or is more
        than a billion.
        """
        gap = self.gap(upper, lower)
        if gap is None or gap.lead <= 0:
            return None
        information = 1 / gap.variance
        each = _information_of_a_pair(self._direct(upper, lower), gap.lead)
        each /= 1 if meet else _UNMET

        def would_tell(pairs: int) -> bool:
            then = information + pairs * each
            return gap.lead**2 * then >= boundary(then, self.level)

        few, many = 0, 1
        while not would_tell(many):
            few, many = many, 2 * many
            if few > _MOST_FURTHER:
                return None
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if would_tell(middle) else (middle, many)
        return many

    def _direct(self, bot: int, opponent: int) -> ScoreCounts:
        """Return the pairs of two bots, as the first of them sees them."""
        if (opponent, bot) in self.met:
            lost, less, even, more, won = self.met[opponent, bot]
            return won, more, even, less, lost
        return self.met.get((bot, opponent), (0, 0, 0, 0, 0))


def boundary(information: float, alpha: float) -> float:
    """Return what the square of an estimate over its error must reach to differ from 0.

    `information` is 1 / variance. A true 0 reaches it at any time in at most `alpha` of all
    runs, on one side or the other, where the estimate is nearly normal. Sources: Robbins 1970
    for the mixture; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021 for estimates.

    >>> round(boundary(100.0, 0.05) ** 0.5, 2)
    3.08
    """
    relative = information * _EXPECTED**2
    return (1 + 1 / relative) * (math.log1p(relative) + 2 * math.log(1 / alpha))


def _information_of_a_pair(direct: ScoreCounts, lead: float) -> float:
    """Return the information on a difference in log odds that one pair of two bots brings.

    Two pairs, of the variance of games that do not depend on each other, are added to those
    seen.
    """
    share = 1 / (1 + math.exp(-min(30.0, abs(lead))))
    single = 2 * share * (1 - share)
    spread = float(np.dot(direct, (2 * SHARES - 2 * share) ** 2))
    variance = (spread + 2 * single) / (sum(direct) + 2)
    return single**2 / variance
