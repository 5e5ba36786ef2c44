"""Sources: from what winners and losers have their points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.batch.tally import find_sources
from arena.insight.columns_of import interval, make_frame
from arena.insight.run_games import CITY_WIN
from arena.insight.sides import Sides
from arena.statistics.intervals import Moments
from engine import Rules

SOURCES = (
    "majority_5", "majority_6", "majority_7", "majority_8",
    "sets", "alliances", "betrayals", "total",
)  # fmt: skip
_ENDS = (
    ("won", "city"),
    ("won", "points"),
    ("lost", "city"),
    ("lost", "points"),
    ("drawn", "draw"),
)
_DRAWN = len(_ENDS) - 1


class Sources:
    """Adds up the points of each bot at the end of its games, and its leads, by source.

    Forfeits are not counted.
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        self.keys = len(_ENDS) * len(SOURCES)
        self.points = Moments(len(labels) + 1, self.keys)
        self.leads = Moments(len(labels) + 1, self.keys)

    def add(self, sides: Sides) -> None:
        """Count the games of a batch."""
        batch = sides.batch
        game = np.flatnonzero(batch.finished)
        piles = batch.replay.piles[-1].take(game, axis=-1)
        by_source = find_sources(piles.astype(np.int32), self.rules)
        winner = batch.winner[game]
        by_points = batch.win_type[game] != CITY_WIN
        both, many = np.tile(game, len(SOURCES)), len(SOURCES)
        source = np.repeat(np.arange(many), len(game))
        counts, totals, leads = (np.zeros((self.keys, 3 * batch.pairs), np.int64) for _ in "123")
        for seat in (0, 1):
            end = np.where(winner < 0, _DRAWN, 2 * (winner != seat) + by_points)
            key = np.tile(end, many) * many + source
            own, other = by_source[seat].ravel(), by_source[1 - seat].ravel()
            place = both, np.full(len(both), seat), key, self.keys
            counts += sides.add_up(*place)
            totals += sides.add_up(*place, own)
            leads += sides.add_up(*place, own - other)
        sides.add(self.points, counts, totals)
        sides.add(self.leads, counts, leads)

    def table(self) -> pd.DataFrame:
        """Return a row for each bot, ending and source, and for all bots."""
        shape = len(self.labels) + 1, len(_ENDS), len(SOURCES)
        bot, end, source = np.indices(shape).reshape(3, -1)
        games = self.points.counts.ravel()
        both_sides = (bot == len(self.labels)) & (end == _DRAWN)  # a draw of all bots has both
        columns = {
            "bot": bot,
            "result": np.array(_ENDS)[end, 0],
            "win_type": np.array(_ENDS)[end, 1],
            "source": np.array(SOURCES)[source],
            "games": np.where(both_sides, games // 2, games),
            **interval("points", "points", self.points.means()),
            **interval("lead", "lead", self.leads.means()),
        }
        return make_frame(columns, self.labels, games > 0)
