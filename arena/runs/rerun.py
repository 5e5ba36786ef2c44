"""Rerun: one game of a run played again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from arena.executors.base import Executor
from arena.executors.log import run_log
from arena.lanes.faults import Fault
from arena.tournament.plan import Plan
from arena.tournament.schedule import Fixture
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import Record
from engine.cards import to_text
from engine.state import Seat


class Rerun(NamedTuple):
    """A game that was played again: its record, the seats, the winner, and the fault.

    `winner` is a label, None for a draw.
    """

    record: Record
    seats: tuple[str, str]
    winner: str | None
    win_type: str
    points: tuple[int, int]
    plies: int
    fault: Fault | None

    @property
    def guilty(self) -> str | None:
        """The label of the bot whose fault it was, None if there was no fault."""
        return self.seats[self.winner == self.seats[0]] if self.fault else None


def play_again(tournament: Tournament, pair: int, seat: Seat, executor: Executor) -> Rerun:
    """Play the game in which the tournament's first bot has this seat, as a run plays it."""
    fixture = Fixture(tournament.pairings[0], pair, seat)
    strikes = Strikes(tournament.pairings, tournament.pairs, most=sys.maxsize)
    missing = [[range(pair, pair + 1)], *([] for _ in tournament.pairings[1:])]
    with run_log(None) as log:
        (played,) = executor.play(Plan(missing, strikes), tournament, log)
    result = played.results[seat]
    deal = to_text(fixture.draw(tournament.seed, tournament.rules).deal)
    points, opponent_points = result.points, result.opponent_points
    return Rerun(
        Record(deal, result.actions, tournament.rules),
        fixture.labels,
        None if result.winner is None else fixture.pairing[result.winner],
        result.win_type,
        (points, opponent_points) if seat == 0 else (opponent_points, points),
        result.plies,
        result.fault,
    )


def to_json(game: Rerun) -> str:
    """Return the game's record as one JSON line, with the seats and the result."""
    fault = game.fault and {"bot": game.guilty, "kind": game.fault.kind, "ply": game.plies}
    return game.record.to_json(
        bots=game.seats,
        winner=game.winner,
        win_type=game.win_type,
        points=game.points,
        **({"fault": fault} if fault else {}),
    )


def describe_fault(game: Rerun) -> Iterator[str]:
    """Yield the lines that describe the game's fault, if there was one."""
    fault = game.fault
    if fault is None:
        return
    yield f"{game.guilty} forfeits ({fault.kind} at ply {game.plies}): {fault.message}"
    for name, text in (("traceback", fault.traceback), ("printed", fault.output)):
        if text.strip():
            yield f"{name}:"
            yield from (f"  {line}" for line in text.strip().splitlines())
