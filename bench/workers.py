"""How much of the engine's speed reaches the CSV files, and what a second worker adds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
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
ENGINE_SECONDS = 1.5
RUN_SECONDS = 10.0


def rows() -> Iterator[Row]:
    """Yield games/s to the last file on one and two workers, beside one and two engines at once."""
    cheap = [resolve("uniform"), resolve("greedy")]
    quickstart = config.resolve_bots(config.read(QUICKSTART))
    for name, entries, asked in (
        ("uniform - greedy", cheap, "0.85"),
        ("quickstart", quickstart, "0.93"),
    ):
        found = [_rates(entries) for _ in range(ROUNDS)]
        engine, engines, one, two = (median(column) for column in zip(*found, strict=True))
        of_one = median(rates[2] / rates[0] for rates in found)
        of_two = median(rates[3] / rates[1] for rates in found)
        ratio = median(rates[3] / rates[2] for rates in found)
        more = f"{ratio:.2f} of one worker"
        yield Row(f"{name}: only the engine, games/s", f"{engine:,.0f}")
        yield Row(f"{name}: two engines at once, games/s", f"{engines:,.0f}")
        yield Row(
            f"{name}: run on one worker, games/s", f"{one:,.0f}", f"{of_one:.2f} of one engine"
        )
        yield Row(f"{name}: run on two workers, games/s", f"{two:,.0f}", more, "1.6")
        yield Row(f"{name}: of two engines at once", "", f"{of_two:.2f}", asked)


def _rates(entries: Sequence[Entry]) -> tuple[float, float, float, float]:
    """Return games/s of one engine and of two, each before and after, and of both runs."""
    before = engine_rates(entries)
    one, two = (
        run_rate(entries, workers, int(RUN_SECONDS * rate))
        for workers, rate in enumerate(before, 1)
    )
    after = engine_rates(entries)
    engine, engines = ((early + late) / 2 for early, late in zip(before, after, strict=True))
    return engine, engines, one, two


def engine_rates(entries: Sequence[Entry]) -> tuple[float, float]:
    """Return games/s of one process that plays with the engine alone, and of two together."""
    with get_context("spawn").Pool(2) as pool:
        pool.map(_play_first, [entries] * 2, 1)  # both processes have their bots
        one, two = (sum(pool.map(engine_rate, [entries] * count, 1)) for count in (1, 2))
    return one, two


def _play_first(entries: Sequence[Entry]) -> None:
    """Load the bots, and take so long that no process gets two of these calls."""
    engine_rate(entries, 1.0)


def engine_rate(entries: Sequence[Entry], seconds: float = ENGINE_SECONDS) -> float:
    """Return games/s between every two bots, as many games for each pairing."""
    tournament = _tournament(entries, 1)
    by_label = {entry.label: entry.load() for entry in entries}
    games = 0
    start = perf_counter()
    while perf_counter() - start < seconds:
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
