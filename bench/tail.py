"""The end of a run alone: from the last game to the last file, of games that are there at once.

Some games are played for real, more than the tables replay, and stored again under other pair
numbers; a run over this store has nothing left to play. So the end of a run of ten million games
is measured in minutes. The times of the processor are those of the run's process.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, sleep
from typing import Any
from unittest import mock

import psutil

from arena.differences import run_files as files
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.reports import run_report
from arena.runs.run import run
from arena.store import csv_files
from arena.store.damage import renew_all
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.tournament import Tournament
from bench.engine import Row
from engine import STANDARD

GAMES = (1_000_000, 10_000_000)
PLAYED = 200_004
BOTS = ("uniform", "second=uniform", "third=uniform")
_PAIRINGS = 3
_MB = 1_000_000
PHASES = (
    ("counting all games", Store, "count"),
    ("tables of how games were won", files, "make_win_tables"),
    ("report, with these tables", run_report, "make_report"),
    ("games.csv, meanwhile", csv_files, "write_games"),
)
"""What the end of a run is made of: a name, and the function."""
_REPEAT = """
INSERT INTO games SELECT pairing, pair + ?1, seat, winner, win_type, points, opponent_points,
    plies, fault, actions
FROM games WHERE pairing = ?2 AND pair < min(?3, ?4 - ?1) ORDER BY pairing, pair, seat
"""


def table() -> Iterator[Row]:
    """Yield what the end of a run takes, for each number of games."""
    for games in GAMES:
        with tempfile.TemporaryDirectory() as folder:
            repeat(Path(folder), games)
            with ProcessPoolExecutor(1, get_context("spawn")) as apart:  # its memory is its own
                yield from apart.submit(measure, Path(folder), games).result()


def repeat(folder: Path, games: int) -> None:
    """Play some games of a run into its folder, and store them again as the others."""
    played, whole = make(PLAYED), make(games)
    run(played, LocalExecutor(2), RunFolder(folder), QUIET)
    store = Store(folder / "run.sqlite")
    store.begin(whole.manifest())
    for pairing in range(len(whole.pairings)):
        for first in range(played.pairs, whole.pairs, played.pairs):
            values = first, pairing, played.pairs, whole.pairs
            store.connection.execute(_REPEAT, values)
        store.commit()
    renew_all(store.connection)
    store.commit()
    store.close()


def make(games: int) -> Tournament:
    """Return a round robin of so many games, and up to five more."""
    pairs = -(-games // (2 * _PAIRINGS))
    return Tournament("tail", 3, pairs, [resolve(bot) for bot in BOTS], STANDARD)


def measure(folder: Path, games: int) -> list[Row]:
    """Return what the end of the run in this folder takes, whose games are all there."""
    tournament, begun, memory = make(games), list[tuple[float, float]](), [0.0]
    phases: dict[str, float] = defaultdict(float)
    trim = Store.trim

    def trimmed(*args: object) -> None:
        begun.append((perf_counter(), _busy()))
        threading.Thread(target=_watch, args=[memory], daemon=True).start()
        trim(*args)  # type: ignore[arg-type]

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(Store, "trim", trimmed))
        for name, owner, function in PHASES:
            timed = _timed(getattr(owner, function), name, phases)
            stack.enter_context(mock.patch.object(owner, function, timed))
        run(tournament, LocalExecutor(2), RunFolder(folder), QUIET)
    ((start, busy),) = begun
    seconds, more = perf_counter() - start, f"{_busy() - busy:.0f} s of the processor"
    what = f"{tournament.games:,} games"
    return [
        Row(f"{what}: from the last game to the last file", f"{seconds:.0f} s", more, "60 s"),
        *[Row(f"of it {name}", f"{wall:.1f} s") for name, wall in phases.items()],
        Row("the parent's memory at most, MB", f"{max(memory):.0f}", "", "under 300 for 1,000,000"),
    ]


def _watch(memory: list[float]) -> None:
    """Note the megabytes of this process again and again."""
    while True:
        memory.append(psutil.Process().memory_info().rss / _MB)
        sleep(0.2)


def _timed(function: Callable[..., Any], name: str, phases: dict[str, float]) -> Callable[..., Any]:
    def timed(*args: Any, **named: Any) -> Any:
        start = perf_counter()
        try:
            return function(*args, **named)
        finally:
            phases[name] += perf_counter() - start

    return timed


def _busy() -> float:
    """Return the processor's seconds of this process, and of those that it has waited for."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    for row in measure(Path(sys.argv[1]), int(sys.argv[2])):
        print(f"{row.what}: {row.figure} {row.ratio}", flush=True)
