"""Ask `champion` for each seat's chance to win at every ply of many games.

They are the numbers that its `chance` returns, found for all plies of some games at once.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from arena.batch.replay import Replay
from arena.entries.resolve import resolve
from arena.insight.run_games import Batch
from arena.statistics.distributions import Floats
from engine import STANDARD, TAKE

BOT = "champion"
"""The bot whose values these are."""


class _Values(Protocol):
    """A bot that says of many games what its `chance` says of one position."""

    def chances(self, games: Replay, /) -> Any:
        """Return the chance of seat 0 before each ply (ply, game)."""


def chances_of(batch: Batch) -> Floats:
    """Return the chance of seat 0 to win before each ply and at the end (games x plies + 1).

    After the end of a game it is the result, and so it is in the last round when both seats have
    taken. The rules are the published ones.
    """
    bot: _Values = resolve(BOT).load()
    games, plies = batch.actions.shape
    found = np.empty((plies + 1, games))
    found[:plies] = bot.chances(batch.replay)
    last = plies - STANDARD.round_plies
    is_known = np.arange(plies + 1)[:, None] >= batch.replay.plies
    takes = np.cumsum(batch.actions.T[last:] == TAKE, axis=0)
    is_known[last + 1 :] |= takes >= 2
    result = np.where(batch.winner < 0, 0.5, 1 - batch.winner)
    np.copyto(found, result, where=is_known)
    return found.T
