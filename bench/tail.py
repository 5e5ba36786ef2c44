"""The end of a run alone: from the last game to the last file, of games that are there at once.

Some games are played for real, more than the tables replay, and stored again under other pair
numbers; a run over this store has nothing left to play. So the end of a run of ten million games
is measured in minutes. The times of the processor are those of the run's process.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from unittest import mock

from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs.run import run
from arena.store.damage import renew_all
from arena.store.folder import RunFolder
from arena.store.store import Store
from bench.engine import Row
from bench.ten_million import Watch, make, note

GAMES = (1_000_000, 10_000_000)
PLAYED = 200_004
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
            store._connection.execute(_REPEAT, values)
        store.commit()
    renew_all(store._connection)
    store.close()


def measure(folder: Path, games: int) -> list[Row]:
    """Return what the end of the run in this folder takes, whose games are all there."""
    tournament, watch = make(games), Watch(folder)
    begun: list[tuple[float, float]] = []
    trim = Store.trim

    def trimmed(*args: object) -> None:
        begun.append((perf_counter(), _busy()))
        watch.most = 0.0  # that of reading the store is no part of it
        trim(*args)  # type: ignore[arg-type]

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(Store, "trim", trimmed))
        note(stack, watch)
        run(tournament, LocalExecutor(2), RunFolder(folder), QUIET)
    ((start, busy),) = begun
    seconds, more = perf_counter() - start, f"{_busy() - busy:.0f} s of the processor"
    what = f"{tournament.games:,} games"
    return [
        Row(f"{what}: from the last game to the last file", f"{seconds:.0f} s", more, "60 s"),
        *[Row(f"of it {name}", f"{wall:.1f} s") for name, wall in watch.phases.items()],
        Row("the parent's memory at most, MB", f"{watch.most:.0f}", "", "under 300 for 1,000,000"),
    ]


def _busy() -> float:
    """Return the processor's seconds of this process, and of those that it has waited for."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    for row in measure(Path(sys.argv[1]), int(sys.argv[2])):
        print(f"{row.what}: {row.figure} {row.ratio}", flush=True)
