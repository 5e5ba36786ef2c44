"""Find the games that a command is to show, in a run's folder or in a file of records.

Also opens the file to which the command writes them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TextIO

from arena.cli.options import say
from arena.errors import InputError, arena_command, writing

if TYPE_CHECKING:
    from arena.replays.finished_game import Game
    from arena.store.store import Store
    from arena.tournament.schedule import Fixture
    from arena.tournament.tournament import Tournament
    from engine import EngineError


@contextmanager
def open_out(path: Path | None) -> Iterator[TextIO]:
    """Open a new file, which is removed if writing it fails."""
    if path is None:
        yield sys.stdout
        return
    try:
        file = path.open("x", encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{path}: exists already, and is not changed") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be written: {reason}") from None
    try:
        with writing(path), file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def open_records(path: Path) -> Iterator[BinaryIO]:
    """Open a file of records; - is standard input."""
    from arena.entries.file import open_file
    from arena.store.reader import why_no_file

    if str(path) == "-":
        yield sys.stdin.buffer
        return
    if why := why_no_file(path):
        raise InputError(f"{path}: {why}")
    try:
        file = open_file(path)
    except InputError as error:
        is_run = path.is_dir() and (path / "run.sqlite").exists()
        hint = f", of a run: arena export {path} | arena replay -" if is_run else ""
        raise InputError(f"{path}: {error}{hint}") from None
    with file:
        yield file


def read_record(path: Path, line: int) -> bytes:
    """Return a line of a file of records, counted from 1; raises InputError if it has fewer."""
    from arena.replays.judge_records import read_lines

    with open_records(path) as records:
        text = next(islice(read_lines(records), line - 1, None), None)
    if text is None:
        raise InputError(f"{path}: there is no line {line}")
    return text


def is_run(target: Path, *, line: int | None, chosen: bool) -> bool:
    """Return True for the folder of a run, False for a file of records.

    Raises InputError for anything else, for a `line` of a run, and if a game is `chosen` by labels
    in a file.
    """
    if os.path.isdir(target):  # False also if it cannot be accessed
        if line is not None:
            raise InputError(f"--line: for a file of records, and {target} is a folder")
        return True
    if chosen:
        raise InputError(f"{target}: not the folder of a run; a game of a file is chosen by --line")
    if not os.path.exists(target) and str(target) != "-":
        raise InputError(f"{target}: no such file, and no such run")
    return False


def describe_place(line: int, error: EngineError) -> str:
    """Return where in a file of records an error is: the line, and the ply if it has one."""
    ply = getattr(error, "ply", None)
    return f"line {line}" if ply is None else f"line {line}, ply {ply}"


_LISTED = 20  # games


class Picked(NamedTuple):
    """A game of a run, with its tournament and fixture."""

    tournament: Tournament
    fixture: Fixture
    game: Game


def pick_game(
    path: Path, choice: tuple[Sequence[str], int | None, int | None], command: str
) -> Picked | None:
    """Return the game of a run that is chosen by labels or by its name, pair and seat.

    If the choice fits several games, prints a list of them with the `command` for one of them, and
    returns None. Raises InputError if it fits no game.
    """
    from arena.store.reader import choose, chosen_games, read_run

    tournament, store = read_run(path)
    with closing(store):
        games = chosen_games(tournament, store, choose(tournament, *choice))
        listed = list(islice(games, _LISTED + 1))
        note_extent(path, tournament, store)
    if not listed:
        raise InputError(f"{path}: no such game has been played yet")
    if len(listed) == 1:
        return Picked(tournament, *listed[0])
    say(*(f"{fixture.name}  {game.ending}" for fixture, game in listed[:_LISTED]))
    if len(listed) > _LISTED:
        say("...")
    words = arena_command(command, [path, listed[0][0].name])
    say(f"one of them, ply by ply: {words}")
    return None


def note_extent(path: Path, tournament: Tournament, store: Store) -> None:
    """Print a note on standard error if a run is not finished."""
    from arena.runs.stored_run import measure_extent

    if state := measure_extent(tournament, store).describe():
        say(f"note: {path}: {state}", err=True)
