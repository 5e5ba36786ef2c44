"""Longest: an upper bound of how long a tournament can take, from the limits of its bots."""

from __future__ import annotations

import math

from arena.lanes.limits import MOST_WAITING
from arena.tournament.tournament import Tournament

_PLAYED_TWICE = 2  # a game is played again by itself where an answer may have been late
_TRIES = 6  # of a game in which a bot's process ends, and of its start


def longest_seconds(tournament: Tournament, workers: int) -> float:
    """Return the seconds that a tournament takes at most, if each worker has a processor.

    Every bot uses all the time that it may: in each game, for each turn that it waits, for what
    it sleeps in a run, and for its faults until it is out. On a machine that is busy with other
    things it can take ten times as long.
    """
    limits = tournament.limits
    decisions = tournament.rules.game_plies / 2
    thinks = min(decisions * limits.decision, limits.game or math.inf)
    waits = decisions * MOST_WAITING
    starts = limits.start if tournament.halves == "apart" else 0.0  # at most before each game
    of_games = 2 * tournament.games * (_PLAYED_TWICE * (thinks + waits) + starts) / workers
    of_a_fault = _TRIES * (thinks + limits.start)
    of_a_bot = limits.budget().seconds + tournament.max_faults * of_a_fault
    return of_games + len(tournament.entries) * of_a_bot
