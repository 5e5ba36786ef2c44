"""Kills: a run that is killed again and again while it plays."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random
from subprocess import Popen

from tests.conftest import start_command
from tests.waiting import until


def kill_often(folder: Path, words: list[str], out: str, kills: int, rng: Random) -> list[int]:
    """Kill a run into `out` so many times, each time after it has stored some games more.

    A run that has finished before its kill starts over. Return the games at each kill.
    """
    command = [*words, "--out", out]
    stored: list[int] = []
    while len(stored) < kills:
        before = count_games(folder / out)
        run = start_command(folder, *command)

        def has_more(run: Popen[str] = run, few: int = before) -> bool:
            return run.poll() is not None or count_games(folder / out) > few

        until(has_more)
        time.sleep(rng.uniform(0, 0.1))
        run.kill()
        run.communicate()
        if run.returncode == 0:
            shutil.rmtree(folder / out)
        else:
            stored.append(count_games(folder / out))
            assert stored[-1] > before
    return stored


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
