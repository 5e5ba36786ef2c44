"""A run of a million games: whether its memory and its speed stay the same.

`python -m bench.endurance [GAMES]` prints the row; it takes some minutes.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, sleep
from unittest import mock

import psutil

from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.plan import Played
from arena.tournament.tournament import Tournament
from bench.engine import Row
from engine import STANDARD

GAMES = 1_000_000
_MB = 1 << 20


class _Watch(threading.Thread):
    """Notes the memory of this process twice a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self.memory = psutil.Process().memory_info().rss

    def run(self) -> None:
        while True:
            self.most = max(self.most, psutil.Process().memory_info().rss)
            sleep(0.5)


def rows(games: int = GAMES) -> Iterator[Row]:
    """Yield the parent's memory, and the speed of the last tenth beside that of the first."""
    times: list[tuple[int, float]] = [(0, perf_counter())]
    add = Store.add

    def noted(store: Store, *chunks: Played) -> None:
        add(store, *chunks)
        games = sum(len(played.results) for played in chunks)
        times.append((times[-1][0] + games, perf_counter()))

    watch = _Watch()
    watch.start()
    with tempfile.TemporaryDirectory() as folder:
        entries = [resolve("uniform"), resolve("greedy")]
        tournament = Tournament("endurance", 0, games // 2, entries, STANDARD)
        with mock.patch.object(Store, "add", noted):
            results = run(tournament, LocalExecutor(2), RunFolder(Path(folder)), QUIET)
        size = (Path(folder) / "run.sqlite").stat().st_size
    first, last = _rate(times, 0, games // 10), _rate(times, games - games // 10, games)
    yield Row(f"{games:,} games: games/s to the last file", f"{games / results.seconds:,.0f}")
    yield Row("the parent's memory at most, MB", f"{watch.most / _MB:.0f}", "", "under 300")
    yield Row(
        "last tenth, games/s", f"{last:,.0f}", f"{last / first:.2f} of the first", "0.9 to 1.1"
    )
    yield Row("run.sqlite, MB", f"{size / _MB:.0f}")


def _rate(times: list[tuple[int, float]], start: int, end: int) -> float:
    """Return games/s between the first readings at or after two numbers of games."""
    (one, begin), (other, until) = (
        next(reading for reading in times if reading[0] >= min(wanted, times[-1][0]))
        for wanted in (start, end)
    )
    return (other - one) / (until - begin)


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else GAMES):
        print(f"{row.what}: {row.figure} {row.ratio}")
