"""Many bots that meet in one pair each: what a run asks of its parent, for a pairing and a game.

`python -m bench.many 100` prints the rows for 100 bots. The time is that of the parent's processor,
without the games, which it plays itself in place of a worker.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from unittest import mock

from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.executors.worker import Worker
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.tournament import Tournament
from bench.engine import Row
from bench.timing import peak
from engine import STANDARD

BOTS = 300
"""Bots by default: the figures that are asked for are of so many."""


class Spent(NamedTuple):
    """What a run took: games, seconds of the parent's processor to the last game and file, MB."""

    games: int
    play: float
    whole: float
    memory: int


def rows(bots: int = BOTS) -> Iterator[Row]:
    """Yield the parent's seconds and memory, and its time for a pairing and for a game.

    Runs of two bots, of one pair and of as many games, say what is due to neither pairings nor
    games, and what is due to games.
    """
    pairings = bots * (bots - 1) // 2
    start, long, many = (_alone(*size) for size in ((2, 1), (2, pairings), (bots, 1)))
    of_game = (long.play - start.play) / (long.games - start.games)
    of_pairing = (many.play - start.play - many.games * of_game) / pairings
    what = f"{bots} bots, {many.games:,} games"
    asked = ("10 s", "300 MB") if bots == BOTS else ("", "")
    files = f"{many.whole - many.play:.1f} s after the last game"
    yield Row(
        f"{what}: the parent's seconds to the last file", f"{many.whole:.1f}", files, asked[0]
    )
    yield Row(f"{what}: its memory at most, MB", f"{many.memory}", "", asked[1])
    yield Row("a pairing, us", f"{1e6 * of_pairing:.0f}", "", "60")
    yield Row("a game, with its part in the tables, us", f"{1e6 * of_game:.0f}", "", "15")


def _alone(bots: int, pairs: int) -> Spent:
    """Return what a run takes in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as alone:
        return alone.submit(measure, bots, pairs).result()


def measure(bots: int, pairs: int) -> Spent:
    """Return what a round robin of so many bots, who all play at random, takes."""
    entries = [resolve(f"bot{number:03}=uniform") for number in range(bots)]
    tournament = Tournament("many", 0, pairs, entries, STANDARD)
    ended: list[float] = []
    trim, play, in_games = Store.trim, Worker.play, 0.0

    def noted(*args: object) -> None:  # it is called after the last game
        ended.append(process_time() - in_games)
        trim(*args)  # type: ignore[arg-type]

    def timed(*args: Any) -> Any:
        nonlocal in_games
        begun = process_time()
        played = play(*args)
        in_games += process_time() - begun
        return played

    start = process_time()
    patches = mock.patch.object(Store, "trim", noted), mock.patch.object(Worker, "play", timed)
    with tempfile.TemporaryDirectory() as folder, patches[0], patches[1]:
        outcome = run(tournament, LocalExecutor(1), RunFolder(Path(folder)), QUIET)
    whole = process_time() - in_games - start
    return Spent(outcome.played, ended[0] - start, whole, round(peak()))


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else BOTS):
        print(f"{row.what}: {row.figure} {row.ratio}", flush=True)
