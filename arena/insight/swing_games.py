"""Turns: the games of a run with the greatest turns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.insight.run_games import Batch
from arena.statistics.distributions import Floats
from engine.state import Seat

_DIGITS = 6


class Turn(NamedTuple):
    """The decisive ply of the game of this place: by how much it changed the chance to win."""

    swing: float
    pairing: int
    pair: int
    seat: Seat
    ply: int


class Turns:
    """Keeps the games whose decisive plies have the largest swings."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.kept: list[Turn] = []

    def add(self, batch: Batch, game: Ints, ply: Ints, swing: Floats) -> None:
        """Look at some games of a batch; they come with their decisive plies."""
        pair = batch.pair[game]
        place = batch.first[game], batch.number[pair], batch.pairing[pair]
        order = np.lexsort((*place, -swing.round(_DIGITS)))[: self.most]
        games, pair = game[order], pair[order]
        rows = zip(
            swing[order].round(_DIGITS).tolist(),
            batch.pairing[pair].tolist(),
            batch.number[pair].tolist(),
            batch.first[games].tolist(),
            ply[order].tolist(),
            strict=True,
        )
        self.kept += map(Turn._make, rows)
        self.kept.sort(key=lambda turn: (-turn.swing, *turn[1:]))
        del self.kept[self.most :]

    def table(self) -> pd.DataFrame:
        """Return a row for each game, the greatest turn first."""
        return pd.DataFrame(self.kept, columns=Turn._fields)
