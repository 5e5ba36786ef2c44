"""Apart: which bots of the standings are told apart, however often one has looked.

This is what "told apart" means everywhere: the upper one of two bots is surely the stronger one.
The difference of their Elo says so, with its error, or, where there are no other bots, the
confidence sequence of their own pairs. Both hold at every number of pairs at once, and for all
pairings of the field together. (Whether two intervals overlap says less: the error of a difference
is smaller than the sum of both.) A bot that beats another one need not be the stronger one among
others: so in a larger field their own pairs say nothing by themselves. The letters of the table, a
run with `until` and what it says of its end follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from arena.statistics.counts import ScoreCounts
from arena.statistics.ratings import Fit, PairScores
from arena.statistics.sequences import log_capital

ALPHA = 0.05
"""The chance, for a whole run, that any two bots are told apart in the wrong order."""

_EXPECTED = 0.2  # the typical difference between neighbours, in log odds: 35 Elo points
_MOST_GROWTH = 1e6
_BISECTIONS = 60
_LEAST = 1e-12  # of a variance


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

    The order is that of their Elo in an equal round robin of all of them. `met` are the pairs of
    every two bots that met, and `fit` is that of all of them. Where there are only two bots, their
    own pairs say the order, too.
    """

    def __init__(self, fit: Fit, met: Mapping[tuple[int, int], ScoreCounts]) -> None:
        self.fit = fit
        self.met = met
        bots = len(fit.strengths)
        self.level = ALPHA / max(2, bots * (bots - 1) // 2)  # of each test; two bots have two

    def gap(self, bot: int, opponent: int) -> Gap | None:
        """Return the difference of two bots in the fit; None if no games lead to one another."""
        error = float(self.fit.full_errors[bot, opponent])
        if math.isnan(error):
            return None
        lead = float(self.fit.strengths[bot] - self.fit.strengths[opponent])
        return Gap(lead, max(_LEAST, error**2))

    def is_apart(self, upper: int, lower: int) -> bool:
        """Return whether the first bot is surely the stronger one of the two."""
        gap = self.gap(upper, lower)
        if gap is None:
            return False
        if _tells(gap.lead, gap.variance, self.level):
            return True
        if len(self.fit.strengths) > 2:
            return False
        return float(log_capital(self._direct(upper, lower), 0.5)) >= math.log(2 / self.level)

    def growth(self, upper: int, lower: int, *, hope: float = 0.0) -> float | None:
        """Return how many times as many pairs would tell two bots apart, all of them in all.

        It supposes that the difference stays what it seems to be, or so many errors more as
        there is `hope`. None if no number of pairs tells, or more than a million times as many.
        """
        gap = self.gap(upper, lower)
        if gap is None:
            return None
        luck = max(_LEAST, float(self.fit.gap_errors[upper, lower]) ** 2)
        rest = max(0.0, gap.variance - luck)
        lead = gap.lead + hope * math.sqrt(luck)
        if not _tells(lead, rest + luck / _MOST_GROWTH, self.level):
            return None
        few, many = math.log(1 / _MOST_GROWTH), math.log(_MOST_GROWTH)
        for _ in range(_BISECTIONS):
            middle = (few + many) / 2
            tells = _tells(lead, rest + luck / math.exp(middle), self.level)
            few, many = (few, middle) if tells else (middle, many)
        return max(1.0, math.exp(many))

    def _direct(self, bot: int, opponent: int) -> ScoreCounts:
        """Return the pairs of two bots, as the first of them sees them."""
        if (opponent, bot) in self.met:
            lost, less, even, more, won = self.met[opponent, bot]
            return won, more, even, less, lost
        return self.met.get((bot, opponent), (0, 0, 0, 0, 0))


def _tells(lead: float, variance: float, level: float) -> bool:
    """Return whether a lead with this variance is surely above 0."""
    return lead > 0 and lead**2 / variance >= boundary(1 / variance, level)


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
