"""Start, ask and end one worker process of a crew: its parent's side."""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import socket
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from arena.executors import worker_process as process
from arena.executors.answers import (
    LOGGED,
    Disturbed,
    Failed,
    LastWords,
    most_bytes,
    read_answer,
)
from arena.executors.deaths import Asking, Progress, split
from arena.executors.forkserver import START, ForkServer
from arena.executors.frames import Frames, Garbled, pack
from arena.executors.log import Line, RunLog
from arena.lanes.cleanup import descendants, kill_all, remove_folder
from arena.lanes.faults import describe_exit, one_line
from arena.lanes.meter import Meter, Stopwatch
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine.strategy import Spent

_END_PATIENCE = 5.0
_EXIT_PATIENCE = 0.2  # seconds from the end of its socket to the end of a worker
_GRACE = 1.0  # extra seconds in which a worker may report an answer that came in time
_READ = 1 << 16


class Member:
    """A worker process, and the chunks that it has been given.

    `head` is what it is told first. `asking` is the last question of a game played apart; `words`
    are the worker's last ones, if it ended by itself; `status` is how it has ended, None as long
    as that is not known.
    """

    def __init__(
        self, server: ForkServer, head: bytes, tournament: Tournament, folder: Path, log: RunLog
    ) -> None:
        self.server = server
        self.folder = folder
        self.chunks: deque[Chunk] = deque()
        self.asking: Asking | None = None
        self.words = ""
        self.status: int | None = None
        self.is_stopped = False
        self._allowed = tournament.limits.longest
        self._longest_game = tournament.rules.game_plies * self._allowed.wall
        self._frames = Frames(0)
        folder.mkdir()
        self.log = log
        self.socket, theirs = socket.socketpair()
        memory = _make_memory()
        try:
            self.progress = Progress(mmap.mmap(memory, Progress.SIZE))
            self.pid = server.fork(folder, [theirs.fileno(), memory])
        except BaseException:
            self.socket.close()
            raise
        finally:
            theirs.close()
            os.close(memory)
        self._generation = server.generation
        self.socket.settimeout(START)  # nobody waits for ever for a worker that does not read
        self._send(process.HEAD, head)
        self._handle = psutil.Process(self.pid) if psutil.pid_exists(self.pid) else None
        self._beat = 0
        self._begun = 0.0
        self._watch = Stopwatch(Meter(self.pid))
        self._watch.start()

    @property
    def name(self) -> str:
        """The name of the worker, which the log shows."""
        return self.folder.name

    @property
    def is_ready(self) -> bool:
        """Whether the process has given a sign of life."""
        return self.progress.beat > 0

    def give(self, chunk: Chunk) -> None:
        """Give the worker a chunk to play after those it has."""
        if not self.chunks:
            self._watch.restart()
            self._begun = time.monotonic()
        self.chunks.append(chunk)
        self._send(process.CHUNK, pickle.dumps(chunk))

    def _send(self, kind: int, data: bytes = b"") -> None:
        """Tell the worker something; its death is noticed where its answers are awaited."""
        with suppress(OSError):
            self.socket.sendall(pack(kind, data))

    def receive(self) -> Iterator[Played | list[Chunk]]:
        """Yield what the worker says next, as far as it is there.

        That is what a chunk came to, or what is to be played in its place.

        Raises EOFError if it has died, and Garbled for anything but what it was asked for: a bot
        may have written into its socket.
        """
        try:
            data = self.socket.recv(_READ)
        except OSError:
            data = b""
        if not data:
            raise EOFError
        self._frames.most = most_bytes(self.chunks)
        self._frames.add(data)
        for kind, text in self._frames.take():
            answer = read_answer(kind, text, self.chunks[0] if self.chunks else None)
            if isinstance(answer, Line):
                self.log.write(self.name, answer)
                continue
            self._watch.restart()
            if isinstance(answer, Asking):
                self.asking = answer
            elif isinstance(answer, Failed):
                self.log.tell(self.chunks[0].pairing, answer.result)
            elif isinstance(answer, LastWords):
                self.words = one_line(answer.text)
            else:
                chunk = self.chunks.popleft()
                self._begun = time.monotonic()
                self.asking = None
                if isinstance(answer, Disturbed):
                    pairs = range(answer.pair, answer.pair + 1)
                    yield split(chunk, pairs, chunk._replace(quiet=True))
                else:
                    yield answer

    def silence(self) -> Spent:
        """Return the time since the last sign of life of the worker, which has a chunk."""
        if self.progress.beat != self._beat or not self.chunks:
            self._beat = self.progress.beat
            self._watch.restart()
        return self._watch.read()

    def hangs(self) -> bool:
        """Return whether the worker has been silent for longer than any bot may think."""
        silence = self.silence()
        if not self.is_ready:
            return silence.wall > START
        allowed = self._allowed
        return silence.charged > allowed.charged + _GRACE or silence.wall > allowed.wall + _GRACE

    def is_overdue(self) -> bool:
        """Return whether a chunk takes longer than its games can: a bot may give signs of life."""
        games = self.chunks[0].pairs * len(self.chunks[0].seats)
        return time.monotonic() - self._begun > games * self._longest_game + _GRACE

    def stop(self) -> None:
        """Stop the worker and all it has started, until it goes on."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let a worker that was stopped go on."""
        if self.is_stopped:
            self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        self.is_stopped = number == signal.SIGSTOP
        if self._handle is not None:
            for process in (self._handle, *descendants(self._handle)):
                with suppress(psutil.Error):
                    process.send_signal(number)

    def kill(self) -> None:
        """Kill the worker and all it has started, even if the server that forked it is gone."""
        if self._handle is not None:
            kill_all([self._handle, *descendants(self._handle)])

    def bury(self) -> str:
        """Remove what is left of the worker and its bots; return how it ended."""
        self.status = self._wait(_EXIT_PATIENCE)
        self.kill()
        if self.status is None:
            self.status = self._wait(START)
        self._close()
        return "ended with its fork server" if self.status is None else describe_exit(self.status)

    def _wait(self, seconds: float) -> int | None:
        """Return how the worker has ended, None if that is not known within so many seconds."""
        return self.server.exit_status(self.pid, self._generation, seconds)

    def dismiss(self) -> None:
        """Let the worker end: there is nothing left to play."""
        self._send(process.END)
        if self._wait(_END_PATIENCE) == 0:
            self._close()
        else:
            self.bury()

    def _close(self) -> None:
        """Read the last lines of its log, and remove what is left."""
        self.socket.settimeout(0)
        with suppress(OSError, Garbled):
            while data := self.socket.recv(_READ):
                self._frames.add(data)
                for kind, text in self._frames.take():
                    if kind == LOGGED and isinstance(line := read_answer(kind, text, None), Line):
                        self.log.write(self.name, line)
        self.socket.close()
        remove_folder(self.folder)


def _make_memory() -> int:
    """Return a descriptor of memory that two processes can share."""
    try:
        memory = os.memfd_create("progress")
    except (AttributeError, OSError):  # not Linux
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    os.ftruncate(memory, Progress.SIZE)
    return memory
