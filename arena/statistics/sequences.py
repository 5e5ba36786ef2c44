"""Sequences: intervals of a mean share that hold at every number of pairs at once.

An interval of 95 % misses the truth in one run of twenty if it is read once, and far more often
if it is read again and again until it shows what one hopes for. A confidence sequence misses
the truth at any time at all in at most one run of twenty. So a run may stop because of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import Floats
from arena.statistics.root import find_root

SHARES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""The share of a pair's two games that each of the five scores is."""

_STAKES = 0.95 * 2.0 ** (-np.arange(19) / 2)
"""The parts of its capital that a bet risks, down to 1/540, which suits a million pairs."""


def log_capital(counts: npt.ArrayLike, mean: float) -> Floats:
    """Return the logarithm of what a bettor has who bet on a mean share above `mean`, from 1.

    `counts` are five counts, or rows of them, for one capital each. The bettor divides the
    capital evenly between fixed bets. If the mean is `mean` or less, the capital exceeds x at
    any time in at most one run of x (Ville 1939). It does not depend on the order of the pairs.
    Sources: Waudby-Smith and Ramdas 2023; the mixture of bets is that of Cover 1991.

    >>> [round(float(log_capital((0, 0, 0, 0, wins), 0.5)), 1) for wins in (1, 10)]
    [0.2, 4.0]
    """
    gains = (SHARES - mean) / mean  # of a bet that loses its stake at a share of 0
    growth = np.log1p(np.outer(_STAKES, gains))
    totals = np.asarray(counts, dtype=float) @ growth.T
    return np.asarray(np.logaddexp.reduce(totals, axis=-1) - math.log(len(_STAKES)))


def sequence_interval(counts: ScoreCounts, alpha: float = 0.05) -> tuple[float, float]:
    """Return the interval of a mean share per game (0..1) from the pairs so far.

    The chance that it does not contain the mean at some number of pairs, be it looked at after
    each, is at most `alpha`; half of that is for each side.

    >>> [round(bound, 2) for bound in sequence_interval((10, 20, 40, 20, 10))]
    [0.41, 0.59]
    """
    low = _lower(counts, alpha / 2)
    high = 1 - _lower(counts[::-1], alpha / 2)
    return low, high


def _lower(counts: ScoreCounts, alpha: float) -> float:
    """Return the lowest mean share that is not refuted; a greater mean leaves less capital."""
    threshold = math.log(1 / alpha)

    def excess(mean: float) -> float:
        return float(log_capital(counts, mean)) - threshold

    return _root(excess)


def _root(excess: Callable[[float], float]) -> float:
    """Return where a falling function is 0, or the end of (0, 1) beyond which it is."""
    least, most = 1e-9, 1 - 1e-9
    if excess(least) <= 0:
        return 0.0
    return find_root(excess, least, most, 1e-10)
