"""Decisive: in which round, by which action, and for whom the chance to win changed most.

No game is played otherwise to see whether it would have ended in another way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.batch.tally import seat_at
from arena.insight.chances import chances_of
from arena.insight.columns_of import interval, make_frame
from arena.insight.sides import Sides
from arena.insight.swing_games import Turns
from arena.statistics.counts import WIN_TYPES
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Moments
from engine import STANDARD, TAKE

_ENDED = WIN_TYPES[:-1]  # those that are not forfeits
_DRAW = _ENDED.index("draw")
_ACTIONS = ("play", "take")
_UNIT = 1 << 20  # a swing is counted in parts of this size: whole numbers add up in any order
_MOST_TURNS = 10
_KEYS = len(_ENDED) * STANDARD.rounds * len(_ACTIONS)


class Decisive:
    """Counts the decisive plies: those with the largest swing in the chance to win.

    A game counts for its winner, and a draw only for all bots together. The chances are
    those of `champion` under the published rules; forfeits are not counted.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        groups = len(labels) + 1
        self.share = Moments(groups, _KEYS)
        self.swing = Moments(groups, _KEYS, scale=_UNIT)
        self.own = Moments(groups, _KEYS)
        self.turns = Turns(_MOST_TURNS)

    def add(self, sides: Sides) -> None:
        """Count the games of a batch."""
        batch = sides.batch
        ply, swing = find_decisive(chances_of(batch))
        game = np.flatnonzero(batch.finished & (batch.replay.plies > 0))
        ply, swing, winner = ply[game], swing[game], batch.winner[game]
        self.turns.add(batch, game, ply, swing)
        number = ply // STANDARD.round_plies
        is_take = batch.actions[game, ply] == TAKE
        key = (batch.win_type[game] * STANDARD.rounds + number) * len(_ACTIONS) + is_take
        own = seat_at(ply, STANDARD) == winner
        counts, swings, owns = (
            self._only_winners(sides.add_up(game, np.maximum(winner, 0), key, _KEYS, values), sides)
            for values in (None, np.rint(swing * _UNIT).astype(np.int64), own)
        )
        by_type = counts.reshape(len(_ENDED), -1, counts.shape[1])
        of_type = np.broadcast_to(by_type.sum(axis=1, keepdims=True), by_type.shape)
        sides.add(self.share, of_type.reshape(counts.shape), counts)
        sides.add(self.swing, counts, swings)
        sides.add(self.own, counts, owns)

    def _only_winners(self, sums: Ints, sides: Sides) -> Ints:
        """Return sums without the draws of single bots."""
        width = _KEYS // len(_ENDED)
        sums[_DRAW * width : (_DRAW + 1) * width, : 2 * sides.pairs] = 0
        return sums

    def table(self) -> pd.DataFrame:
        """Return a row for each winner, win type, round and action, and for all bots."""
        shape = len(self.labels) + 1, len(_ENDED), STANDARD.rounds, len(_ACTIONS)
        bot, ended, number, action = np.indices(shape).reshape(4, -1)
        games = self.swing.counts.ravel()
        columns = {
            "bot": bot,
            "win_type": np.array(_ENDED)[ended],
            "round": number + 1,
            "action": np.array(_ACTIONS)[action],
            "games": games,
            **interval("share", "share", self.share.shares()),
            **interval("swing", "swing", self.swing.means()),
            **interval("own", "own", self.own.shares()),
        }
        columns |= {
            name: np.where(ended == _DRAW, np.nan, columns[name])
            for name in ("own", "own_low", "own_high")
        }
        return make_frame(columns, self.labels, games > 0)


def find_decisive(chances: Floats) -> tuple[Ints, Floats]:
    """Return the ply with the largest swing of each game, the first among equals, and the swing.

    `chances` has a row a game: the chance before each ply, and at the end.
    """
    swings = np.abs(np.diff(chances, axis=1))
    ply = swings.argmax(axis=1)
    return ply, swings[np.arange(len(ply)), ply]
