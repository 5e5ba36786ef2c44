"""Apart: which neighbours in the standings are told apart, however often one has looked.

Two bots are told apart if one of two tests says so: the confidence sequence of their own
pairs, which uses nothing but those, or the difference of their Elo in the fit of all pairs.
Both hold at every number of pairs at once, and for all pairings of the field together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from arena.statistics.ratings import Estimate, PairScores, estimate
from arena.statistics.sequences import SHARES, Counts, log_capital

ALPHA = 0.05
"""The chance, for a whole run, that any two bots are told apart in the wrong order."""

Met: TypeAlias = Mapping[tuple[int, int], Counts]
"""The pairs of every two bots that met, by their numbers."""

_EXPECTED = 0.2  # the typical difference between neighbours, in log odds: 35 Elo points


def pair_scores(bot: int, opponent: int, counts: Counts) -> PairScores:
    """Return the sums over the pairs of two bots, as the fit needs them.

    >>> pair_scores(0, 1, (0, 0, 5, 2, 3))
    PairScores(bot=0, opponent=1, pairs=10, total=14.0, squares=21.5)
    """
    total = counts[1] + 2 * counts[2] + 3 * counts[3] + 4 * counts[4]
    squares = counts[1] + 4 * counts[2] + 9 * counts[3] + 16 * counts[4]
    return PairScores(bot, opponent, sum(counts), total / 2, squares / 4)


class Gap(NamedTuple):
    """By how much one bot is stronger than another, in log odds, and the variance of that."""

    lead: float
    variance: float


class Field:
    """What the pairs of a field say of its bots, which are numbers from 0."""

    def __init__(self, bots: int, met: Met) -> None:
        self.bots = bots
        self.met = {two: counts for two, counts in met.items() if sum(counts)}
        scores = [pair_scores(*two, counts) for two, counts in self.met.items()]
        self.fit: Estimate = estimate(bots, scores)
        self.level = ALPHA / max(2, bots * (bots - 1))  # of one test of two, for two bots
        self._parts = _find_parts(bots, [*self.met])

    def direct(self, bot: int, opponent: int) -> Counts:
        """Return the pairs of two bots, as the first of them sees them."""
        if (opponent, bot) in self.met:
            first, second, third, fourth, fifth = self.met[opponent, bot]
            return fifth, fourth, third, second, first
        return self.met.get((bot, opponent), (0, 0, 0, 0, 0))

    def gap(self, bot: int, opponent: int) -> Gap | None:
        """Return the difference of two bots in the fit; None if nothing connects them."""
        if self._parts[bot] != self._parts[opponent]:
            return None
        errors = self.fit.covariance
        variance = errors[bot, bot] + errors[opponent, opponent] - 2 * errors[bot, opponent]
        lead = self.fit.strengths[bot] - self.fit.strengths[opponent]
        return Gap(float(lead), max(1e-12, float(variance)))

    def is_apart(self, upper: int, lower: int) -> bool:
        """Return whether the first bot is surely the stronger one of the two."""
        gap = self.gap(upper, lower)
        if gap is None:
            return False
        if gap.lead > 0 and gap.lead**2 / gap.variance >= boundary(1 / gap.variance, self.level):
            return True
        return float(log_capital(self.direct(upper, lower), 0.5)) >= math.log(2 / self.level)

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
        each = _information_of_a_pair(self.direct(upper, lower), gap.lead) / (1 if meet else 4)
        low, high = 0, 1
        while not self._would_tell(gap.lead, information + high * each):
            low, high = high, 2 * high
            if low > 10**9:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            if self._would_tell(gap.lead, information + middle * each):
                high = middle
            else:
                low = middle
        return high

    def _would_tell(self, lead: float, information: float) -> bool:
        return lead**2 * information >= boundary(information, self.level)


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


def find_groups(order: Sequence[int], field: Field) -> list[int]:
    """Return the number of each bot's group, from 1, for bots in the order of the standings.

    A group is a run of neighbours of which none is told apart from the next.
    """
    groups = [1] * len(order)
    for place in range(1, len(order)):
        apart = field.is_apart(order[place - 1], order[place])
        groups[place] = groups[place - 1] + apart
    return groups


def _information_of_a_pair(direct: Counts, lead: float) -> float:
    """Return the information on a difference in log odds that one pair of two bots brings.

    A pair of full variance, and one of none, are added to those seen.
    """
    share = 1 / (1 + math.exp(-min(30.0, abs(lead))))
    spread = float(np.dot(direct, (2 * SHARES - 2 * share) ** 2))
    variance = (spread + 4 * share * (1 - share)) / (sum(direct) + 2)
    return (2 * share * (1 - share)) ** 2 / variance


def _find_parts(bots: int, met: Sequence[tuple[int, int]]) -> list[int]:
    """Return a number for each bot, the same for two bots that any pairs connect."""
    opponents: dict[int, list[int]] = {}
    for bot, opponent in met:
        opponents.setdefault(bot, []).append(opponent)
        opponents.setdefault(opponent, []).append(bot)
    parts = [-1] * bots
    for start in range(bots):
        waiting = [start] if parts[start] < 0 else []
        while waiting:
            bot = waiting.pop()
            if parts[bot] < 0:
                parts[bot] = start
                waiting += opponents.get(bot, [])
    return parts
