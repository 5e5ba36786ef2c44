"""Ten million games for real, of the cheapest bot: what they ask of the run's parent.

`python -m bench ten_million --save` keeps the table; it takes half an hour or more, and a folder
with a gigabyte. `python -m bench.ten_million FOLDER [GAMES]` prints it, and goes on with the run
that is in the folder.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any
from unittest import mock

import psutil

from arena.differences import run_files as files
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.reports import run_report
from arena.runs.run import run
from arena.store import csv_files as rows
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.plan import Played
from arena.tournament.tournament import Tournament
from bench.engine import Row
from engine import STANDARD

GAMES = 10_000_000
BOTS = ("uniform", "second=uniform", "third=uniform")
_PAIRINGS = 3
_PARTS = 10
_MB = 1_000_000
PHASES = (
    ("games of an earlier run left out", Store, "trim"),
    ("counting all games", Store, "count"),
    ("verdicts on every two bots", files.RunTables, "judge"),
    ("tables of how games were won", files, "make_win_tables"),
    ("report, with these tables", run_report, "make_report"),
    ("games.csv, meanwhile", rows, "write_games"),
)
"""What the end of a run is made of: a name, and the function."""


class Watch:
    """Notes the parent's memory and its processor's time while games come in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = psutil.Process()
        self.games = 0
        self.most = 0.0
        self.begun = self.last = perf_counter(), process_time()
        self.marks: list[tuple[int, float, float, float]] = []
        self.phases: dict[str, float] = defaultdict(float)
        self.every = 1
        threading.Thread(target=self._look, daemon=True).start()

    def add(self, chunks: Sequence[Played]) -> None:
        """Take note of chunks."""
        if not self.games:
            self.begun = perf_counter(), process_time()
        self.games += sum(len(played.results) for played in chunks)
        self.last = perf_counter(), process_time()
        if self.games >= self.every * (len(self.marks) + 1):
            rate = self.games / (self.last[0] - self.begun[0])
            self.marks.append((self.games, rate, self.memory(), self.size()))

    def memory(self) -> float:
        """Return the megabytes of this process now."""
        return float(self.process.memory_info().rss) / _MB

    def size(self) -> float:
        """Return the megabytes of the folder now."""
        return sum(path.stat().st_size for path in self.folder.rglob("*.*")) / _MB

    def _look(self) -> None:
        while True:
            self.most = max(self.most, self.memory())
            sleep(0.2)


def make(games: int) -> Tournament:
    """Return a round robin of so many games, and up to five more."""
    pairs = -(-games // (2 * _PAIRINGS))
    return Tournament("ten_million", 3, pairs, [resolve(bot) for bot in BOTS], STANDARD)


def table(games: int = GAMES) -> Iterator[Row]:
    """Yield the table of a run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        yield from measure(Path(folder), games)


def measure(folder: Path, games: int = GAMES) -> Iterator[Row]:
    """Yield what a run in this folder asks of its parent; it goes on where it was stopped."""
    tournament, watch = make(games), Watch(folder)
    watch.every = tournament.games // _PARTS
    with ExitStack() as stack:
        note(stack, watch)
        outcome = run(tournament, LocalExecutor(2), RunFolder(folder), QUIET)
    ended = perf_counter(), process_time()
    yield Row(f"{tournament.games:,} games: kept from an earlier run", f"{outcome.kept:,}")
    for number, rate, memory, size in watch.marks:
        more = f"the folder {size:,.0f} MB, {rate:,.0f} games/s so far"
        yield Row(f"after {number:,} more: the parent, MB", f"{memory:.0f}", more)
    if watch.games:
        wall, busy = _between(watch.begun, watch.last)
        own = f"{1e6 * busy / watch.games:.1f}"
        yield Row("the parent's own time for a game, us", own, f"{busy / wall:.0%} of a core")
    wall, busy = _between(watch.last if watch.games else watch.begun, ended)
    more = f"{busy:.0f} s of the processor"
    yield Row("from the last game to the last file", f"{wall:.0f} s", more, "60 s")
    for name, *_ in PHASES:
        yield Row(f"of it {name}", f"{watch.phases[name]:.1f} s")
    yield Row("the parent's memory at most, MB", f"{watch.most:.0f}", "", "under 300 for 1,000,000")
    yield Row("the folder in the end, MB", f"{watch.size():,.0f}")


def _between(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    return end[0] - start[0], end[1] - start[1]


def note(stack: ExitStack, watch: Watch) -> None:
    """Let the functions of a run say when they are called, and how long they take."""
    add = Store.add

    def noted(store: Store, *chunks: Played) -> None:
        add(store, *chunks)
        watch.add(chunks)

    stack.enter_context(mock.patch.object(Store, "add", noted))
    for name, owner, function in PHASES:
        timed = _timed(getattr(owner, function), name, watch)
        stack.enter_context(mock.patch.object(owner, function, timed))


def _timed(function: Callable[..., Any], name: str, watch: Watch) -> Callable[..., Any]:
    def timed(*args: Any, **named: Any) -> Any:
        start = perf_counter()
        try:
            return function(*args, **named)
        finally:
            watch.phases[name] += perf_counter() - start

    return timed


if __name__ == "__main__":
    place = Path(sys.argv[1])
    for row in measure(place, int(sys.argv[2]) if len(sys.argv) > 2 else GAMES):
        print(f"{row.what}: {row.figure} {row.ratio}", flush=True)
