"""Start the arena's programs, end them with all that they have started, and handle signals.

What only Linux has stands here, each with a plain way for other systems: descriptors of processes,
/proc, the clock of another process, and orphans that a program adopts.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final
from weakref import WeakSet

FOLDER_VARIABLE: Final = "ARENA_BOT_FOLDER"
"""The environment variable that marks a process as started for a bot."""

TERMINATION = tuple(one for one in signal.Signals if one.name in ("SIGTERM", "SIGHUP"))
"""Signals that end the program, as Ctrl-C does; Windows lacks the second."""

_HAS_PROC = os.path.exists("/proc/self/environ")
_LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # 0.1 ms, not 10
_PROCESS_CLOCK = 2  # the kernel's CPUCLOCK_SCHED, in the id of a clock
_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 1.0  # seconds for the end of killed processes
_SWEEPS = 50
_MARK = b"\0" + os.fsencode(f"{FOLDER_VARIABLE}=")

_interrupts = False  # whether SIGTERM and SIGHUP raise KeyboardInterrupt
_terminations: list[int] = []  # the signals received
_adopting = False
_children: WeakSet[Child] = WeakSet()
_starting = threading.RLock()  # what is being started is no orphan


class Child(subprocess.Popen[bytes]):
    """A program in a session of its own, of which its caller takes care.

    `kill_orphans` of another thread spares it.
    """

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        with _starting:
            super().__init__(words, start_new_session=True, **options)
            _children.add(self)

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit status, at once when it ends; raises subprocess.TimeoutExpired."""
        if timeout is None:
            return super().wait()
        deadline = time.monotonic() + timeout
        if self.returncode is None:
            _wait_for_ends([self.pid], timeout)
        return super().wait(max(0.0, deadline - time.monotonic()))

    def end(self, *, contained: bool = False) -> int:
        """Kill it, its group and all below it, and wait for their ends; return its exit status.

        If it is `contained`, all but its own child are in a pid namespace, which ends with that.
        """
        find = find_children if contained else find_below
        family = find(self.pid) if self.poll() is None else []
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        status = self.wait()
        kill(family)
        return status


def run_program(*words: str, seconds: float | None = 10.0) -> subprocess.CompletedProcess[str]:
    """Return what a program of the machine has said at its end; it takes so many seconds at most.

    Raises OSError if it cannot be started or takes longer.
    """
    pipes: dict[str, Any] = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with Child(words, stdin=subprocess.DEVNULL, **pipes) as child:
        try:
            said = child.communicate(timeout=seconds)
        except BaseException as error:
            child.end()
            if isinstance(error, subprocess.TimeoutExpired):
                raise OSError(str(error)) from None
            raise
    texts = (text.decode(errors="replace") for text in said)
    return subprocess.CompletedProcess(words, child.returncode, *texts)


def kill(pids: Collection[int]) -> bool:
    """Kill processes but this one, after stopping all so that none can start others; wait for them.

    Those adopted here (the first process of each jail) would else stay in the table of processes
    until this one ends. Return whether there were any.
    """
    others = {*pids} - {os.getpid()}
    for action in (signal.SIGSTOP, signal.SIGKILL):
        for pid in others:
            with suppress(OSError):
                os.kill(pid, action)
    _wait_for_ends(others, _PATIENCE)
    for pid in others if _adopting else ():
        with suppress(OSError):  # it is another's
            os.waitpid(pid, os.WNOHANG)
    return bool(others)


def _wait_for_ends(pids: Collection[int], seconds: float) -> None:
    """Wait until processes have ended, up to some seconds; without descriptors, do not wait."""
    deadline = time.monotonic() + seconds
    for pid in pids:
        with suppress(AttributeError, OSError):  # not Linux, or it has ended
            end = os.pidfd_open(pid)
            try:
                poll = select.poll()
                poll.register(end, select.POLLIN)
                poll.poll(1000 * max(0.0, deadline - time.monotonic()))
            finally:
                os.close(end)


def find_below(pid: int) -> list[int]:
    """Return the ids of a process's descendants, each after its parent."""
    found = [pid]
    for parent in found:
        found += find_children(parent)
    return found[1:]


def find_children(pid: int) -> list[int]:
    """Return the ids of a process's children, an empty list if it has ended."""
    children: list[int] = []
    if not _LISTS_CHILDREN:
        import psutil

        with suppress(psutil.Error):
            children += [process.pid for process in psutil.Process(pid).children()]
    with suppress(OSError):  # it has ended
        for thread in os.listdir(f"/proc/{pid}/task"):
            children += map(int, read(f"/proc/{pid}/task/{thread}/children").split())
    return children


def read(path: str) -> str:
    """Return the content of a file of the kernel: in 10 us, of which pathlib would make 30."""
    with open(path, "rb", 0) as file:
        return file.read().decode(errors="replace")


def read_status(pid: int | str) -> dict[str, str]:
    """Return the fields of /proc/PID/status by name, none if the process has ended.

    A process that is ending (a zombie) has no fields about its memory.
    """
    with suppress(OSError):
        lines = read(f"/proc/{pid}/status").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)
    return {}


def read_stat(pid: int) -> list[str]:
    """Return the fields after the name in /proc/PID/stat; raises OSError."""
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def read_clock(pid: int) -> float | None:
    """Return the processor time of one process, None if it has ended."""
    if sys.platform == "linux":
        try:
            return time.clock_gettime(~pid << 3 | _PROCESS_CLOCK)
        except OSError:
            return None
    import psutil

    try:
        return sum(psutil.Process(pid).cpu_times()[:2])
    except psutil.Error:
        return None


def sweep(folder: Path, waiting: Callable[[], None] = lambda: None) -> None:
    """Kill every process that was started for the bots of a folder, or by one of the bots.

    A process that has left its process group is recognised by its initial environment.
    """
    for _ in range(_SWEEPS):
        waiting()
        marks = _folders().items()
        if not kill([pid for pid, mark in marks if f"{mark}/".startswith(f"{folder}/")]):
            return


def _folders() -> dict[int, str]:
    """Return the folders for which processes were started: of 240 in 4 ms, without /proc in 15."""
    found = {}
    if not _HAS_PROC:
        import psutil

        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                found[process.pid] = process.environ().get(FOLDER_VARIABLE, "")
        return found
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/environ", "rb", 0) as file:
            _, mark, rest = (b"\0" + file.read()).partition(_MARK)
            if mark:
                found[int(name)] = os.fsdecode(rest.partition(b"\0")[0])
    return found


def adopt_orphans() -> None:
    """Become a child subreaper: the parent of every descendant whose own parent ends (Linux).

    A bot can hide a process from every search, but not from this. Only the arena's own programs
    do it: in a program of the library's user, that user's orphans would be taken for a bot's.
    """
    global _adopting
    if sys.platform == "linux":
        import ctypes

        _adopting = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def kill_orphans(spared: Collection[int] = ()) -> None:
    """Kill the adopted processes and their descendants, except `spared` and their descendants.

    The spared processes may start others during the call; these are adopted but not in `spared`.
    """
    while _adopting and (orphans := _find_orphans(spared)):
        kill([*orphans, *(below for orphan in orphans for below in find_below(orphan))])


def _find_orphans(spared: Collection[int]) -> set[int]:
    with _starting:
        own = {child.pid for child in _children if child.returncode is None}
        return {*find_children(os.getpid())} - {*spared} - own


@contextmanager
def killing_orphans() -> Iterator[None]:
    """Kill what the bots of the block have left."""
    others = find_children(os.getpid())
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
