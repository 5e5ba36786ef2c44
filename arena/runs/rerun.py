"""Rerun: one game of a run played again."""

from __future__ import annotations

import sys

from arena.executors.base import Executor
from arena.executors.log import run_log
from arena.replays.game import Game
from arena.tournament.plan import Plan
from arena.tournament.schedule import Fixture
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine.state import Seat


def play_again(tournament: Tournament, pair: int, seat: Seat, executor: Executor) -> Game:
    """Play the game in which the tournament's first bot has this seat, as a run plays it."""
    fixture = Fixture(tournament.pairings[0], pair, seat)
    strikes = Strikes(tournament.pairings, tournament.most_pairs, most=sys.maxsize)
    missing = [[range(pair, pair + 1)], *([] for _ in tournament.pairings[1:])]
    with run_log(None) as log:
        (played,) = executor.play(Plan(missing, strikes), tournament, log)
    return Game.of(tournament, fixture, played.results[seat])
