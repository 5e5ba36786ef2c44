"""Rows: the CSV files that have a row for each game or each fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

from arena.games.match import GameResult
from arena.lanes.faults import BY_RULE
from arena.store.cells import write_rows
from arena.store.csv_lines import NUMBERS
from arena.tournament.schedule import Fixture

GAME_COLUMNS = ["bot", "opponent", "pair", "seat", "winner", "win_type", *NUMBERS, "fault"]
FAULT_COLUMNS = ["game", "bot", "kind", "ply", "message", "traceback", "output", "command"]
_TRACEBACK_LINES = 4
_OUTPUT_LINES = 10


def write_games(file: TextIO, lines: Iterable[str]) -> None:
    """Write games.csv, one row a game: `bot` sat in `seat` and its opponent in the other one.

    `winner` is a label, empty for a draw; `fault` is the kind of a forfeit's fault.
    """
    file.write(",".join(GAME_COLUMNS) + "\n")
    file.writelines(lines)


def write_faults(
    file: TextIO,
    forfeits: Iterable[tuple[Fixture, GameResult]],
    command: Callable[[Fixture], str],
) -> None:
    """Write faults.csv, one row a forfeit; `command` returns the command that replays a game."""
    write_rows(file, FAULT_COLUMNS, fault_rows(forfeits, command))


def fault_rows(
    forfeits: Iterable[tuple[Fixture, GameResult]], command: Callable[[Fixture], str]
) -> Iterator[list[Any]]:
    """Yield the rows of faults.csv."""
    for fixture, result in forfeits:
        fault = result.fault
        assert fault is not None
        guilty = fixture.pairing[result.winner == 0]
        yield [
            fixture.name,
            guilty,
            fault.kind,
            result.plies,
            fault.message,
            _last_lines(fault.traceback, _TRACEBACK_LINES),
            _last_lines(fault.output, _OUTPUT_LINES),
            "" if fault.kind == BY_RULE else command(fixture),
        ]


def _last_lines(text: str, lines: int) -> str:
    """Return the last lines of a text as one line."""
    return " | ".join(line.strip() for line in text.strip().splitlines()[-lines:])
