"""Measure and kill the processes of a bot or a run, and remove their files, however they end.

What groups and affinity leave to this process is counted here, too: its cores.

Each process of a bot has a group, below the group of the run. A group counts the processor time of
every process that was ever in it, and kills them all at once, including those that were detached
from their parent.
The groups set no limits. If no group can be made, no error is raised: a bot's processes are then
measured and killed one by one.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple
from weakref import WeakSet

from arena.entries.layout import FOLDER_VARIABLE as FOLDER_VARIABLE
from arena.entries.layout import remove_tree
from arena.lanes.confine import set_process
from arena.lanes.meter import find_below, find_children, read_status

RUN: Final = "run-"
"""The prefix of the names of runs' folders."""

_PREFIX = "noir-arena-"  # the name of a run's group is this and the name of its folder
_JOIN = '{ echo 0 > "$0"; } 2>/dev/null; exec "$@"'
_QUOTAS = {"": ["cpu.max"], "cpu": ["cpu.cfs_quota_us", "cpu.cfs_period_us"]}  # version 2, and 1
_TRIES = 50  # at removing a group whose processes are still ending
_PAUSE = 0.01  # seconds between tries
_PATIENCE = 1.0  # seconds for the end of killed processes
_MOMENT = 0.001  # seconds between two looks at them

_numbers = itertools.count()


class Group(NamedTuple):
    """The group of one process of a bot; if its folder is None, every method does nothing."""

    folder: Path | None = None

    @property
    def joining(self) -> tuple[str, ...]:
        """The words that, put before a command, start it in the group."""
        return ("/bin/sh", "-c", _JOIN, str(self.folder / "cgroup.procs")) if self.folder else ()

    def used(self) -> float:
        """Return the seconds of processor time of all processes that were ever in the group."""
        if self.folder:
            with suppress(OSError, ValueError):
                words = (self.folder / "cpu.stat").read_text().split()
                return int(words[words.index("usage_usec") + 1]) / 1e6
        return 0.0

    def kill(self) -> None:
        """Kill all processes of the group at once, if this user is permitted to (Linux 5.14)."""
        if self.folder:
            path = self.folder / "cgroup.kill"
            with suppress(OSError), open(os.open(path, os.O_WRONLY), "w") as file:
                file.write("1")

    def remove(self) -> None:
        """Kill the processes in the group and in those below it, and remove the groups."""
        self.kill()
        for _ in range(_TRIES):
            if self.folder is None:
                return
            try:
                for below in [path for path in self.folder.iterdir() if path.is_dir()]:
                    Group(below).remove()
                self.folder.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(_PAUSE)


def make_group(folder: Path) -> Group:
    """Return a new group for the process whose temporary folder this is, below its run's group."""
    run = _run_of(folder)
    if run is None:
        return Group()
    group = run / f"{os.getpid()}-{next(_numbers)}"
    try:
        group.mkdir()
    except OSError:
        return Group()
    return Group(group)


def _run_of(folder: Path) -> Path | None:
    """Return the group of the run to which a folder belongs."""
    names = [part for part in folder.parts if part.startswith(RUN)]
    groups = (_group_of(name) for name in names)
    return next((group for group in groups if group and group.is_dir()), None)


def _group_of(name: str) -> Path | None:
    """Return the path of the group of the run whose folder has this name, None without groups."""
    base = find_base()
    return base / f"{_PREFIX}{name}" if base else None


@cache
def find_base() -> Path | None:
    """Return the group of this process, below which new groups are made; None without one."""
    with suppress(OSError):
        own, mounts = (Path("/proc/self", name).read_text() for name in ("cgroup", "mountinfo"))
        return locate(own, mounts)
    return None


def locate(own: str, mounts: str, controller: str = "") -> Path | None:
    """Return the folder of a process's group, read from /proc/PID/cgroup and mountinfo.

    With a `controller` it is that of version 1.

    >>> locate("4:pids:/x\\n0::/a/b", "41 31 0:38 /a /sys/fs/cgroup rw - cgroup2 c rw").as_posix()
    '/sys/fs/cgroup/b'
    """
    groups = [line.split(":", 2) for line in own.splitlines()]
    paths = [path for _, names, path in groups if controller in names.split(",")]
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        name, _, options = kind.partition(" ")
        is_other = name != ("cgroup" if controller else "cgroup2")
        if not paths or is_other or controller not in ["", *options.split(",")]:
            continue
        root, place = fields.split()[3:5]
        path = Path(paths[0])
        if path.is_relative_to(root) and ".." not in path.parts:
            return Path(place, path.relative_to(root))
    return None


def machine_cores() -> int:
    """Return the number of cores of this machine, whoever may use them."""
    return os.cpu_count() or 1


def count_cores(proc: Path = Path("/proc/self")) -> int:
    """Return how many cores this process may use: the default number of workers and of checks.

    They are those of its affinity, and no more than the quotas of its control groups keep busy.
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # macOS, for one, has no affinity
        cores = machine_cores()
    with suppress(OSError, ValueError):
        own, mounts = ((proc / name).read_text() for name in ("cgroup", "mountinfo"))
        cores = min([cores, *_quotas(own, mounts)])
    return max(1, cores)


def _quotas(own: str, mounts: str) -> Iterator[int]:
    """Yield the quota of each group around a process, in whole cores, rounded up."""
    for controller, names in _QUOTAS.items():
        group = locate(own, mounts, controller)
        for folder in (group, *group.parents) if group else ():
            with suppress(OSError, ValueError):  # it sets none, or is above all groups
                texts = [(folder / name).read_text() for name in names]
                quota, period = map(int, " ".join(texts).split())
                if quota > 0 < period:
                    yield -(-quota // period)


@contextmanager
def groups_of_run(name: str) -> Iterator[None]:
    """Make a group for the run whose folder has this name; remove it on exit.

    The groups of the run's bots are below it. The group of a killed run is removed with its folder.
    """
    if group := _group_of(name):
        with suppress(OSError):
            group.mkdir()
    try:
        yield
    finally:
        remove_groups(name)


def remove_groups(name: str) -> None:
    """Kill the processes in the group of a run and in those below it, and remove the groups."""
    if name.startswith(RUN):
        Group(_group_of(name)).remove()


TERMINATION = tuple(one for one in signal.Signals if one.name in ("SIGTERM", "SIGHUP"))
"""Signals that end the program, as Ctrl-C does; Windows lacks the second."""

_SWEEPS = 50
_PR_SET_CHILD_SUBREAPER = 36
_HAS_PROC = os.path.exists("/proc/self/environ")

_adopting = False
_interrupts = False  # whether SIGTERM and SIGHUP raise KeyboardInterrupt
_terminations: list[int] = []  # the signals received
_started: WeakSet[subprocess.Popen[bytes]] = WeakSet()
_starting = threading.RLock()  # what is being started is no orphan


def remove_folder(folder: Path) -> None:
    """Remove a folder, and kill every process that was started for it."""
    remove_groups(folder.name)
    sweep(folder)
    remove_tree(folder)


def sweep(folder: Path, waiting: Callable[[], None] = lambda: None) -> None:
    """Kill every process that was started for the bots of a folder, or by one of the bots.

    A process that has left its process group is recognised by its initial environment.
    """
    for _ in range(_SWEEPS):
        waiting()
        if not kill_all([*_started_for(str(folder))]):
            return


def _started_for(folder: str) -> Iterator[int]:
    """Yield the processes whose environment names this folder or one inside it.

    Without /proc, each is asked for its environment: with 240 processes 15 ms instead of 4.
    """
    if not _HAS_PROC:
        yield from _started_elsewhere(folder)
        return
    sign = os.fsencode(f"{FOLDER_VARIABLE}={folder}")
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            told = Path(f"/proc/{pid}/environ").read_bytes()
            if sign in told and any(
                value == sign or value.startswith(sign + b"/") for value in told.split(b"\0")
            ):
                yield int(pid)


def _started_elsewhere(folder: str) -> Iterator[int]:
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            value = process.environ().get(FOLDER_VARIABLE, "")
            if value == folder or value.startswith(f"{folder}{os.sep}"):
                yield process.pid


def kill_all(pids: Collection[int]) -> bool:
    """Kill processes, after stopping all of them so that none can start others.

    This process is spared. Return whether there were any others.
    """
    others = {*pids} - {os.getpid()}
    for action in (signal.SIGSTOP, signal.SIGKILL):
        for pid in others:
            with suppress(OSError):
                os.kill(pid, action)
    return bool(others)


def wait_for(family: Collection[int]) -> None:
    """Kill what is left of the descendants of a killed process, and wait for those adopted here.

    They (the first process of each jail) would else stay in the table of processes until this one
    ends. Where orphans are not adopted, another process waits for them, which may take its time.
    """
    kill_all(family)
    if _adopting:
        _reap(family)


def _reap(pids: Collection[int]) -> None:
    """Wait up to a second until killed processes are gone, which may be adopted meanwhile."""
    left, deadline = {*pids}, time.monotonic() + _PATIENCE
    while left and time.monotonic() < deadline:
        for pid in [*left]:
            try:
                has_ended = os.waitpid(pid, os.WNOHANG)[0] == pid
            except ChildProcessError:  # it is another's, or gone
                has_ended = not read_status(pid)
            if has_ended:
                left.remove(pid)
        if left:
            time.sleep(_MOMENT)


def adopt_orphans() -> None:
    """Become a child subreaper: the parent of every descendant whose own parent ends (Linux).

    A bot can hide a process from every search, but not from this. Only the arena's own programs
    do it: in a program of the library's user, that user's orphans would be taken for a bot's.
    """
    global _adopting
    _adopting = set_process(_PR_SET_CHILD_SUBREAPER, 1)


def children() -> set[int]:
    """Return the processes that this one has started or adopted."""
    return {*find_children(os.getpid())}


def start_child(words: Sequence[str], **pipes: Any) -> subprocess.Popen[bytes]:
    """Start a child of which its caller takes care: `kill_orphans` of another thread spares it."""
    with _starting:
        process = subprocess.Popen(words, **pipes)
        _started.add(process)
    return process


def _find_orphans(spared: Collection[int]) -> set[int]:
    with _starting:
        own = {process.pid for process in _started if process.returncode is None}
        return children() - {*spared} - own


def kill_orphans(spared: Collection[int] = ()) -> None:
    """Kill the adopted processes and their descendants, except `spared` and their descendants.

    The spared processes may start others during the call; these are adopted but not in `spared`.
    """
    while _adopting and (orphans := _find_orphans(spared)):
        kill_all([*orphans, *(below for orphan in orphans for below in find_below(orphan))])
        _reap(orphans)


@contextmanager
def killing_orphans() -> Iterator[None]:
    """Kill what the bots of the block have left."""
    others = children()
    try:
        yield
    finally:
        kill_orphans(others)


@contextmanager
def exit_on_termination() -> Iterator[None]:
    """Make SIGTERM and SIGHUP raise SystemExit, so that `finally` blocks run as after Ctrl-C.

    Inside `interrupt_on_termination` they raise KeyboardInterrupt. SIGHUP stays ignored under
    nohup.
    """

    def end(number: int, _frame: object) -> None:
        _terminations.append(number)
        if not _interrupts:
            sys.exit(128 + number)
        raise KeyboardInterrupt

    heard = [one for one in TERMINATION if signal.getsignal(one) is not signal.SIG_IGN]
    with _handling(heard, end):
        yield


@contextmanager
def _handling(
    numbers: Sequence[int], handler: Callable[[int, FrameType | None], object]
) -> Iterator[dict[int, Any]]:
    """Handle signals in this way during the block; yield how they were handled before.

    Only the main thread can handle signals: in another one nothing is changed.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in numbers if is_main}
    try:
        for number in before:
            signal.signal(number, handler)
        yield before
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextmanager
def interrupt_on_termination() -> Iterator[None]:
    """Let `exit_on_termination` raise KeyboardInterrupt, so that a command can report its state.

    `interrupted_by` then returns the signal.
    """
    global _interrupts
    _terminations.clear()
    _interrupts = True
    try:
        yield
    finally:
        _interrupts = False


def interrupted_by() -> int:
    """Return the signal that interrupted a command, SIGINT if no other was received."""
    return _terminations[0] if _terminations else signal.SIGINT


def hang_up() -> None:
    """Act as on SIGHUP, because the terminal was closed, unless SIGHUP was received already."""
    if signal.SIGHUP not in _terminations:
        os.kill(os.getpid(), signal.SIGHUP)


@contextmanager
def signals_held() -> Iterator[None]:
    """Defer signals: handle the first one that arrives when the block ends.

    So a new folder or process is registered for its removal, and a removal is not interrupted. A
    signal that Python does not handle is not deferred.
    """
    came: list[tuple[int, FrameType | None]] = []
    heard = [one for one in (signal.SIGINT, *TERMINATION) if callable(signal.getsignal(one))]
    with _handling(heard, lambda *signalled: came.append(signalled)) as before:
        yield
    if came:
        before[came[0][0]](*came[0])
