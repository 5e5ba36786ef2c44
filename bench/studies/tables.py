"""A landscape that is a table of real pairs: every setting of a lattice has played the same deals.

The truth is the mean of the table, so that it is exact. Where the table is small, its means are
smoothed first, and the score of a few pairs is changed by a quarter so that they have these means.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from arena.statistics.distributions import Floats
from arena.statistics.sprt import elo_of
from bench.studies.branching import Halves, Indices
from bench.studies.families import PANEL, SEED
from bench.studies.smoothing import smooth

_LEAST: Final = 5000  # deals from which on the means need no smoothing


class Table:
    """Quarters that pairs have scored, a row for each deal and a column for each setting."""

    def __init__(self, name: str, steps: tuple[int, ...], places: Floats, quarters: Halves) -> None:
        self.name = name
        self.steps = steps
        self.dims = len(steps)
        self.places = places
        self.raw = quarters
        self.quarters = quarters
        if len(quarters) < _LEAST:
            self.quarters = _changed(quarters, smooth(places, quarters.mean(0)).at(places))
        self.elos = np.array([elo_of(share) for share in self.quarters.mean(0) / 4])
        self._sides = [np.arange(side, len(quarters), len(PANEL)) for side in range(len(PANEL))]

    def play(self, settings: Floats, deals: int, rng: np.random.Generator) -> Floats:
        """Return the scores of pairs per game, a row for each setting."""
        chosen = self._draw(deals, rng)
        columns = self.index(np.atleast_2d(settings))
        return np.asarray(self.quarters[chosen[None, :], columns[:, None]] / 4)

    def regret(self, setting: Floats) -> float:
        """Return the Elo points by which a setting is below the best."""
        return float(self.elos.max() - self.elos[self.index(np.atleast_2d(setting))[0]])

    def index(self, settings: Floats) -> Indices:
        """Return the columns of the nearest settings of the lattice."""
        most = np.array(self.steps) - 1
        nearest = np.rint(np.clip(settings, 0, 1) * most).astype(np.intp)
        return np.asarray(np.ravel_multi_index(tuple(nearest.T), self.steps))

    def _draw(self, deals: int, rng: np.random.Generator) -> Indices:
        """Return deals against the panel in turn, whose first opponent luck chooses."""
        chosen = np.empty(deals, dtype=np.intp)
        first = int(rng.integers(len(PANEL)))
        for turn in range(len(PANEL)):
            side = self._sides[(first + turn) % len(PANEL)]
            wanted = len(range(turn, deals, len(PANEL)))
            chosen[turn :: len(PANEL)] = rng.choice(side, wanted, replace=wanted > len(side))
        return chosen


def _changed(quarters: Halves, means: Floats) -> Halves:
    """Return quarters with these means: as few scores as possible are other ones, by one."""
    rng = np.random.default_rng(SEED)
    changed = quarters.copy()
    wanted = np.rint(means * len(quarters)).astype(int) - quarters.sum(0, dtype=int)
    for column, number in zip(changed.T, wanted, strict=True):
        if number > 0:
            column[rng.choice(np.flatnonzero(column < 4), number, replace=False)] += 1
        else:
            column[rng.choice(np.flatnonzero(column > 0), -number, replace=False)] -= 1
    return changed
