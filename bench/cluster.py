"""How far one client goes: a simulated cluster (bench/simulated.py) with the real fleet and store.

`python -m bench cluster` prints the table. The seconds are simulated; the client's own work is
real, and takes as long as the processor has needed for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import psutil

from arena.entries.resolve import resolve
from arena.executors.log import QUIET
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.tournament import Tournament
from bench.engine import Row
from bench.simulated import Cluster, SimulatedExecutor
from engine import STANDARD

_BOTS = 6
_PAIRS = 5_000_000  # of a pairing: more than anybody plays here
_SECONDS = 2.0  # that are measured
_BEFORE = 2.0  # in which sites open, and the plan learns how fast the bots are
_MB = 1 << 20

QUICK_SCHEDULER = 0.0002  # seconds a call: Dask's documentation says so of its own
SLOW_SCHEDULER = 0.001
BASE = Cluster(calls=QUICK_SCHEDULER)
CASES = {
    "0.1 games/s a core, 1,000 sites": replace(BASE, rate=0.1),
    "1 game/s a core, 1,000 sites": replace(BASE, rate=1),
    "10 games/s a core, 100 sites": replace(BASE, sites=100),
    "10 games/s a core, 1,000 sites": BASE,
    "the same, a scheduler of 1 ms a call": replace(BASE, calls=SLOW_SCHEDULER),
    "1 game/s, 1,000 sites, a death every 0.5 s, one host in 20 slow": replace(
        BASE, rate=1, deaths=0.5, slow=0.05
    ),
    "100 games/s a core, 10 sites": replace(BASE, rate=100, sites=10),
    "1,000 games/s a core, 10 sites": replace(BASE, rate=1000, sites=10),
    "20,000 games/s a core, 1 site": replace(BASE, rate=20_000, sites=1),
}


class Figures(NamedTuple):
    """What a simulation has come to so far; times are seconds."""

    now: float
    busy: float
    games: int
    calls: int
    idle: float
    worked: float


def rows() -> Iterator[Row]:
    """Yield, for each cluster, what it plays, how idle its cores are, and what the client does."""
    for what, cluster in CASES.items():
        some_batches = 8 / cluster.rate
        seconds = max(_SECONDS, some_batches)
        first, last = measure(cluster, _BEFORE + some_batches, seconds)
        now, busy, games, calls, idle, worked = (
            after - before for before, after in zip(first, last, strict=True)
        )
        share = max(0.0, idle) / (idle + worked)
        memory = psutil.Process().memory_info().rss / _MB
        figure = f"{games / now:,.0f} games/s; cores idle {share:.0%}"
        more = (
            f"client {busy / now:.0%} busy, {1e6 * busy / max(1, games):,.1f} us a game,"
            f" {calls / now:,.0f} calls/s, {memory:.0f} MB in all"
        )
        yield Row(what, figure, more)


def measure(cluster: Cluster, before: float, seconds: float) -> tuple[Figures, Figures]:
    """Return the figures before and after so many seconds."""
    entries = [resolve(f"bot{number}=uniform") for number in range(_BOTS)]
    tournament = Tournament("cluster", 1, _PAIRS, entries, STANDARD)
    executor = SimulatedExecutor(cluster, before + seconds)
    found: list[Figures] = []
    for moment in (before, before + seconds):
        executor.clock.at(moment, lambda: found.append(_figures(executor)))
    with tempfile.TemporaryDirectory() as folder, suppress(TimeoutError):
        store = Store(Path(folder) / "run.sqlite")
        run(tournament, executor, None, QUIET, store=store)
    return found[0], found[1]


def _figures(executor: SimulatedExecutor) -> Figures:
    clock, places = executor.clock, executor.places
    return Figures(clock.now, clock.busy, executor.games, places.calls, *places.idle())


if __name__ == "__main__":
    for row in rows():
        print(f"{row.what}: {row.figure}; {row.ratio}", flush=True)
