"""Difference: what a changed bot scores more than before, by deal, and what that is in Elo.

Both versions play the same deals against the same opponents with the same generators. So most
of the luck of a deal is in the scores of both, and the difference of the two scores is far surer
than either of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from arena.statistics.sprt import elo_of, share_of

_MOST_ELO = 8000.0
_BISECTIONS = 100


def prior_share(total: float, pairs: int) -> float:
    """Return a share of the score, 0 to 1, from so many pairs and one more that is even.

    >>> prior_share(2.0, 1)
    0.75
    """
    return (total + 1) / (2 * (pairs + 1))


def mean_difference(shares: Sequence[float], elo: float) -> float:
    """Return by how much a pair's score rises with `elo`, on average over opponents.

    `shares` are the old version's shares of the score against each of them, between 0 and 1.

    >>> round(mean_difference([0.5], 10), 4), round(mean_difference([0.5, 0.99], 10), 4)
    (0.0288, 0.0149)
    """
    risen = [share_of(elo_of(share) + elo) - share for share in shares]
    return 2 * math.fsum(risen) / len(shares)


def elo_difference(shares: Sequence[float], difference: float, deals: int) -> float:
    """Return the Elo points by which the share of the score rises so much: it is finite.

    A share that would be nearer to 0 or 1 than a quarter of a pair of `deals` and one more is
    taken to be there.

    >>> round(elo_difference([0.5, 0.99], 0.0149 / 2, 1000))
    10
    >>> round(elo_difference([0.5], 0.5, 9))
    636
    """
    edge = 0.25 / (deals + 1)
    old = math.fsum(shares) / len(shares)
    wanted = min(1 - edge, max(edge, old + difference)) - old
    low, high = -_MOST_ELO, _MOST_ELO
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if mean_difference(shares, middle) / 2 < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
