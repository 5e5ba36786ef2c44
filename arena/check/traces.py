"""Traces: what playing has cost, and what the bot has left behind."""

from __future__ import annotations

import time

import psutil

from arena.check.item import Item
from arena.check.sparring import Candidate, Sparring
from arena.check.trial import STDOUT
from arena.lanes.cleanup import children

_PATIENCE = 1.0  # seconds in which a process and those it has started may end by themselves
_MOST_OUTPUT = 1 << 16  # bytes a game
_MB = 1 << 20
_HALF = 0.5
_SHOWN = 3


def check_time(sparring: Sparring) -> Item:
    """Return how long decisions took."""
    times = sparring.timing.cpu
    median, p99, longest = times.quantile(0.5), times.quantile(0.99), times.longest
    message = f"median {_ms(median)}, 99 % {_ms(p99)}, longest {_ms(longest)} per decision"
    figures = {"median": median, "p99": p99, "max": longest, "decisions": times.count}
    limit = sparring.candidate.limits.decision
    if longest <= _HALF * limit:
        return Item("time", "ok", message, figures=figures)
    return Item("time", "warn", f"{message}; the limit is {limit:g} s", figures=figures)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2g} ms" if seconds < _HALF else f"{seconds:.1f} s"


def check_memory(sparring: Sparring) -> Item:
    """Return how much memory the bot's process, which must still run, has had."""
    peak = sparring.peak_megabytes()
    if peak is None:
        return Item("memory", "none", "this system does not report it")
    limit = sparring.candidate.limits.memory
    figures = {"peak_mb": round(peak, 1)}
    message = f"{peak:.0f} MB at most, of {limit} MB"
    return Item("memory", "ok" if peak <= _HALF * limit else "warn", message, figures=figures)


def check_size(candidate: Candidate) -> Item:
    """Return how large the bot's source is."""
    source = candidate.entry.source
    if source is None:
        return Item("size", "none", "not a single file")
    number = len(source.splitlines())
    message = f"{number:,} lines, {len(source):,} bytes"
    return Item("size", "ok", message, figures={"lines": number, "bytes": len(source)})


def check_leftovers(sparring: Sparring, touched: dict[str, str]) -> Item:
    """End the bot's process, and return what it leaves: processes, files, much output."""
    files, output = sparring.files(), sparring.process.output_bytes
    sparring.process.dismiss(_PATIENCE)
    processes = _find_processes(sparring.process.pid)
    leftovers = []
    if processes:
        leftovers.append(f"a process that goes on: {processes[0]}")
    if files:
        more = ", ..." if len(files) > _SHOWN else ""
        leftovers.append(f"files: {', '.join(files[:_SHOWN])}{more}")
    if output > _MOST_OUTPUT * len(sparring.actions):
        leftovers.append(f"{output / _MB:,.0f} MB of output in {len(sparring.actions):,} games")
    if STDOUT in touched:
        leftovers.append(f"{STDOUT} closed or replaced, {touched[STDOUT]}")
    figures = {"processes": len(processes), "files": len(files), "output_bytes": output}
    if leftovers:
        return Item("leaves nothing", "fail", f"leaves {'; '.join(leftovers)}", figures=figures)
    if output:
        return Item("leaves nothing", "warn", f"prints: {output:,} bytes", figures=figures)
    return Item("leaves nothing", "ok", "no process, no file, no output", figures=figures)


def _find_processes(pid: int | None) -> list[str]:
    """Return the names of the processes that outlive the bot's own process."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        names = [name for process in children() if (name := _name(process, pid))]
        if not names or time.monotonic() > deadline:
            return names
        time.sleep(0.05)


def _name(process: psutil.Process, pid: int | None) -> str:
    """Return the name of a running process, empty for the bot's own."""
    try:
        if process.pid == pid or process.status() == psutil.STATUS_ZOMBIE:
            return ""
        return process.name()
    except psutil.Error:
        return ""
