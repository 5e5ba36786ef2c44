"""Add up what happened in games by pair, for each of its bots and for both together."""

from __future__ import annotations

import numpy as np

from arena.batch.replay import Ints
from arena.insight.run_games import Batch
from arena.statistics.intervals import Moments


class Sides:
    """The groups of a batch: each pair counts for either of its bots, and once for all bots.

    A group is a bot by its place in the run; the last group are all bots together.
    """

    def __init__(self, batch: Batch, bots: int) -> None:
        self.batch = batch
        self.pairs = batch.pairs
        self.starts = np.flatnonzero(np.diff(batch.pair, prepend=-1))
        all_bots = np.full(self.pairs, bots)
        self.groups = np.concatenate([batch.bots[:, 0], batch.bots[:, 1], all_bots])

    def add_up(
        self, game: Ints, seat: Ints, key: Ints, keys: int, values: Ints | None = None
    ) -> Ints:
        """Return sums for each key and group (keys x 3 pairs) of what seats did in games.

        Without `values` it is counted.
        """
        side = seat ^ self.batch.first[game]
        cell = (side * keys + key) * self.pairs + self.batch.pair[game]
        # sums of whole numbers in floats are exact up to 2**53
        sums = np.bincount(cell, values, 2 * keys * self.pairs).astype(np.int64)
        first, second = sums.reshape(2, keys, self.pairs)
        return np.concatenate([first, second, first + second], axis=1)

    def add_up_all(self, values: Ints) -> Ints:
        """Return sums for each key and group (keys x 3 pairs) of values (seat, key, game)."""
        by_side = np.where(self.batch.first, values[::-1], values)
        first, second = np.add.reduceat(by_side, self.starts, axis=-1)
        return np.concatenate([first, second, first + second], axis=1)

    def add(self, moments: Moments, counts: Ints, totals: Ints) -> None:
        """Add sums of these groups to the moments."""
        moments.add(self.groups, counts, totals)
