"""Confidence sequences: bounds that hold at every number of pairs at once, for stopping rules.

A 95 % interval misses the truth in one run of twenty if it is read once, but far more often if it
is read repeatedly until it shows the desired result. A confidence sequence misses the truth at any
time in at most one run of twenty.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import Floats
from arena.statistics.model import PairScores

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
