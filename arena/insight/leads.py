"""Leads: how often who leads after a round wins the game."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.batch.tally import find_points
from arena.insight.columns_of import interval, make_frame
from arena.insight.sides import Sides
from arena.statistics.intervals import Moments
from engine import Rules

AFTER = ("led", "level", "behind")


class Leads:
    """Counts, after each round but the last, the games that each bot led, and their results.

    Games that ended before, and forfeits, are not counted.
    """

    def __init__(self, labels: Sequence[str], rules: Rules) -> None:
        self.labels = labels
        self.rules = rules
        self.keys = (rules.rounds - 1) * len(AFTER)
        self.moments = Moments(len(labels) + 1, self.keys, scale=2)

    def add(self, sides: Sides) -> None:
        """Count the games of a batch."""
        batch, step = sides.batch, self.rules.round_plies
        replay = batch.replay
        if not self.keys:
            return
        ends = np.arange(step, step * self.rules.rounds, step)
        points = find_points(replay.piles[ends].astype(np.int32), self.rules)
        lead = points[:, 0] - points[:, 1]
        game, number = np.nonzero(batch.finished[:, None] & (replay.plies[:, None] > ends))
        both = np.concatenate([game, game])
        seat = np.repeat([0, 1], len(game))
        ahead = np.sign(lead[number, game])
        key = np.tile(number, 2) * len(AFTER) + 1 - np.concatenate([ahead, -ahead])
        winner = batch.winner[both]
        score = np.where(winner < 0, 1, 2 * (winner == seat))
        counts = sides.add_up(both, seat, key, self.keys)
        sides.add(self.moments, counts, sides.add_up(both, seat, key, self.keys, score))

    def table(self) -> pd.DataFrame:
        """Return a row for each bot, round and `after`; for all bots only who led."""
        groups, rounds = len(self.labels) + 1, self.rules.rounds - 1
        bot, number, after = np.indices((groups, rounds, len(AFTER))).reshape(3, -1)
        games = self.moments.counts.ravel()
        columns = {
            "bot": bot,
            "round": number + 1,
            "after": np.array(AFTER)[after],
            "games": games,
            **interval("score", "score", self.moments.shares()),
        }
        shown = (games > 0) & ((bot < len(self.labels)) | (after == 0))
        return make_frame(columns, self.labels, shown)
