"""Read the processor time and the memory of all processes of a bot, from outside of them."""

from __future__ import annotations

import mmap
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import psutil

from arena.lanes.cleanup import descendants
from engine.strategy import Spent

_PROC = Path("/proc")
_KIB = 1 << 10
_INODE = 1 << 10  # bytes that the kernel keeps for a file in memory
_SHARES = ("Pss_Anon", "Pss_Shmem", "SwapPss")
_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()  # 0.1 ms, not 10
_PAGE = mmap.PAGESIZE
_MOST_GAMES = 1 << 20


class Usage(NamedTuple):
    """How many processes there are below the first one, and the bytes that all use."""

    processes: int
    memory: int


def read_usage(pid: int, most: int, private: str = "") -> Usage:
    """Return what a process and all below it use.

    A first look counts memory that processes share once for each of them. Only where this is
    more than `most` bytes, a second one divides it among them. `private` is a jail's folder that
    lies in memory and counts too; the jail's own two processes do not count. What cannot be read
    counts nothing.
    """
    below = find_below(pid)
    pids = below[1:] if private else [pid, *below]
    folder = _folder_bytes(below, private) if private else 0
    tables = sum(map(_tables, pids))
    if (memory := sum(map(_resident, pids)) + folder + tables) > most:
        memory = _shared_out(pids, folder) + tables
    return Usage(len(below), memory)


def find_below(pid: int) -> list[int]:
    """Return the processes below a process, each after its parent."""
    if not _LISTS_CHILDREN:
        with suppress(psutil.Error):
            return [process.pid for process in descendants(psutil.Process(pid))]
        return []
    found = [pid]
    for parent in found:
        found += find_children(parent)
    return found[1:]


def find_children(pid: int) -> list[int]:
    """Return the children of a process, none if it has ended."""
    children: list[int] = []
    if not _LISTS_CHILDREN:
        with suppress(psutil.Error):
            children += [process.pid for process in psutil.Process(pid).children()]
    with suppress(OSError):  # it has ended
        for thread in os.scandir(f"{_PROC}/{pid}/task"):
            children += map(int, Path(thread, "children").read_text().split())
    return children


def _resident(pid: int) -> int:
    """Return the bytes of a process that are in memory, shared ones too."""
    with suppress(OSError, ValueError, IndexError):
        if pages := int((_PROC / str(pid) / "statm").read_text().split()[1]):
            return pages * _PAGE
        for thread in os.scandir(_PROC / str(pid) / "task"):  # the first one may have ended
            if pages := int(Path(thread, "statm").read_text().split()[1]):
                return pages * _PAGE
    return 0


def _tables(pid: int) -> int:
    """Return the bytes of the kernel that say where the memory of a process lies."""
    with suppress(OSError, IndexError):  # ended: a zombie has none
        text = (_PROC / str(pid) / "status").read_text(errors="replace")
        return int(text.partition("\nVmPTE:")[2].split(maxsplit=1)[0]) * _KIB
    return 0


def _shared_out(pids: list[int], folder: int) -> int:
    """Return the bytes of all processes, without programs and libraries; a page counts once."""
    own = shared = 0
    for pid in pids:
        try:
            text = (_PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:  # hidden by the process, or not known to this kernel
            own += _resident(pid)
            continue
        fields = dict(line.split(":", 1) for line in text.splitlines()[1:])
        sizes = [int(fields.get(name, "0").split()[0]) * _KIB for name in _SHARES]
        own, shared = own + sizes[0] + sizes[2], shared + sizes[1]
    return own + max(shared, folder)  # files of the folder can be mapped


def _folder_bytes(pids: list[int], private: str) -> int:
    """Return the bytes of the files in a folder as the processes see it, and of their names.

    While bubblewrap is still making their root, they see the folder of this machine: no file in
    it is theirs.
    """
    for pid in reversed(pids):
        with suppress(OSError):
            folder = f"{_PROC}/{pid}/root{private}"
            if os.stat(folder).st_dev == os.stat(private).st_dev:
                continue
            status = os.statvfs(folder)
            blocks = (status.f_blocks - status.f_bfree) * status.f_frsize
            return blocks + (status.f_files - status.f_ffree) * _INODE
    return 0


class Held(NamedTuple):
    """What processes hold: MB of memory, processes, threads, and open files of one of them.

    As a limit it is what they may hold, 0 where there is none.
    """

    memory: float = 0.0
    processes: float = 0.0
    threads: float = 0.0
    files: float = 0.0


def read_held(pids: Sequence[int]) -> Held:
    """Return what processes hold; what cannot be read counts nothing.

    Memory is that of the largest one as its limit counts it (data), or what all have in memory, if
    that is more.
    """
    data = resident = threads = files = 0
    for pid in pids:
        fields: dict[str, str] = {}
        with suppress(OSError, ValueError):
            text = (_PROC / str(pid) / "status").read_text(errors="replace")
            fields = dict(line.split(":", 1) for line in text.splitlines())
        of_data, of_memory, of_threads = (
            int(fields.get(name, "0").split()[0]) for name in ("VmData", "RssAnon", "Threads")
        )
        data, resident, threads = max(data, of_data), resident + of_memory, threads + of_threads
        with suppress(OSError):
            files = max(files, len(os.listdir(_PROC / str(pid) / "fd")))
    return Held(max(data, resident) / _KIB, len(pids), threads, files)


class Room:
    """The room that a process has for further games, after what earlier ones have left in it.

    `most` is what it may hold. When it `is_full`, half of the room that was left after its first
    game has been taken. Then it is renewed, so that what its games leave behind costs none of them.

    >>> room = Room(Held(memory=1000, files=100))
    >>> for games, memory in (1, 200), (4, 280):
    ...     room.add(games, Held(memory, files=20))
    >>> room.games  # to 600 MB, at 20 MB a game
    16
    >>> room.add(17, Held(620, files=20))
    >>> room.is_full
    True
    """

    def __init__(self, most: Held) -> None:
        self.most = most
        self.games = 1
        self.is_full = False
        self._first: Held | None = None
        self._played = 0

    def add(self, games: int, now: Held) -> None:
        """Add games that were played, and what the process holds after them."""
        if self._first is None:
            self._first = now
            return
        self._played += games
        self.games = _MOST_GAMES
        for most, first, one in zip(self.most, self._first, now, strict=True):
            room, grown = max(0.0, most - first) / 2, one - first
            if most and grown > 0:
                self.is_full |= grown > room
                left = int(room * self._played / grown) - self._played
                self.games = max(1, min(self.games, left))


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
        self.works = read_clock(self.main) is not None
        self._others = 0.0
        self._last = 0.0
        self.looked = 0.0

    def read(self) -> float:
        """Return the time of all processes, that of others than the main one as last seen."""
        own = read_clock(self.main)
        if own is not None:
            self._last = max(self._last, own + self._others)
        return self._last

    def look(self) -> float:
        """Return the time of all processes, also of those that have ended."""
        self.looked = perf_counter()
        together = self.used()
        total = own = 0.0
        for pid in (self.pid, *find_below(self.pid)):
            seconds = read_clock(pid) or 0.0
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


def read_clock(pid: int) -> float | None:
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
        user, system = read_stat(pid)[13:15]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / _TICKS


def read_stat(pid: int) -> list[str]:
    """Return the words after the name of a process in /proc/PID/stat; raises OSError."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
