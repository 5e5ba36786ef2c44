"""Traces: what playing has cost, and what the bot has left behind."""

from __future__ import annotations

from arena.check import remains
from arena.check.item import Item
from arena.check.sparring import Candidate, Sparring
from arena.check.trial import STDOUT
from arena.entries.archive import MAGIC
from arena.errors import counted

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
    """Return how much memory the bot's processes, which must still run, have had each."""
    peaks = [peak for bot in sparring.bots if (peak := remains.peak_megabytes(bot)) is not None]
    peak = max(peaks, default=None)
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
    if source.startswith(MAGIC):
        message = f"{counted(len(source), 'byte')} with its files"
        return Item("size", "ok", message, figures={"bytes": len(source)})
    number = len(source.splitlines())
    message = f"{counted(number, 'line')}, {counted(len(source), 'byte')}"
    return Item("size", "ok", message, figures={"lines": number, "bytes": len(source)})


def check_leftovers(sparring: Sparring, touched: dict[str, str]) -> Item:
    """End the bot's processes, and return what they leave: processes, files, much output."""
    files = sorted({file for bot in sparring.bots for file in remains.files(bot)})
    processes = remains.dismiss(sparring.bots)
    output = sum(bot.output_bytes for bot in sparring.bots)
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
        return Item("leaves nothing", "warn", f"prints: {counted(output, 'byte')}", figures=figures)
    return Item("leaves nothing", "ok", "no process, no file, no output", figures=figures)
