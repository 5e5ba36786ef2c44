"""Rate one player by few games against opponents whose ratings are known, with an exact interval.

With the opponents' Elo known, the sum of the results is a sufficient statistic for the player's
rating. So the interval contains the ratings under which neither a sum this high nor one this low
has a probability below 2.5 %. It needs no prior, is wide with few games, and lacks an end if all
games were won or all were lost. A draw counts half. Draws are rare, so for each end the sum is
rounded to the whole number of wins that makes the interval wider. Source: Clopper and Pearson 1934,
for one opponent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from arena.statistics.distributions import Floats, binomial, find_root
from arena.statistics.intervals import LEVEL, Estimate
from arena.statistics.ratings import ELO, MEAN

_MOST = 30 * ELO  # the largest rating, in points from the mean
_NEAR = 1e-6


class Met(NamedTuple):
    """An opponent's Elo, and the player's wins, draws and losses against it."""

    elo: float
    won: int
    drawn: int
    lost: int

    @property
    def games(self) -> int:
        """The number of games."""
        return self.won + self.drawn + self.lost


def rate_exactly(met: Sequence[Met]) -> Estimate:
    """Return the maximum-likelihood Elo of a player, with its 95 % interval.

    The Elo is nan without games, and if all games were won or all lost.

    >>> [round(one) for one in rate_exactly([Met(1400, 6, 0, 4)])[:3]]
    [1470, 1220, 1744]
    >>> rate_exactly([Met(1400, 3, 0, 0), Met(1500, 1, 0, 0)])[2]
    inf
    """
    games = sum(one.games for one in met)
    points = sum(one.won + one.drawn / 2 for one in met)
    fewest, most = math.floor(points), math.ceil(points)
    value, low, high = math.nan, -math.inf, math.inf
    if 0 < points < games:
        value = _find(lambda elo: float(_wins(met, elo) @ np.arange(games + 1)) - points)
    if fewest > 0:
        low = _find(lambda elo: float(_wins(met, elo)[fewest:].sum()) - LEVEL / 2)
    if most < games:
        high = _find(lambda elo: float(_wins(met, elo)[: most + 1].sum()) - LEVEL / 2)
    return Estimate(value, low, high)


def _find(function: Callable[[float], float]) -> float:
    return find_root(function, MEAN - _MOST, MEAN + _MOST, _NEAR)


def _wins(met: Sequence[Met], elo: float) -> Floats:
    """Return the probability of each number of wins, from 0, for a player of this Elo."""
    likely = np.ones(1)
    for one in met:
        likely = np.convolve(likely, binomial(one.games, (elo - one.elo) / ELO))
    return likely
