"""How long the files of a run take, once all of its games are in the store.

The games are made up: a bot has a strength, and a game is won by chance.
"""

from __future__ import annotations

import math
import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from time import perf_counter, process_time

from arena.differences.run_files import make_files
from arena.entries.entry import Entry
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from bench.engine import Row
from bench.timing import peak
from engine import STANDARD

SIZES = ((6, 33_334), (100, 102))
"""Bots and pairs: a million games each."""

FIELD = ((1000, 1),)
"""The same of a field in which few games share a pairing; it takes as long as all others."""

ASKED = "30 s"


def rows(sizes: tuple[tuple[int, int], ...] = SIZES) -> Iterator[Row]:
    """Yield the seconds from the store to the last file, and the memory of the process."""
    context = multiprocessing.get_context("spawn")
    for bots, pairs in sizes:
        with ProcessPoolExecutor(1, mp_context=context) as alone:
            games, tables, files, busy, memory = alone.submit(measure, bots, pairs).result()
        pairings = bots * (bots - 1) // 2
        what = f"{games:,} games of {bots:,} bots, {pairings:,} pairings"
        yield Row(f"{what}: tables", f"{tables:.1f} s")
        asked = ASKED if bots <= 100 else ""
        more = f"{busy:.1f} s of the processor, {memory:,} MiB"
        yield Row(f"{what}: all files", f"{files:.1f} s", more, asked)


def measure(bots: int, pairs: int) -> tuple[int, float, float, float, int]:
    """Return games, seconds to the tables and to the last file, the processor's, and MiB."""
    tournament, store = make_run(bots, pairs)
    start, busy = perf_counter(), process_time()
    files = make_files(tournament, store)
    tables = perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        RunFolder(Path(folder)).write(files.writers)
    seconds = perf_counter() - start
    return tournament.games, tables, seconds, process_time() - busy, round(peak())


def make_run(bots: int, pairs: int) -> tuple[Tournament, Store]:
    """Return a round robin and its games."""
    rng = Random(1)
    entries = [
        Entry(f"bot{number:04}", "uniform", "inproc", "", "", sha256="0" * 64)
        for number in range(bots)
    ]
    strengths = {entry.label: rng.gauss(0.0, 0.7) for entry in entries}
    tournament = Tournament("bench", 7, pairs, entries, STANDARD)
    store = Store(None)
    for number, (bot, opponent) in enumerate(tournament.pairings):
        share = 1 / (1 + math.exp(strengths[opponent] - strengths[bot]))
        games = [_game(rng, share, game) for game in range(2 * pairs)]
        store.add(Played(Chunk(number, 0, pairs), games, {}, 0.0))
    store.commit()
    return tournament, store


def _game(rng: Random, share: float, number: int) -> GameResult:
    win_type = "city" if rng.random() < 0.15 else "points"
    points, winner = rng.randrange(10, 40), int(rng.random() >= share)
    return GameResult(number // 2, number % 2, winner, win_type, points, 20, 48, None, "5" * 48)
