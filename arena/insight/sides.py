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
        """Return sums for each group and key (3 pairs x keys) of what seats did in games.

        Without `values` it is counted.
        """
        side = seat ^ self.batch.first[game]
        cell = (side * self.pairs + self.batch.pair[game]) * keys + key
        # sums of whole numbers in floats are exact up to 2**53
        sums = np.bincount(cell, values, 2 * self.pairs * keys).astype(np.int64)
        sides = sums.reshape(2, self.pairs, keys)
        return np.concatenate([sides[0], sides[1], sides[0] + sides[1]])

    def add_up_all(self, values: Ints) -> Ints:
        """Return sums for each group and key (3 pairs x keys) of values (seat, key, game)."""
        by_side = np.where(self.batch.first, values[::-1], values)
        sides = np.add.reduceat(by_side, self.starts, axis=-1).swapaxes(1, 2)
        return np.concatenate([sides[0], sides[1], sides[0] + sides[1]])

    def add(self, moments: Moments, counts: Ints, totals: Ints) -> None:
        """Add sums of these groups to the moments."""
        moments.add(self.groups, counts, totals)
