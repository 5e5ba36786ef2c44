"""Keeper: kills a run's workers when their parent has ended without doing it.

A worker ends itself when its parent has ended, but not while a bot holds the interpreter in
one long call. The keeper is a program of its own (`watch`), in a session of its own: it waits for
the parent's end, kills the workers it has been told of with all below them, and removes the run's
folder. Without it everything but such a worker still ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.util import get_temp_dir
from pathlib import Path

import psutil

import arena
from arena.executors import watch
from arena.lanes.cleanup import descendants, kill_all, remove_folder, remove_tree

_ROUNDS = 50  # of killing, until nothing new has been started meanwhile
_TICK = 0.02  # seconds from one to the next


class Keeper:
    """The keeper's process, as the parent sees it."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-I", "-S", watch.__file__, str(folder), get_temp_dir()]
        path = [os.path.dirname(package.__path__[0]) for package in (psutil, arena)]
        self._process = subprocess.Popen(
            [*words, str(os.getpid()), *path],
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


def end_run(workers: Iterable[int], folder: str, of_multiprocessing: str) -> None:
    """Kill workers and all below them, and remove the run's folder and multiprocessing's.

    At once, and not after a while in which they may end by themselves: what a bot has hidden
    is known only as long as it is below its worker.
    """
    known = []
    for pid in workers:
        with suppress(psutil.Error):
            known.append(psutil.Process(pid))
    for _ in range(_ROUNDS):
        running = [worker for worker in known if _runs(worker)]
        if not running:
            break
        kill_all([*running, *(below for worker in running for below in descendants(worker))])
        psutil.wait_procs(running, timeout=_TICK)
    remove_folder(Path(folder))
    remove_tree(Path(of_multiprocessing))


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
