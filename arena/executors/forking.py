"""Run the fork server: it forks a run's workers from a process that has imported what they need.

No bot runs in it. It forks a worker for each order on its socket, and reports there how each of
them ended. When the socket or the parent has ended, it kills the workers and all their
descendants; where the parent died, it also removes the temporary folder of the run. It adopts
processes that outlive their worker, and kills them.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
import psutil

from arena.executors import worker_process as process
from arena.executors.frames import pack
from arena.lanes.cleanup import (
    TERMINATION,
    adopt_orphans,
    descendants,
    die_with,
    kill_all,
    kill_orphans,
)
from arena.lanes.meter import find_children
from arena.lanes.scratch import remove_scratch

STARTED, ENDED = 1, 2
"""Kinds of frames to the parent: a worker has been forked, and one has ended."""

MOST_ORDER: Final = 1 << 16
"""Bytes of an order."""

DESCRIPTORS: Final = 2
"""How many descriptors come with an order: those of `process.main`."""

_ROUNDS = 50  # of killing, until nothing new has been started meanwhile
_TICK = 0.02  # seconds from one to the next
_LOOK = 1.0  # seconds between two looks at the parent, where no descriptor tells its end


class Order(msgspec.Struct):
    """A worker that is wanted: its number among the orders, and its folder."""

    number: int
    folder: str


class Notice(msgspec.Struct):
    """What has become of an order: its worker's process, and the exit status of one that ended."""

    number: int
    pid: int
    status: int = 0


class _Server:
    """Forks workers for a parent, the process with this number."""

    def __init__(self, control: socket.socket, parent: int) -> None:
        self.control = control
        self.parent = parent
        self.orders: dict[int, int] = {}  # by worker, of those that have not ended
        self.folders: set[Path] = set()  # of runs
        self.wakeup, wake = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.own = {control.fileno(), self.wakeup, wake}
        self.poll = select.poll()
        for descriptor in (control.fileno(), self.wakeup):
            self.poll.register(descriptor, select.POLLIN)
        self.watched = _open_process(parent)
        if self.watched is not None:
            self.own.add(self.watched)
            self.poll.register(self.watched, select.POLLIN)

    def serve(self) -> None:
        """Follow orders until there are no more, and end what is left."""
        patience = None if self.watched is not None else _LOOK * 1000
        try:
            while os.getppid() == self.parent:
                ready = {descriptor for descriptor, _ in self.poll.poll(patience)}
                if self.watched in ready:
                    break
                if self.wakeup in ready:
                    self._bury()
                if self.control.fileno() in ready and not self._follow():
                    break
        except OSError:  # the parent has closed its end
            pass
        self._end()

    def _follow(self) -> bool:
        """Fork the worker of one order; return whether there was one."""
        data, descriptors, _, _ = socket.recv_fds(self.control, MOST_ORDER, DESCRIPTORS)
        if not data:
            return False
        order = msgspec.msgpack.decode(data, type=Order)
        self.folders.add(Path(order.folder).parent)
        here = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become(order, descriptors, here)
        for descriptor in descriptors:
            os.close(descriptor)
        self.orders[pid] = order.number
        self._say(STARTED, Notice(order.number, pid))
        return True

    def _become(self, order: Order, descriptors: list[int], server: int) -> None:
        """Be the worker of an order, and never return; it ends with the server."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, *TERMINATION):
                signal.signal(number, signal.SIG_DFL)
            for descriptor in self.own:
                os.close(descriptor)
            die_with(server)
            channel, memory = descriptors
            process.main(channel, memory, order.folder)
            status = 0
        finally:
            os._exit(status)

    def _bury(self) -> None:
        """Say which workers have ended, and kill the processes that they have left behind."""
        with suppress(BlockingIOError):
            while os.read(self.wakeup, 1 << 10):
                pass
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                if (number := self.orders.pop(pid, None)) is not None:
                    self._say(ENDED, Notice(number, pid, os.waitstatus_to_exitcode(status)))
        if {*find_children(os.getpid())} - {*self.orders}:
            kill_orphans(_running(self.orders))

    def _say(self, kind: int, notice: Notice) -> None:
        self.control.sendall(pack(kind, msgspec.msgpack.encode(notice)))

    def _end(self) -> None:
        """Kill the workers and all below them; remove the folders of a parent that has died.

        At once, and not after a while in which they may end by themselves: what a bot has
        hidden is known only as long as it is below its worker.
        """
        workers = _running(self.orders)
        for _ in range(_ROUNDS):
            running = [worker for worker in workers if _runs(worker)]
            if not running:
                break
            kill_all([*running, *(below for worker in running for below in descendants(worker))])
            psutil.wait_procs(running, timeout=_TICK)
        kill_orphans()
        if os.getppid() != self.parent:
            for folder in self.folders:
                if folder.exists():
                    remove_scratch(folder)


def _open_process(pid: int) -> int | None:
    """Return a descriptor that is readable when a process has ended, None if there is none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _running(pids: Iterable[int]) -> list[psutil.Process]:
    running = []
    for pid in pids:
        with suppress(psutil.Error):
            running.append(psutil.Process(pid))
    return running


def _runs(worker: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return bool(worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE)
    return False


def main(descriptor: int, parent: int) -> None:
    """Fork workers as they are ordered on a socket, until that ends or the parent does.

    Ctrl-C and the end of a terminal are the parent's; workers never get them.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGINT])
    for number in TERMINATION:
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    control = socket.socket(fileno=descriptor)
    _Server(control, parent).serve()
    sys.exit(0)
