"""Measure a bot's time, memory and size, and find the processes and files that it leaves behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import psutil

from arena.check.item import Item
from arena.check.sparring import Candidate, Sparring
from arena.check.trial import STDOUT
from arena.entries.archive import MAGIC
from arena.errors import counted
from arena.lanes.cleanup import children, descendants
from arena.lanes.meter import read_status
from arena.lanes.process import BotProcess

_PATIENCE = 3.0  # seconds in which a process and its children may end
_PAUSE = 0.05
_MOST_FILES = 1000
_MB = 1 << 20
_MOST_OUTPUT = 1 << 16  # bytes a game
_HALF = 0.5
_SHOWN = 3


def _peak_megabytes(bot: BotProcess) -> float | None:
    """Return the peak memory in MB of a bot's largest process, None if it is unknown."""
    found = (read_status(process.pid).get("VmHWM") for process in _family(bot))
    return max((int(value.split()[0]) * 1024 / _MB for value in found if value), default=None)


def _files(bot: BotProcess) -> list[str]:
    """Return the files that a bot has left in its private folder, except caches.

    An arena that is installed below /tmp has its own paths in a jail's private folder.
    """
    home = bot.launch.environment["HOME"]
    left = (
        file for file in _walk(_private_folder(bot)) if f"{home}/{file}" not in bot.launch.words
    )
    return sorted(islice(left, _MOST_FILES))


def _private_folder(bot: BotProcess) -> Path:
    """Return the private folder of a bot; in a jail it is reached through one of its processes."""
    if bot.launch.jailed:
        inside = Path(bot.launch.environment["HOME"]).relative_to("/")
        for process in _inner(bot):
            folder = Path(f"/proc/{process.pid}/root", inside)
            with suppress(OSError):
                os.listdir(folder)
                return folder
    return bot.launch.folder


def _walk(top: Path) -> Iterator[str]:
    disk = top.stat().st_dev
    for parent, folders, names in os.walk(top):
        folders[:] = [name for name in folders if _is_left(Path(parent, name), disk)]
        place = Path(parent).relative_to(top)
        yield from (str(place / name) for name in names if _is_left(Path(parent, name), disk))


def _is_left(path: Path, disk: int) -> bool:
    """Return whether a file is on this disk, not mounted by the jail, and not a cache."""
    if path.name.startswith(".") or path.name == "__pycache__":
        return False
    with suppress(OSError):
        return path.lstat().st_dev == disk
    return False


def _dismiss(bots: Sequence[BotProcess]) -> list[str]:
    """Ask processes of bots to end; return the names of those that are still running.

    A jail ends together with the bot's own process. So its first process is paused before, and
    processes that the bot has started can be found before they are killed with the jail.
    """
    own = {bot.pid for bot in bots}
    holders = []
    for bot in bots:
        inner = _inner(bot)
        own |= {process.pid for process in inner[:2]}  # the jail's first, and the bot's own
        outer = [process for process in _family(bot) if process not in inner] if inner else []
        for process in outer:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGSTOP)
        holders += outer
        bot.dismiss(0.0 if inner else _PATIENCE)
    deadline = time.monotonic() + _PATIENCE
    while True:
        below = (process for holder in holders for process in descendants(holder))
        running = {*children(), *below} - {*holders}
        names = [name for process in running if (name := _name(process, own))]
        if not names or time.monotonic() > deadline:
            return names
        time.sleep(_PAUSE)


def _name(process: psutil.Process, own: Collection[int | None]) -> str:
    """Return the name of a running process, "" for the bot's own or one that has ended."""
    try:
        if process.pid in own or process.status() == psutil.STATUS_ZOMBIE:
            return ""
        return process.name()
    except psutil.Error:
        return ""


def check_time(sparring: Sparring) -> Item:
    """Return the item about the time of decisions."""
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
    """Return the item about the peak memory of the bot's processes, which must still run."""
    peaks = [peak for bot in sparring.bots if (peak := _peak_megabytes(bot)) is not None]
    peak = max(peaks, default=None)
    if peak is None:
        return Item("memory", "none", "this system does not report it")
    limit = sparring.candidate.limits.memory
    figures = {"peak_mb": round(peak, 1)}
    message = f"{figures['peak_mb']:.0f} MB at most, of {limit} MB"
    return Item("memory", "ok" if peak <= _HALF * limit else "warn", message, figures=figures)


def check_size(candidate: Candidate) -> Item:
    """Return the item about the size of the bot's source."""
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
    """End the bot's processes; return the item about processes, files and output left behind."""
    files = sorted({file for bot in sparring.bots for file in _files(bot)})
    processes = _dismiss(sparring.bots)
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


def _family(bot: BotProcess) -> list[psutil.Process]:
    """Return a bot's process and all its descendants."""
    if bot.pid is None:
        return []
    with suppress(psutil.Error):
        process = psutil.Process(bot.pid)
        return [process, *descendants(process)]
    return []


def _inner(bot: BotProcess) -> list[psutil.Process]:
    """Return a bot's processes that have their own pid inside a jail, ordered by it."""
    outside = len(_numbers(os.getpid()))
    numbers = {process: _numbers(process.pid) for process in _family(bot)}
    inner = [process for process in numbers if len(numbers[process]) > outside]
    return sorted(inner, key=lambda process: numbers[process][-1])


def _numbers(pid: int) -> list[int]:
    """Return the pids of a process: one for each pid namespace that it is in."""
    return [int(number) for number in read_status(pid).get("NSpid", "").split()]
