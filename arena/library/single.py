"""Playing: a single game between two bots."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.lanes.limits import Limits
from arena.library.bots import Bot
from arena.library.request import request
from arena.runs.rerun import add_thoughts, play_again
from arena.store.finished import Game
from arena.tournament.keys import MOST_PAIRS
from engine import Rules
from engine.errors import show


def play(
    bot: Bot,
    opponent: Bot,
    *,
    seed: int = 0,
    pair: int = 0,
    seat: int = 0,
    rules: Mapping[str, Any] | Rules | None = None,
    lane: str | None = None,
    limits: Mapping[str, Any] | Limits | None = None,
    thoughts: bool = False,
) -> Game:
    """Play one game, in which `bot` has this seat, within the arena's limits.

    It is the game of this pair and seat in every run with this seed in which the bots have
    these labels. A bot that does something wrong forfeits, and `fault` says why. With `thoughts`
    the bots are asked what they thought of their actions, where they can say it. Raises
    InputError for what cannot be played.

    >>> game = play("greedy", "uniform", seed=3)
    >>> game.seats, game.ending
    (('greedy', 'uniform'), 'greedy wins on points, 19 : 11')
    """
    if type(pair) is not int or not 0 <= pair < MOST_PAIRS:
        raise InputError(f"pair: {show(pair)} is not a number from 0 to {MOST_PAIRS - 1:,}")
    if type(seat) is not int or seat not in (0, 1):
        raise InputError(f"seat: {show(seat)} is not 0 or 1")
    given = {"seed": seed, "rules": rules, "lane": lane, "limits": limits}
    default = {"name": "game", "pairs": pair + 1}
    tournament, _ = request([bot, opponent], None, given, default)
    game = play_again(tournament, pair, seat, LocalExecutor(1))
    if thoughts:
        game, note = add_thoughts(tournament, tournament.fixture(0, pair, seat), game)
        if note:
            warnings.warn(note, stacklevel=2)
    return game
