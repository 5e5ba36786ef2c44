"""Meter: the time that a bot's processes use, read from outside of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import psutil

from arena.lanes.memory_use import find_below
from engine.strategy import Spent

READS_CLOCKS = sys.platform == "linux" and hasattr(time, "clock_gettime")
"""Whether one system call reads the processor time of another process (Linux)."""

_PAUSE = 0.3  # seconds between two readings, after which this process itself was not running
_WAITED = 0.005  # seconds that a process did not work in its turn: did others work for it?
_STALE = 0.05  # seconds after which all processes are looked at again
_PROCESS_CLOCK = 2  # in the number of a clock, the kernel's CPUCLOCK_SCHED
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Meter:
    """Reads the processor time, in seconds, of a process and of all processes below it.

    `main` is the one of them that works most, which can be read without looking at the others.
    `used` returns the time of the control group that they are in. `works` is whether this
    system tells the time of other processes at all.
    """

    def __init__(
        self, pid: int, main: int | None = None, used: Callable[[], float] = float
    ) -> None:
        self.pid = pid
        self.used = used
        self.main = main or pid
        self.works = _clock(self.main) is not None
        self._others = 0.0
        self._last = 0.0
        self.looked = 0.0

    def read(self) -> float:
        """Return the time of all processes, that of others than the main one as last seen."""
        own = _clock(self.main)
        if own is not None:
            self._last = max(self._last, own + self._others)
        return self._last

    def look(self) -> float:
        """Return the time of all processes, also of those that have ended."""
        self.looked = perf_counter()
        together = self.used()
        total = own = 0.0
        for pid in (self.pid, *find_below(self.pid)):
            seconds = _clock(pid) or 0.0
            total += seconds + _of_ended_children(pid)
            if pid == self.main:
                own = seconds
        self._others = max(self._others, max(total, together) - own)
        return self.read()


class Stopwatch:
    """Measures the turns of a bot's processes, one after the other.

    The wall clock stands still while this process itself does not run: when it is stopped, or
    the machine sleeps. `before` is the processor time between this turn and the one before.
    Where the meter does not work, the wall clock takes its place.
    """

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self._end = meter.look()
        self._begin = self._end
        self._wall = self._seen = 0.0
        self.before = 0.0

    def start(self) -> None:
        """Begin a turn."""
        stale = perf_counter() - self.meter.looked > _STALE
        self._begin = self.meter.look() if stale else self.meter.read()
        self.before = self._begin - self._end
        self._wall = 0.0
        self._seen = perf_counter()

    def restart(self) -> None:
        """Begin a turn at once, so that nothing is charged to it."""
        self.start()
        self.before = 0.0

    def read(self) -> Spent:
        """Return the time of the turn so far; it is to be read several times a second."""
        now = perf_counter()
        self._wall += min(now - self._seen, _PAUSE)
        self._seen = now
        if not self.meter.works:
            return Spent(self._wall, self._wall)
        cpu = self.meter.read() - self._begin
        if self._wall - cpu > _WAITED:
            cpu = self.meter.look() - self._begin
        return Spent(self._wall, cpu, self.before)

    def stop(self) -> Spent:
        """End the turn, and return its time."""
        spent = self.read()
        self._end = self._begin + spent.cpu
        return spent


def _clock(pid: int) -> float | None:
    """Return the processor time of one process, None if it has ended."""
    try:
        if READS_CLOCKS:
            return time.clock_gettime(~pid << 3 | _PROCESS_CLOCK)
        return sum(psutil.Process(pid).cpu_times()[:2])
    except (OSError, psutil.Error):
        return None


def _of_ended_children(pid: int) -> float:
    """Return the processor time of children that have ended and were waited for."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return 0.0
    user, system = text.rpartition(")")[2].split()[13:15]
    return (int(user) + int(system)) / _TICKS
