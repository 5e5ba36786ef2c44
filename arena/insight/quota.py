"""Quota: how many pairs each pairing gives to the tables, where a run has more than they read."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from arena.batch.replay import Ints


def share_out(pairs: Ints, limit: int) -> Ints:
    """Return how many of its pairs each pairing gives: `limit` (1 or more) in all, at most.

    A pairing gives all that it has up to a level, the highest one that keeps the limit; so a
    short pairing leaves its part to the longer ones, and one that was not played takes none.

    >>> share_out(np.array([2, 0, 9, 5]), 12).tolist()
    [2, 0, 5, 5]
    >>> share_out(np.array([2, 0, 9, 5]), 11).tolist()
    [2, 0, 4, 4]

    Where more pairings were played than the limit, so many of them give a pair each, evenly
    spaced. Not every k-th one: of the pairings of 1,000 bots that would leave some bots out.

    >>> share_out(np.array([2, 0, 9, 5, 1, 3]), 2).tolist()
    [1, 0, 0, 1, 0, 0]
    """
    played = np.flatnonzero(pairs)
    if len(played) > limit:
        quota = np.zeros_like(pairs)
        quota[played[np.arange(limit) * len(played) // limit]] = 1
        return quota
    levels = range(int(pairs.max(initial=0)) + 1)
    level = bisect_right(levels, limit, key=lambda most: int(np.minimum(pairs, most).sum())) - 1
    return np.minimum(pairs, level)
