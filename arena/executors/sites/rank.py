"""Rank: a process of MPI that is a host, and the messages between it and rank 0."""

from __future__ import annotations

import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

from arena.executors.sites import site_host as host
from arena.executors.sites.transport import Event, Here

PAUSE: Final = 0.005
"""Seconds between two looks at what has come: MPI itself would wait with a whole core."""


class Post:
    """Messages between this rank and others; those of another tag are not seen."""

    def __init__(self, tag: int) -> None:
        from mpi4py import MPI

        self.tag = tag
        self._world = MPI.COMM_WORLD
        self._any_source = MPI.ANY_SOURCE
        self._status = MPI.Status()
        self._on_the_way: list[MPI.Request] = []

    def send(self, rank: int, message: object) -> None:
        """Send a message, without waiting until it is there."""
        self._forget_sent()
        self._on_the_way.append(self._world.isend(message, rank, self.tag))

    def receive(self) -> tuple[int, Any] | None:
        """Return the next message and the rank that has sent it, None if there is none."""
        if not self._world.iprobe(self._any_source, self.tag, self._status):
            return None
        source = self._status.source
        return source, self._world.recv(source=source, tag=self.tag)

    def flush(self) -> None:
        """Wait until all messages are on the other side."""
        while self._on_the_way:
            self._forget_sent()
            time.sleep(PAUSE)

    def _forget_sent(self) -> None:
        self._on_the_way = [one for one in self._on_the_way if not one.test()[0]]


def answer_calls(tag: int) -> None:
    """Make the calls that rank 0 sends, each in a thread, until it sends None; end all sites.

    The first message is the name of this rank's machine; the others are what calls come to.
    """
    from mpi4py import MPI

    post = Post(tag)
    post.send(0, MPI.Get_processor_name())
    events: SimpleQueue[Event] = SimpleQueue()
    calls = Here({})
    calls.start(events.put)
    is_over = False
    while not is_over:
        while not is_over and (message := post.receive()):
            if message[1] is None:
                is_over = True
            else:
                number, function, args = message[1]
                calls.call(number, "", function, *args)
        with suppress(Empty):
            post.send(0, events.get(timeout=PAUSE))
    calls.close()
    host.close_sites()
    post.flush()
