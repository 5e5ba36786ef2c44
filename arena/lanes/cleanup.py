"""Kill the processes and remove the files that a run or its bots leave, whatever ends the run."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import psutil

from arena.entries.layout import FOLDER_VARIABLE as FOLDER_VARIABLE
from arena.lanes.cgroup import remove_groups

TERMINATION = tuple(one for one in signal.Signals if one.name in ("SIGTERM", "SIGHUP"))
"""Signals that end what is under way, as Ctrl-C does; Windows lacks the second."""

_SWEEPS = 50
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_HAS_PROC = os.path.exists("/proc/self/environ")

_adopting = False
_interrupts = False  # whether these signals raise what Ctrl-C raises
_terminations: list[int] = []  # those that came


def remove_folder(folder: Path) -> None:
    """Remove a folder, and kill every process that was started for it."""
    remove_groups(folder.name)
    sweep(folder)
    remove_tree(folder)


def remove_tree(path: Path) -> None:
    """Remove a file, or a folder with all in it, however deep a bot has made it.

    A bot may have taken away its permissions. Of a link nothing behind it is touched, and a pipe is
    not opened.
    """
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
    folders = [os.fspath(path)]
    while folders:
        with suppress(OSError):
            folder = folders.pop()
            os.chmod(folder, stat.S_IRWXU)
            with os.scandir(folder) as items:
                folders += [item.path for item in items if item.is_dir(follow_symlinks=False)]
    with suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # a file, or deeper than Python goes
        if path.exists():
            subprocess.run(["rm", "-rf", "--", path], capture_output=True, check=False)


def sweep(folder: Path, waiting: Callable[[], None] = lambda: None) -> None:
    """Kill every process that was started for the bots of a folder, or by one of them.

    A process may have left its process group; it is known by the environment it began with.
    """
    for _ in range(_SWEEPS):
        waiting()
        if not kill_all([*_started_for(str(folder))]):
            return


def _started_for(folder: str) -> Iterator[psutil.Process]:
    """Yield the processes with this folder, or one in it, in their environment.

    Where there is /proc, one that does not name the folder is passed over: with 240 processes
    that takes 4 ms instead of 15.
    """
    for pid in psutil.pids():
        with suppress(psutil.Error, OSError):
            if _HAS_PROC and os.fsencode(folder) not in _environment_of(pid):
                continue
            process = psutil.Process(pid)
            value = process.environ().get(FOLDER_VARIABLE, "")
            if value == folder or value.startswith(f"{folder}{os.sep}"):
                yield process


def _environment_of(pid: int) -> bytes:
    with open(f"/proc/{pid}/environ", "rb") as file:
        return file.read()


def kill_all(processes: list[psutil.Process]) -> bool:
    """Kill processes; all are stopped first, so that none starts more meanwhile.

    Return whether there were any besides this one, which is spared.
    """
    others = [process for process in processes if process.pid != os.getpid()]
    for action in (signal.SIGSTOP, signal.SIGKILL):
        for process in others:
            with suppress(psutil.Error):
                process.send_signal(action)
    return bool(others)


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent ends (Linux).

    A bot can hide a process from every search, but not from this (child subreaper). Only the
    arena's own programs do it: in another one, processes of its user would be taken for those.
    """
    global _adopting
    _adopting = _set_process(_PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """Have this process killed when its parent ends (Linux); exit if that has ended already."""
    _set_process(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _set_process(option: int, value: int) -> bool:
    """Set an option of this process (prctl); return whether it has been set."""
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value) == 0)


def children() -> set[psutil.Process]:
    """Return the processes that this one has started or adopted."""
    return set(psutil.Process().children())


def kill_orphans(spared: Collection[psutil.Process] = ()) -> None:
    """Kill the adopted processes and all below them, but not the spared ones and theirs.

    Those may start processes meanwhile, which are not known here.
    """
    while _adopting and (orphans := children() - {*spared}):
        kill_all([*orphans, *(below for orphan in orphans for below in descendants(orphan))])
        psutil.wait_procs(orphans, timeout=1)


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """Return all processes below a process, none if it has ended."""
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []


def count_descendants(pids: Collection[int]) -> Counter[int]:
    """Return how many processes there are below each of these, with one look at all."""
    parents = {process.pid: process.info["ppid"] for process in psutil.process_iter(["ppid"])}
    counts: Counter[int] = Counter()
    for pid in parents:
        above = parents.get(pid)
        while above and above not in pids:
            above = parents.get(above)
        if above:
            counts[above] += 1
    return counts


@contextmanager
def exit_on_termination() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end what is under way as Ctrl-C does; under nohup that is ignored.

    Signals belong to the main thread; in another thread nothing is changed. They raise SystemExit,
    or KeyboardInterrupt inside `interrupt_on_termination`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: object) -> None:
        _terminations.append(number)
        if not _interrupts:
            sys.exit(128 + number)
        raise KeyboardInterrupt

    heard = [one for one in TERMINATION if signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.signal(number, end) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupt_on_termination() -> Iterator[None]:
    """Let `exit_on_termination` raise KeyboardInterrupt, so that a command says what is kept.

    `interrupted_by` then says which signal it was.
    """
    global _interrupts
    _terminations.clear()
    _interrupts = True
    try:
        yield
    finally:
        _interrupts = False


def interrupted_by() -> int:
    """Return the signal that has interrupted a command: SIGINT if no other came."""
    return _terminations[0] if _terminations else signal.SIGINT


def hang_up() -> None:
    """Do what SIGHUP does here, unless it has come: the terminal has gone."""
    if signal.SIGHUP not in _terminations:
        os.kill(os.getpid(), signal.SIGHUP)


@contextmanager
def signals_held() -> Iterator[None]:
    """Let no signal raise an exception here: the first one that comes is handled at the end.

    So what is made is known to whoever removes it, and its removal is not left half done. A
    signal that Python does not handle is not held.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # none raises anything there
        return
    came: list[tuple[int, FrameType | None]] = []
    before: dict[int, Callable[[int, FrameType | None], object]] = {}
    for ending in (signal.SIGINT, *TERMINATION):
        if callable(handler := signal.getsignal(ending)):
            before[ending] = handler
    try:
        for number in before:
            signal.signal(number, lambda *signalled: came.append(signalled))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        before[came[0][0]](*came[0])
