"""What a bot's own process costs: to start, for each decision, in memory."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from os import times
from pathlib import Path
from statistics import median
from time import perf_counter

import psutil

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.worker import Worker
from arena.lanes.limits import Limits
from arena.lanes.process import bot_process
from arena.tournament.plan import Chunk
from arena.tournament.tournament import Tournament
from bench.engine import Row
from engine import STANDARD

ROUNDS = 7
PAIRS = 150
STARTS = 10
FIRSTS = 5
_DECISIONS = 24  # of a bot in a game
_UNIFORM = Path(__file__).parent.parent / "bots" / "uniform.py"


def rows() -> Iterator[Row]:
    """Yield start-up, memory and decisions of each lane that this machine has."""
    lanes = ["process", "jail"] if shutil.which("bwrap") else ["process"]
    for lane in lanes:
        starts, memory = zip(*(_started(lane) for _ in range(STARTS)), strict=True)
        yield Row(f"{lane}: start, ms", f"{1000 * median(starts):.0f}")
        yield Row(f"{lane}: memory of a bot's process, MB", f"{median(memory):.0f}")
        seconds = median(_first_game(lane) for _ in range(FIRSTS))
        wanted = {"jail": "at most 0.3 s above process"}.get(lane, "")
        name = f"{lane}: first game, s (cold program, warm machine)"
        yield Row(name, f"{seconds:.2f}", "", wanted)
    for lane in lanes:
        for games in (1, 64):
            added = median(_decision(lane, games) for _ in range(ROUNDS))
            at_once = f"{games} {'game' if games == 1 else 'games'} at once"
            name = f"{lane}: added per decision, {at_once}, us"
            yield Row(name, f"{1e6 * added:.1f}", "", "at most 60 us")
            yield Row(f"{lane}: added per game, {at_once}, ms", f"{1e3 * _DECISIONS * added:.2f}")


def _started(lane: str) -> tuple[float, float]:
    """Return the seconds a bot's process takes to answer hello, and the MB it takes."""
    entry = resolve(str(_UNIFORM), lane=lane)
    with (
        tempfile.TemporaryDirectory() as folder,
        bot_process(entry, STANDARD, Limits(), Path(folder)) as process,
    ):
        begin = perf_counter()
        process.start()
        seconds = perf_counter() - begin
        own = psutil.Process(process.pid)
        memory = sum(p.memory_full_info().uss for p in (own, *own.children(recursive=True)))
    return seconds, memory / (1 << 20)


def _first_game(lane: str) -> float:
    """Return the processor time of a new program, and of its processes, that plays a game."""
    words = [sys.executable, "-c", f"from bench.lanes import play_first; play_first({lane!r})"]
    begin = times()
    subprocess.run(words, check=True)
    end = times()
    return end.children_user + end.children_system - begin.children_user - begin.children_system


def play_first(lane: str) -> None:
    """Play a game of two bots in a lane as the first one of this program."""
    entries = [resolve(str(_UNIFORM), label, lane=lane) for label in "ab"]
    tournament = Tournament("bench", 0, 1, entries, STANDARD)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Worker(tournament, Path(folder))) as worker,
    ):
        worker.play(Chunk(0, 0, 1, seats=(0,)))


def _decision(lane: str, games: int) -> float:
    """Return the seconds that a decision takes more than in the worker's own process."""
    remote, local = (
        _seconds(resolve(str(_UNIFORM), lane=used), games) for used in (lane, "inproc")
    )
    return remote - local


def _seconds(entry: Entry, games: int) -> float:
    """Return the seconds of a game for each of the bot's decisions."""
    entries = [replace(entry, label="measured"), resolve("uniform")]
    tournament = Tournament("bench", 0, PAIRS, entries, STANDARD)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Worker(tournament, Path(folder))) as worker,
    ):
        if games == 1:
            worker.single.add("measured")  # whose games are played one by one
        worker.play(Chunk(0, 0, 10))
        begin = perf_counter()
        played = worker.play(Chunk(0, 10, PAIRS - 10))
        seconds = perf_counter() - begin
    return seconds / sum(result.plies / 2 for result in played.results)
