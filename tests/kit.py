"""Parts that the tests of several rooms are made of: runs in this process, files, refusals."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from arena.executors.local import Executor
from arena.executors.log import QUIET, RunLog
from arena.executors.worker import Worker
from arena.lanes.scratch import scratch_folder
from arena.runs.run import Playing
from arena.store.damage import enable, renew_all
from arena.tournament.config_keys import Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament
from tests.conftest import Done


class InThisProcess:
    """An executor that plays in this process."""

    def play(self, plan: Plan, tournament: Tournament, _: RunLog) -> Iterator[Played]:
        """Yield the games of the plan."""
        with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
            while chunk := plan.next():
                yield worker.play(chunk)


HERE = InThisProcess()


class Stops:
    """An executor that is stopped after so many chunks, as by Ctrl-C."""

    def __init__(
        self, chunks: int, inside: Executor = HERE, error: BaseException | None = None
    ) -> None:
        self.left, self.inside, self.error = chunks, inside, error or KeyboardInterrupt()

    def play(self, plan: Plan, tournament: Tournament, log: RunLog) -> Iterator[Played]:
        """Yield the games until then."""
        games: Any = self.inside.play(plan, tournament, log)
        with closing(games):
            for played in games:
                if not self.left:
                    raise self.error
                self.left -= 1
                yield played


CHANGING = ("run.log", "timings.csv", "run.sqlite", "run.sqlite-wal", "run.sqlite-shm")
"""The files of a run that need not be the same in every run."""


def playing(executor: Executor = HERE) -> Playing:
    """Return how to play with this executor, and show nothing."""
    venue: Any = msgspec.structs.replace(Venue(), executor=executor)
    return Playing(venue, shown=QUIET)


def same_files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of the files that are the same in every run, by their names."""
    found = filter(Path.is_file, folder.rglob("*"))
    return {path.name: path.read_bytes() for path in found if path.name not in CHANGING}


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def refused(done: Done) -> str:
    """Return the only line of a command that refuses to work, which ends with status 2."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


def count_games(folder: Path) -> int:
    """Return how many games the store of a run has, 0 where there is none yet."""
    return _count_rows(folder / "run.sqlite", "games", "ro")


def count_judged(path: Path) -> int:
    """Return how many games are kept as judged; what a kill has left half done is undone here."""
    return _count_rows(path, "judged", "rw")


def _count_rows(path: Path, table: str, mode: str) -> int:
    """Return how many rows a table of a database has, 0 where there is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode={mode}", uri=True)) as database:
            (rows,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    except sqlite3.OperationalError:
        return 0
    return int(rows)


def forge(path: Path, statement: str, *values: object) -> int:
    """Change a store, note the checksums of what it holds then, and return how many rows changed.

    Raises sqlite3.Error, after the change, where it has left nothing that has a checksum.
    """
    with closing(sqlite3.connect(path)) as database:
        with database:
            changed = database.execute(statement, values).rowcount
        with database:
            enable(database)
            renew_all(database)
    return changed
