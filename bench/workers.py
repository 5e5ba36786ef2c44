"""How much of the engine's speed reaches the CSV files, and what a second worker adds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs.run import run
from arena.store.folder import RunFolder
from arena.tournament import config
from arena.tournament.tournament import Tournament
from bench.engine import Row
from engine import STANDARD, play_game

QUICKSTART = Path(__file__).parent.parent / "configs" / "quickstart.yaml"
ROUNDS = 3
ENGINE_SECONDS = 2.0
RUN_SECONDS = 10.0


def rows() -> Iterator[Row]:
    """Yield games/s to the last file on one and two workers, beside the engine's own."""
    cheap = [resolve("uniform"), resolve("greedy")]
    quickstart = config.resolve_bots(config.read(QUICKSTART))
    for name, entries, asked in (
        ("uniform - greedy", cheap, "0.85"),
        ("quickstart", quickstart, ""),
    ):
        found = [_rates(entries) for _ in range(ROUNDS)]
        engine, one, two = (median(column) for column in zip(*found, strict=True))
        share = median(rates[2] / rates[0] / 2 for rates in found)
        ratio = median(rates[2] / rates[1] for rates in found)
        yield Row(f"{name}: only the engine, games/s", f"{engine:,.0f}")
        yield Row(f"{name}: run on one worker, games/s", f"{one:,.0f}", f"{one / engine:.2f} of it")
        yield Row(
            f"{name}: run on two workers, games/s",
            f"{two:,.0f}",
            f"{ratio:.2f} of one worker",
            "1.6",
        )
        yield Row(f"{name}: of twice the engine's", "", f"{share:.2f}", asked)


def _rates(entries: Sequence[Entry]) -> tuple[float, float, float]:
    """Return games/s of the engine in this process, before and after, and of both runs."""
    before = engine_rate(entries)
    one = run_rate(entries, 1, int(RUN_SECONDS * before))
    two = run_rate(entries, 2, int(2 * RUN_SECONDS * before))
    return (before + engine_rate(entries)) / 2, one, two


def engine_rate(entries: Sequence[Entry]) -> float:
    """Return games/s between every two bots, as many games for each pairing."""
    tournament = _tournament(entries, 1)
    by_label = {entry.label: entry.load() for entry in entries}
    games = 0
    start = perf_counter()
    while perf_counter() - start < ENGINE_SECONDS:
        for bot, opponent in tournament.pairings:
            play_game(by_label[bot], by_label[opponent], seed=games)
            play_game(by_label[opponent], by_label[bot], seed=games)
            games += 2
    return games / (perf_counter() - start)


def run_rate(entries: Sequence[Entry], workers: int, games: int) -> float:
    """Return games/s of a run of about so many games, to its last file."""
    pairings = len(_tournament(entries, 1).pairings)
    with tempfile.TemporaryDirectory() as folder:
        tournament = _tournament(entries, max(1, games // pairings // 2))
        results = run(tournament, LocalExecutor(workers), RunFolder(Path(folder)), QUIET)
    return results.played / results.seconds


def _tournament(entries: Sequence[Entry], pairs: int) -> Tournament:
    return Tournament("bench", 0, pairs, entries, STANDARD)
