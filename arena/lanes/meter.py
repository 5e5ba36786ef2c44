"""Measure time and memory of all processes of a bot, and see what they wait for, from outside."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import NamedTuple

from arena.processes import find_below, read, read_clock, read_stat, read_status
from engine.strategy import Spent

_KIB, _MIB = 1 << 10, 1 << 20
_INODE = 1 << 10  # bytes of kernel memory for each file of a file system in memory
_SHARES = ("Pss_Anon", "Pss_Shmem", "SwapPss")
_MOST_GAMES = 1 << 20


class Usage(NamedTuple):
    """The number of processes below the first one, and the memory of all in bytes."""

    processes: int
    memory: int


def read_usage(pid: int, most: int, private: str = "") -> Usage:
    """Return the number and the memory of a process's descendants, with its own memory.

    A first, quick reading counts shared memory once for each process. Only if that is more than
    `most` bytes, a second reading counts it once in all. `private` is a jail's folder in memory,
    which counts too; the jail's own two processes do not. Anything unreadable counts as 0.
    """
    below = find_below(pid)
    pids = below[1:] if private else [pid, *below]
    folder = _folder_bytes(below, private) if private else 0
    sizes = [_sizes(pid, "VmRSS", "VmPTE") for pid in pids]  # the second is of page tables
    if (memory := sum(map(sum, sizes)) + folder) > most:
        memory = _shared_out(pids, folder) + sum(tables for _, tables in sizes)
    return Usage(len(below), memory)


def _sizes(pid: int, *names: str) -> list[int]:
    """Return some sizes in bytes of a process, which its first thread lacks once that has ended."""
    fields = read_status(pid)
    if "VmRSS" not in fields:
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                fields |= read_status(f"{pid}/task/{thread}")
    return [int(fields.get(name, "0").split()[0]) * _KIB for name in names]


def _shared_out(pids: list[int], folder: int) -> int:
    """Return the memory of all processes in bytes, counting a shared page once.

    The code of programs and libraries is not counted.
    """
    own = shared = 0
    for pid in pids:
        try:
            text = read(f"/proc/{pid}/smaps_rollup")
        except OSError:  # hidden by the process, or not supported by this kernel
            own += _sizes(pid, "VmRSS")[0]
            continue
        fields = dict(line.split(":", 1) for line in text.splitlines()[1:])
        sizes = [int(fields.get(name, "0").split()[0]) * _KIB for name in _SHARES]
        own, shared = own + sizes[0] + sizes[2], shared + sizes[1]
    return own + max(shared, folder)  # mapped files of the folder are in both


def _folder_bytes(pids: list[int], private: str) -> int:
    """Return the bytes of the files, and of their names, in a folder as the processes see it.

    While bubblewrap is still setting up their root, they see this machine's own folder, whose
    files do not count.
    """
    for pid in reversed(pids):
        with suppress(OSError):
            folder = f"/proc/{pid}/root{private}"
            if os.stat(folder).st_dev == os.stat(private).st_dev:
                continue
            status = os.statvfs(folder)
            blocks = (status.f_blocks - status.f_bfree) * status.f_frsize
            return blocks + (status.f_files - status.f_ffree) * _INODE
    return 0


class Held(NamedTuple):
    """Resources in use: MB of memory, processes, threads, and open files of one process.

    As a limit, 0 means unlimited.
    """

    memory: float = 0.0
    processes: float = 0.0
    threads: float = 0.0
    files: float = 0.0


def read_held(pids: Sequence[int]) -> Held:
    """Return the resources that processes use; anything unreadable counts as 0.

    Memory is the larger of two: the data segment of the largest process, as its limit counts it,
    and the resident memory of all.
    """
    data = resident = threads = files = 0
    for pid in pids:
        of_data, of_memory = _sizes(pid, "VmData", "RssAnon")
        data, resident = max(data, of_data), resident + of_memory
        with suppress(OSError):
            threads += len(os.listdir(f"/proc/{pid}/task"))
            files = max(files, len(os.listdir(f"/proc/{pid}/fd")))
    return Held(max(data, resident) / _MIB, len(pids), threads, files)


class Room:
    """The number of further games that a process can play before its leaks reach a limit.

    `most` is its limit. It `is_full` when its games have used half of what was free after the
    first one. Then the process is replaced, so that no game fails for what earlier ones left.

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
        """Add games that were played, and the resources in use after them."""
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


_PAUSE = 0.3  # seconds between two readings that show that this process itself was stopped
_WAITED = 0.05  # seconds of a turn without work of the main process: others are then read
_STALE = 0.05  # seconds after which all processes are read again
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Meter:
    """Reads the processor time, in seconds, of a process and all its descendants.

    `main` is the process that works most, which can be read without reading the others. `works` is
    whether this system reports the time of other processes at all.
    """

    def __init__(self, pid: int, main: int | None = None) -> None:
        self.pid = pid
        self.main = main or pid
        self.works = read_clock(self.main) is not None
        self._others = 0.0
        self._last = 0.0
        self.looked = 0.0

    def read(self) -> float:
        """Return the time of all processes: the main one's now, the others' as last read."""
        own = read_clock(self.main)
        if own is not None:
            self._last = max(self._last, own + self._others)
        return self._last

    def look(self) -> float:
        """Read and return the time of all processes, including ended ones for which others waited.

        It takes 0.1 ms for each process.
        """
        self.looked = perf_counter()
        pids = self.pid, *find_below(self.pid)
        total = sum((read_clock(pid) or 0.0) + _of_ended_children(pid) for pid in pids)
        self._others = max(self._others, total - (read_clock(self.main) or 0.0))
        return self.read()


class Stopwatch:
    """Measures the time of a bot's turns, one after the other.

    The wall clock pauses while this process itself is stopped or the machine sleeps. `before` is
    the processor time that the bot used between the previous turn and this one. If the meter does
    not work, wall-clock time replaces processor time.
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

    def read(self) -> Spent:
        """Return the time of the turn so far; callers read it several times a second."""
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


def _of_ended_children(pid: int) -> float:
    """Return the processor time of a process's children that have ended and were reaped."""
    try:
        user, system = read_stat(pid)[13:15]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / _TICKS


CLOSED, WAITS = "closed its output", "it waits for more input"
_READING = {"pipe_read", "anon_pipe_read"}  # the name depends on the kernel's version
_WAITING = {*_READING, "do_wait"}  # for input, or for a child
_SWITCHES = re.compile(r"ctxt_switches:\t(\d+)")
_ENDING = 0x4  # the kernel's PF_EXITING, in the seventh word after the name


def find_silence(own: Callable[[], Sequence[int]], pipe: int, *, is_read: bool) -> str:
    """Return why a program will never answer, CLOSED or WAITS; empty if it may.

    `own` returns the ids of its processes, `pipe` is the inode of its output, and `is_read` says
    that it has read all input. Its processes are looked at one after another. So what is seen is
    believed only if none has run meanwhile: one that has just started another seems to wait.
    """
    seen = found, _ = _look(own(), pipe, is_read)
    return found if found and _look(own(), pipe, is_read) == seen else ""


def _look(pids: Sequence[int], pipe: int, is_read: bool) -> tuple[str, list[list[str]]]:
    """Return what processes seem to be; before, how often each thread has left a processor.

    They wait for input if all threads wait for a pipe, or for a child, and no other process writes
    into their pipes. Nothing is known where something cannot be read.
    """
    with suppress(OSError):
        tasks = (f"/proc/{pid}/task" for pid in pids)
        threads = [f"{task}/{name}" for task in tasks for name in os.listdir(task)]
        runs = [[thread, *_SWITCHES.findall(read(f"{thread}/status"))] for thread in threads]
        if pids and has_closed(pids, pipe):
            return CLOSED, runs
        waits = {read(f"{thread}/wchan") for thread in threads}
        if is_read and waits & _READING and waits <= _WAITING:
            return WAITS, runs
    return "", []


def has_closed(pids: Sequence[int], pipe: int) -> bool:
    """Return whether no process among these has the pipe with this inode open any more.

    False while a process is ending: it has closed its descriptors, but its exit status is not known
    yet. Raises OSError if descriptors cannot be read or change meanwhile.
    """
    folders = (f"/proc/{pid}/fd" for pid in pids)
    files = [f"{folder}/{name}" for folder in folders for name in os.listdir(folder)]
    is_open = f"pipe:[{pipe}]" in map(os.readlink, files)
    return not (is_open or any(int(read_stat(pid)[6]) & _ENDING for pid in pids))
