"""Start the fork server and order worker processes from it: its parent's side.

It is a program of our own, and not multiprocessing's: so a run changes nothing in the program that
calls it (its environment, start method, signals and `__main__`), and does not depend on any of
these either. It ends with the crew that it was started for.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
import psutil

from arena.errors import WorkerDied
from arena.executors import forking
from arena.executors.forking import Notice, Order
from arena.executors.frames import Frames, Garbled
from arena.lanes.evidence import ROOT
from arena.lanes.launch import THREADS, Program

START: Final = 60.0
"""Seconds for a process to begin."""

_STARTS = 3  # attempts
_END = 5.0  # seconds for a server to end by itself
_PACKAGES = (psutil, msgspec)  # no file in the working folder takes their places
_KEPT = ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
_ENVIRONMENT = {"PYTHONHASHSEED": "0", **dict.fromkeys(THREADS, "1")}

_shared: ForkServer | None = None


class ForkServer:
    """Forks worker processes; one that was killed is started again with the next worker.

    `generation` is how often it was started. Several threads may use it. The order of a set of
    texts is the same in all workers of all runs, and numpy has one thread in them, as in a bot's
    own process.
    """

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.generation = 0
        self._lock = threading.Lock()
        self._orders = 0
        self._statuses: dict[int, int] = {}  # by worker
        self._start()

    def _start(self) -> None:
        """Start the program; it imports what workers need while this process goes on."""
        self.generation += 1
        self._statuses.clear()
        self._frames = Frames(forking.MOST_ORDER)
        self._control, theirs = socket.socketpair()
        with theirs:
            main = f"forking.main({theirs.fileno()}, {os.getpid()})"
            statement = f"from arena.executors import forking; {main}"
            self._program = Program(
                statement,
                _search_path(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
                pass_fds=[theirs.fileno()],
            )

    def fork(self, folder: Path, descriptors: Sequence[int]) -> int:
        """Return a new worker process, which gets a folder and the descriptors.

        Raises WorkerDied where none can be started.
        """
        with self._lock:
            for _ in range(_STARTS):
                self._orders += 1
                order = Order(self._orders, os.fspath(folder))
                with suppress(OSError, EOFError, Garbled):
                    socket.send_fds(self._control, [msgspec.msgpack.encode(order)], descriptors)
                    return self._wait_for_start(order)
                reason = self._end()
                self._start()
        raise WorkerDied(f"a worker process cannot be started: {reason}")

    def _wait_for_start(self, order: Order) -> int:
        deadline = time.monotonic() + START
        while True:
            for kind, notice in self._hear(deadline - time.monotonic()):
                if kind == forking.STARTED and notice.number == order.number:
                    return notice.pid

    def exit_status(self, pid: int, generation: int, seconds: float) -> int | None:
        """Return how a worker of a generation has ended, below 0 by a signal.

        It is waited for so many seconds. None if it is not known: the worker runs, or the server
        that has forked it has ended.
        """
        deadline = time.monotonic() + seconds
        with self._lock, suppress(OSError, EOFError, Garbled):
            while generation == self.generation:
                if pid in self._statuses:
                    return self._statuses[pid]
                self._hear(deadline - time.monotonic())
        return None

    def _hear(self, seconds: float) -> list[tuple[int, Notice]]:
        """Return what the server says next.

        Raises TimeoutError if it says nothing for so many seconds, EOFError if it has ended, and
        Garbled if something else has written to its socket.
        """
        self._control.settimeout(max(seconds, 1e-3))
        data = self._control.recv(forking.MOST_ORDER)
        if not data:
            raise EOFError
        self._frames.add(data)
        heard = [(kind, _read(notice)) for kind, notice in self._frames.take()]
        for kind, notice in heard:
            if kind == forking.STARTED:
                self._statuses.pop(notice.pid, None)  # of a process before it with this number
            else:
                self._statuses[notice.pid] = notice.status
        return heard

    def _end(self) -> str:
        """End the program, and return its last words."""
        with suppress(OSError):  # a process that was forked from this one may have it, too
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        with suppress(subprocess.TimeoutExpired):
            self._program.process.wait(_END)
        self._program.kill()
        return self._program.last_words() or "its fork server has ended"

    def close(self) -> None:
        """End the server and all workers that are left."""
        self._end()


_notice = msgspec.msgpack.Decoder(Notice)


def _read(data: bytes) -> Notice:
    try:
        return _notice.decode(data)
    except msgspec.DecodeError as error:
        raise Garbled(f"a notice cannot be read: {error}") from None


def _search_path() -> list[str]:
    """Return where the program finds modules besides those of Python itself."""
    roots = [ROOT, *(os.path.dirname(package.__path__[0]) for package in _PACKAGES)]
    return [*dict.fromkeys([*roots, *filter(None, sys.path)])]


def _environment() -> dict[str, str]:
    """Return this program's environment, without what changes how Python itself works."""
    own = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or not name.startswith("PYTHON")
    }
    return own | _ENVIRONMENT


@contextmanager
def open_server() -> Iterator[ForkServer]:
    """Yield a server for a crew: the one that is shared, or one of its own."""
    if _shared is not None and _shared.owner == os.getpid():
        yield _shared
        return
    server = ForkServer()
    try:
        yield server
    finally:
        server.close()


@contextmanager
def shared_server() -> Iterator[None]:
    """Let all crews of this process use one server until the end; it takes 0.1 s to start."""
    global _shared
    with open_server() as server:
        before, _shared = _shared, server
        try:
            yield
        finally:
            _shared = before
