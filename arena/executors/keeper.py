"""Keeper: kills a run's workers when their parent has ended without doing it.

A worker ends itself when its parent has ended, but not while a bot holds the interpreter in
one long call. The keeper is a program of its own, in a session of its own: it waits for the
parent's end, kills the workers it has been told of with all below them, and removes the run's
folder. Without it everything but such a worker still ends.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.util import get_temp_dir
from pathlib import Path

import psutil

from arena.lanes.cleanup import descendants, kill_all, remove_folder, remove_tree

_ROUNDS = 50  # of killing, until nothing new has been started meanwhile
_TICK = 0.02  # seconds from one to the next
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from arena.executors.keeper import main; main()"
)


class Keeper:
    """The keeper's process, as the parent sees it."""

    def __init__(self, folder: Path) -> None:
        root = Path(__file__).resolve().parents[2]
        words = [sys.executable, "-P", "-s", "-c", _PROGRAM, str(root), str(folder), get_temp_dir()]
        self._process = subprocess.Popen(
            [*words, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def watch(self, pid: int) -> None:
        """Have a worker killed when this process has ended."""
        assert self._process.stdin is not None
        with suppress(OSError):  # the keeper was killed
            os.write(self._process.stdin.fileno(), f"{pid}\n".encode())

    def dismiss(self) -> None:
        """End the keeper: no worker is left."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()


@contextmanager
def keeper(folder: Path) -> Iterator[Keeper]:
    """Yield a keeper for the workers of a run that have this folder."""
    kept = Keeper(folder)
    try:
        yield kept
    finally:
        kept.dismiss()


def main() -> None:
    """Be the keeper: `argv` has the run's folder, that of multiprocessing, and the parent."""
    folder, of_multiprocessing, parent = Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _end([*_hear_of_workers([0, *_end_of(parent)])])
    remove_folder(folder)
    remove_tree(of_multiprocessing)


def _end_of(parent: int) -> list[int]:
    """Return a descriptor that is readable when the parent has ended, if there can be one."""
    with suppress(AttributeError, OSError):
        return [os.pidfd_open(parent)]
    return []


def _hear_of_workers(waited: list[int]) -> Iterator[psutil.Process]:
    """Yield the processes that standard input names, until it or the parent ends."""
    rest = b""
    while 0 in select.select(waited, [], [])[0] and (data := os.read(0, 1 << 16)):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            with suppress(psutil.Error):
                yield psutil.Process(int(line))


def _end(workers: list[psutil.Process]) -> None:
    """Kill workers and all below them.

    At once, and not after a while in which they may end by themselves: what a bot has hidden
    is known only as long as it is below its worker.
    """
    for _ in range(_ROUNDS):
        running = [worker for worker in workers if _runs(worker)]
        if not running:
            return
        kill_all([*running, *(below for worker in running for below in descendants(worker))])
        psutil.wait_procs(running, timeout=_TICK)


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
