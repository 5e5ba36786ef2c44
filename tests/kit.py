"""Parts that the tests of several rooms are made of: runs in this process, files, refusals."""

from __future__ import annotations

import csv
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import psutil

from arena.executors.local import Executor
from arena.executors.log import QUIET, RunLog
from arena.executors.worker import Worker
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.runs.run import Playing
from arena.store.damage import enable, renew_all
from arena.tournament.config_keys import Venue
from arena.tournament.match import GameResult
from arena.tournament.plan import Plan, Played
from arena.tournament.schedule import Strikes
from arena.tournament.tournament import Tournament
from tests import ROOT
from tests.conftest import Done
from tests.waiting import PATIENCE, until


class InThisProcess:
    """An executor that plays in this process."""

    def play(self, plan: Plan, tournament: Tournament, _: RunLog) -> Iterator[Played]:
        """Yield the games of the plan."""
        with scratch_folder() as folder, closing(Worker(tournament, folder)) as worker:
            while chunk := plan.next():
                yield worker.play(chunk)


HERE = InThisProcess()


Games = dict[tuple[int, int, int], GameResult]
"""Results by pairing, pair and seat."""


def plan_for(tournament: Tournament, pairings: int | None = None) -> Plan:
    """Return a plan of every game of the first pairings, by default of all."""
    pairs, number = tournament.pairs, len(tournament.pairings[:pairings])
    return Plan([[range(pairs)]] * number, Strikes(tournament.pairings, pairs, most=1000))


def play_plan(
    tournament: Tournament,
    executor: Executor = HERE,
    log: RunLog | None = None,
    pairings: int | None = None,
) -> Games:
    """Play the games of the first pairings, of which none may come twice, and return them."""
    plan, games = plan_for(tournament, pairings), Games()
    for played in executor.play(plan, tournament, log or RunLog([])):
        plan.learn(played)
        for game in played.results:
            place = (played.chunk.pairing, *game[:2])
            assert place not in games
            games[place] = game
    return games


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


def marked_processes(mark: str) -> list[psutil.Process]:
    """Return the running processes with this mark in their environment or arguments."""
    processes = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError, psutil.Error):  # a dead one has neither
            words = [Path("/proc", name, what).read_bytes() for what in ("environ", "cmdline")]
            if any(os.fsencode(mark) in some for some in words):
                processes.append(psutil.Process(int(name)))
    return [process for process in processes if process.pid != os.getpid()]


def assert_none_is_left(mark: str) -> None:
    """Wait until no process with this mark is running."""
    until(lambda: not marked_processes(mark))


def run_python(
    *words: str, folder: Path, text: str = "", environment: dict[str, str] | None = None
) -> Done:
    """Run Python with these words in a folder, where it finds the arena."""
    found = {"PYTHONPATH": str(ROOT)} | (environment or {})
    return run_program(sys.executable, *words, folder=folder, text=text, **found)


def run_program(*words: object, folder: Path = ROOT, text: str = "", **environment: str) -> Done:
    """Run a program with these words in a folder, and this text as its input."""
    return subprocess.run(
        [*map(str, words)],
        cwd=folder,
        env=os.environ | environment,
        input=text,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=PATIENCE,
        check=False,
    )


@contextmanager
def serving(server: Any, bound: socket.socket) -> Iterator[None]:
    """Let a server answer in another thread."""
    thread = Thread(target=server.run_until_end, args=(bound, lambda: None))
    thread.start()
    try:
        until(lambda: server.started or not thread.is_alive())
        yield
    finally:
        server.end()
        thread.join(PATIENCE)


def count_games(folder: Path) -> int:
    """Return how many games the store of a run has, 0 where there is none yet."""
    return _count_rows(folder / "run.sqlite", "games", "ro")


def count_judged(folder: Path) -> int:
    """Return how many games of a run are kept as judged."""
    return _count_rows(folder / "run.sqlite", "judged", "rw")


def _count_rows(path: Path, table: str, mode: str) -> int:
    """Return how many rows a table of a database has, 0 where there is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode={mode}", uri=True)) as database:
            (rows,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    except sqlite3.OperationalError:
        return 0
    return int(rows)


def content(folder: Path) -> list[list[tuple[Any, ...]]]:
    """Return all rows of all tables of the store of a run."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        tables = database.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
        return [database.execute(f"SELECT * FROM {name}").fetchall() for (name,) in tables]


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
