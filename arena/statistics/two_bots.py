"""Compare two bots by their pairs: exactly, or at every number of pairs at once.

A 95 % interval misses the truth in one run of twenty if it is read once, but far more often if it
is read repeatedly until it shows the desired result. A confidence sequence misses the truth at any
time in at most one run of twenty.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import Floats, fair_binomial
from arena.statistics.model import PairScores
from arena.statistics.posterior import make_priors

ALPHA = 0.05
"""The probability, for a whole run, that any two bots are told apart in the wrong order."""

_EXPECTED = 0.2  # the typical difference between neighbours, in log odds: 35 Elo points


def pair_scores(bot: int, opponent: int, by_score: ScoreCounts) -> PairScores:
    """Return the sums over the pairs of two bots that the fit needs.

    >>> pair_scores(0, 1, (0, 0, 5, 2, 3))
    PairScores(bot=0, opponent=1, pairs=10, total=14.0, squares=21.5)
    """
    _, lost, even, won, both = by_score
    total = lost + 2 * even + 3 * won + 4 * both
    squares = lost + 4 * even + 9 * won + 16 * both
    return PairScores(bot, opponent, sum(by_score), total / 2, squares / 4)


def boundary(information: Floats | float, alpha: float) -> Floats:
    """Return the bound on an estimate's squared z value from which it differs from 0.

    `information` is 1 / variance. If the truth is 0, the square exceeds the bound at any time in at
    most `alpha` of all runs (two-sided), for an estimate that is nearly normal. Sources: Robbins
    1970 for the mixture; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021 for estimates.

    >>> round(float(boundary(100.0, 0.05)) ** 0.5, 2)
    3.08
    """
    relative = information * _EXPECTED**2
    return np.asarray((1 + 1 / relative) * (np.log1p(relative) + 2 * math.log(1 / alpha)))


SHARES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""The score per game, 0 to 1, for each of the five scores of a pair."""

_STAKES = 0.95 * 2.0 ** (-np.arange(19) / 2)
"""The parts of the capital that bets risk, down to 1/540, which suits a million pairs."""


def log_capital(counts: npt.ArrayLike, mean: float) -> Floats:
    """Return the log capital of a bettor, from 1, after bets on a mean share above `mean`.

    `counts` are the five counts of pairs by score, or rows of them, each with its own capital. The
    bettor divides the capital evenly between fixed bets. If the mean is `mean` or less, the capital
    exceeds x at any time in at most one run of x (Ville 1939). It does not depend on the order of
    the pairs. Sources: Waudby-Smith and Ramdas 2023; the mixture of bets is that of Cover 1991.

    >>> [round(float(log_capital((0, 0, 0, 0, wins), 0.5)), 1) for wins in (1, 10)]
    [0.2, 4.0]
    """
    gains = (SHARES - mean) / mean  # of a bet whose stake is lost at a share of 0
    growth = np.log1p(np.outer(_STAKES, gains))
    totals = np.asarray(counts, dtype=float) @ growth.T
    return np.asarray(np.logaddexp.reduce(totals, axis=-1) - math.log(len(_STAKES)))


GRID = np.linspace(-14, 14, 2801)
"""The grid of differences of two bots, in log odds."""

_LENT = 10.0  # added pairs with the variance of two independent games
_MOST_COUNTED = 4000  # uneven pairs; for more the normal approximation is as good


class Duel(NamedTuple):
    """The evidence of two bots' pairs on their difference, in log odds, and its sign.

    `below` is the posterior probability that the difference is below each value of the grid.
    `chance` is the two-sided p-value of the result if both bots are equal.
    """

    below: Floats
    low: float
    high: float
    likely: float
    chance: float


def weigh_duel(counts: ScoreCounts, level: float) -> Duel:
    """Return the evidence of two bots' pairs; `level` is the error rate of the interval.

    >>> ten, four = (weigh_duel((0, 0, 0, 0, pairs), 0.05) for pairs in (10, 4))
    >>> round(ten.likely, 3), round(ten.chance, 3), round(four.likely, 3), round(four.chance, 3)
    (1.0, 0.002, 0.989, 0.125)
    """
    _, _, pairs, total, squares = pair_scores(0, 1, counts)
    share = (total + 1) / (2 * pairs + 2)
    rest, one = max(0.0, squares - 4 * share * (total - share * pairs)), 2 * share * (1 - share)
    effect = (rest + _LENT * one) / (pairs * one + _LENT * one)
    if sum(map(bool, counts)) == 1:  # all pairs have the same score
        effect = 1.0
    logs = (total * GRID - 2 * pairs * np.logaddexp(0, GRID)) / effect
    likely = _prior() * np.exp(logs - logs.max())
    likely /= likely.sum()
    below = np.cumsum(likely) - likely / 2
    low, high = np.interp([level / 2, 1 - level / 2], below, GRID)
    first_ahead = 1 - float(np.interp(0, GRID, below))
    return Duel(below, float(low), float(high), first_ahead, sign_chance(counts))


@cache
def _prior() -> Floats:
    """Return the prior probability of each difference of the grid."""
    prior = make_priors()
    rows, columns = np.triu_indices(prior.parts.shape[1])
    shares = np.exp(prior.logs)[:, None] * prior.parts[:, rows] * prior.parts[:, columns]
    shares *= np.where(rows == columns, 1, 2)
    variances = prior.variances[:, rows] + prior.variances[:, columns]
    said = shares > 0
    squares = GRID[len(GRID) // 2 :] ** 2  # of the upper half: the lower one is its mirror image
    parts = np.exp(-squares / (2 * variances[said][:, None]))
    upper = (shares[said] / np.sqrt(variances[said])) @ parts
    return np.concatenate([upper[:0:-1], upper])


def sign_chance(counts: ScoreCounts) -> float:
    """Return the two-sided p-value of a sign-flip test that two bots are equal.

    If they are, each pair could equally have had the opposite result. Source: Fisher 1935.

    >>> all_won, even, some = (0, 0, 0, 0, 6), (1, 0, 5, 0, 1), (0, 0, 9, 2, 4)
    >>> [round(sign_chance(counts), 5) for counts in (all_won, even, some)]
    [0.03125, 1.0, 0.03125]
    """
    lost, less, _, more, won = counts
    ones, twos = less + more, lost + won
    seen = abs(more - less + 2 * (won - lost))
    if ones + twos > _MOST_COUNTED:
        return math.erfc((seen - 0.5) / math.sqrt(2 * (ones + 4 * twos)))
    of_ones, of_twos = fair_binomial(ones), fair_binomial(twos)
    sums = np.abs(2 * (2 * np.arange(twos + 1) - twos)[:, None] + 2 * np.arange(ones + 1) - ones)
    return min(1.0, float((np.outer(of_twos, of_ones) * (sums >= seen)).sum()))
