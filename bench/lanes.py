"""What a bot's own process costs: to start, for each decision, in memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

import psutil

from arena.entries.entry import Entry, load
from arena.executors.marks import Marks
from arena.executors.worker import Worker
from arena.lanes.launch import hello, launch
from arena.lanes.limits import Limits
from arena.lanes.output import Printed
from arena.lanes.process import BotProcess
from arena.tournament.chunk import Chunk, Job
from arena.tournament.schedule import Pairing
from bench.engine import Row
from engine import STANDARD

ROUNDS = 7
PAIRS = 150
STARTS = 10
_UNIFORM = Path(__file__).parent.parent / "bots" / "uniform.py"


def rows() -> Iterator[Row]:
    """Yield start-up, memory and decisions of each lane that this machine has."""
    lanes = ["process", "jail"] if shutil.which("bwrap") else ["process"]
    for lane in lanes:
        starts, memory = zip(*(_started(lane) for _ in range(STARTS)), strict=True)
        yield Row(f"{lane}: start, ms", f"{1000 * median(starts):.0f}")
        yield Row(f"{lane}: memory of a bot's process, MB", f"{median(memory):.0f}")
    for lane in lanes:
        for games in (1, 16):
            added = [_decision(lane, games) for _ in range(ROUNDS)]
            name = (
                f"{lane}: added per decision, {games} {'game' if games == 1 else 'games'} at once"
            )
            yield Row(f"{name}, us", f"{1e6 * median(added):.1f}", "", "at most 60 us")


def _started(lane: str) -> tuple[float, float]:
    """Return the seconds a bot's process takes to answer hello, and the MB it takes."""
    entry, limits = load(str(_UNIFORM), lane=lane), Limits()
    with tempfile.TemporaryDirectory() as folder:
        how = launch(entry, limits, Path(folder))
        process = BotProcess(how, hello(entry, STANDARD), limits, lambda: None)
        begin = perf_counter()
        process.start()
        seconds = perf_counter() - begin
        own = psutil.Process(process.pid)
        memory = sum(p.memory_full_info().uss for p in (own, *own.children(recursive=True)))
        process.kill()
    return seconds, memory / (1 << 20)


def _decision(lane: str, games: int) -> float:
    """Return the seconds a decision of one bot takes more than in the worker's own process."""
    remote, local = (_seconds(load(str(_UNIFORM), lane=used), games) for used in (lane, "inproc"))
    return remote - local


def _seconds(entry: Entry, games: int) -> float:
    """Return the seconds of a game for each of the bot's decisions."""
    entry = replace(entry, label="measured")
    pairing = Pairing("measured", "uniform")
    job = Job(0, STANDARD, {"measured": entry, "uniform": load("uniform")}, [pairing], PAIRS)
    marks = Marks(bytearray(Marks.length(STANDARD.game_plies)))
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(job, marks, Path(folder), Printed())
        if games == 1:
            worker.unsteady.add("measured")  # whose games are played one by one
        worker.play(Chunk(0, 0, 10))
        begin = perf_counter()
        played = worker.play(Chunk(0, 10, PAIRS - 10))
        seconds = perf_counter() - begin
        worker.close()
    decisions: float = sum(row[6] / 2 for row in played.results)
    return seconds / decisions
