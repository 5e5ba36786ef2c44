"""Kill the processes and remove the files of a run and its bots, however the run ends."""

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
"""Signals that end the program, as Ctrl-C does; Windows lacks the second."""

_SWEEPS = 50
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_HAS_PROC = os.path.exists("/proc/self/environ")

_adopting = False
_interrupts = False  # whether SIGTERM and SIGHUP raise KeyboardInterrupt
_terminations: list[int] = []  # the signals received


def remove_folder(folder: Path) -> None:
    """Remove a folder, and kill every process that was started for it."""
    remove_groups(folder.name)
    sweep(folder)
    remove_tree(folder)


def remove_tree(path: Path) -> None:
    """Remove a file, or a folder with its contents, however deeply a bot has nested it.

    It works if a bot has removed the permissions. Links are not followed, and pipes are not opened.
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
    with suppress(OSError):  # a file, or nested too deeply for Python
        if path.exists():
            subprocess.run(["rm", "-rf", "--", path], capture_output=True, check=False)


def sweep(folder: Path, waiting: Callable[[], None] = lambda: None) -> None:
    """Kill every process that was started for the bots of a folder, or by one of the bots.

    A process that has left its process group is recognised by its initial environment.
    """
    for _ in range(_SWEEPS):
        waiting()
        if not kill_all([*_started_for(str(folder))]):
            return


def _started_for(folder: str) -> Iterator[psutil.Process]:
    """Yield the processes whose environment names this folder or one inside it.

    If /proc exists, it is read first to rule out processes that do not name the folder: with 240
    processes that takes 4 ms instead of 15.
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
    """Kill processes, after stopping all of them so that none can start others.

    This process is spared. Return whether there were any others.
    """
    others = [process for process in processes if process.pid != os.getpid()]
    for action in (signal.SIGSTOP, signal.SIGKILL):
        for process in others:
            with suppress(psutil.Error):
                process.send_signal(action)
    return bool(others)


def adopt_orphans() -> None:
    """Become a child subreaper: the parent of every descendant whose own parent ends (Linux).

    A bot can hide a process from every search, but not from this. Only the arena's own programs
    do it: in a program of the library's user, that user's orphans would be taken for a bot's.
    """
    global _adopting
    _adopting = _set_process(_PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (Linux); exit if it has ended."""
    _set_process(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _set_process(option: int, value: int) -> bool:
    """Set an option of this process with prctl; return whether that succeeded."""
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value) == 0)


def children() -> set[psutil.Process]:
    """Return the processes that this one has started or adopted."""
    return set(psutil.Process().children())


def kill_orphans(spared: Collection[psutil.Process] = ()) -> None:
    """Kill the adopted processes and their descendants, except `spared` and their descendants.

    The spared processes may start others during the call; these are adopted but not in `spared`.
    """
    while _adopting and (orphans := children() - {*spared}):
        kill_all([*orphans, *(below for orphan in orphans for below in descendants(orphan))])
        psutil.wait_procs(orphans, timeout=1)


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """Return all descendants of a process, an empty list if it has ended."""
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []


def count_descendants(pids: Collection[int]) -> Counter[int]:
    """Count the descendants of each of these processes, in one pass over the process table."""
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
    """Make SIGTERM and SIGHUP raise SystemExit, so that `finally` blocks run as after Ctrl-C.

    Inside `interrupt_on_termination` they raise KeyboardInterrupt. SIGHUP stays ignored under
    nohup. Only the main thread can handle signals: in another one nothing is changed.
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
    if threading.current_thread() is not threading.main_thread():
        yield  # signals raise exceptions only in the main thread
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
