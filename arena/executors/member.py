"""The parent's side of one worker process of a crew: start it, send chunks to it, end it."""

from __future__ import annotations

import mmap
import os
import pickle
import socket
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from arena.executors import worker_process as process
from arena.executors.answers import (
    LOGGED,
    Asking,
    Failed,
    Frames,
    Garbled,
    LastWords,
    Progress,
    most_bytes,
    pack,
    read_answer,
)
from arena.executors.log import Line, RunLog
from arena.lanes.cleanup import descendants, kill_all, remove_folder
from arena.lanes.evidence import write_all
from arena.lanes.faults import describe_exit, one_line
from arena.lanes.meter import Meter, Stopwatch, find_children, read_clock
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament
from engine.strategy import Spent

START: Final = 60.0
"""Seconds in which a worker has to give its first sign of life."""

_END_PATIENCE = 5.0
_EXIT_PATIENCE = 0.2  # seconds in which a worker may exit after its socket has closed
_GRACE = 1.0  # extra seconds for a worker to report an answer that came in time
_MOST_JUDGING = 600.0  # processor seconds to judge one game, which has no other limit
_READ = 1 << 16


class Member:
    """A worker process, and the batches of chunks that it has been given, the current one first.

    In this one are only the chunks whose results have not come. `head` is the pickled tournament.
    `asking` is the last question of a game played apart; `words` is the worker's reason if it
    exited early; `status` is its exit status, None until that is known.
    """

    def __init__(self, head: bytes, tournament: Tournament, folder: Path, log: RunLog) -> None:
        self.folder = folder
        self.batches: deque[list[Chunk]] = deque()
        self.asking: Asking | None = None
        self.words = ""
        self.status: int | None = None
        self._allowed = tournament.limits.longest
        self._longest_game = tournament.rules.game_plies * self._allowed.wall
        self._most_work = tournament.limits.of_game(tournament.rules.game_plies)
        self._worked: tuple[int, float] = (0, 0.0)  # pairs finished, processor time until then
        self._frames = Frames(0)
        folder.mkdir()
        self.log = log
        self.socket, theirs = socket.socketpair()
        memory, told = _share(bytes(Progress.SIZE)), _share(head)
        try:
            self.progress = Progress(mmap.mmap(memory, Progress.SIZE))
            self._program = process.start(theirs.fileno(), memory, told, folder)
        except BaseException:
            self.socket.close()
            raise
        finally:
            theirs.close()
            for descriptor in (memory, told):
                os.close(descriptor)
        self.pid = self._program.process.pid
        self.socket.settimeout(START)  # do not wait for ever for a worker that does not read
        self._handle = psutil.Process(self.pid)
        self._beat = 0
        self._watch = Stopwatch(Meter(self.pid))
        self._begin()

    @property
    def name(self) -> str:
        """The name of the worker in the log."""
        return self.folder.name

    @property
    def is_ready(self) -> bool:
        """Whether the process has given a sign of life."""
        return self.progress.beat > 0

    def give(self, batch: list[Chunk]) -> None:
        """Give the worker one more batch, to play after those that it has."""
        if not self.batches:
            self._begin()
        self.batches.append(batch)
        self._send(process.BATCH, pickle.dumps(batch))

    def _begin(self) -> None:
        self._watch.restart()
        self._begun = time.monotonic()
        self._work_before = self._work()
        self._worked = self.progress.finished, self._work_before

    def _send(self, kind: int, data: bytes = b"") -> None:
        """Send the worker a message; if it is dead, `receive` will notice."""
        with suppress(OSError):
            self.socket.sendall(pack(kind, data))

    def receive(self) -> Iterator[Played]:
        """Yield the results of chunks that the worker has sent.

        Raises EOFError if the worker has died, and Garbled for invalid data: a bot may have written
        to its socket.
        """
        try:
            data = self.socket.recv(_READ)
        except OSError:
            data = b""
        if not data:
            raise EOFError
        self._frames.most = most_bytes(self._current)
        self._frames.add(data)
        for kind, text in self._frames.take():
            answer = read_answer(kind, text, self._current)
            if isinstance(answer, Line):
                self.log.write(self.name, answer)
                continue
            if isinstance(answer, Asking):
                self.asking = answer
            elif isinstance(answer, Failed):
                self.log.tell(self._current[0].pairing, answer.result)
            elif isinstance(answer, LastWords):
                self.words = one_line(answer.text)
            else:
                del self._current[: len(answer)]
                if not self._current:
                    self.batches.popleft()
                self._begin()
                self.asking = None
                yield from answer
                continue
            self._watch.restart()

    @property
    def _current(self) -> list[Chunk]:
        return self.batches[0] if self.batches else []

    def silence(self) -> Spent:
        """Return the time since the last sign of life of the worker, or since it got a chunk."""
        if self.progress.beat != self._beat or not self.batches:
            self._beat = self.progress.beat
            self._watch.restart()
        return self._watch.read()

    def hangs(self) -> bool:
        """Return whether the worker has been silent for longer than any decision may take."""
        silence = self.silence()
        if not self.is_ready:
            return silence.wall > START
        allowed = self._allowed
        return silence.charged > allowed.charged + _GRACE or silence.wall > allowed.wall + _GRACE

    def is_overdue(self) -> bool:
        """Return whether its games take longer than possible, although it gives signs of life.

        A bot in the worker may have corrupted the engine, so that its game never ends. Therefore
        its processor time is limited twice: for the pairs that it reports to be playing, and for
        all games whose results have not come, which does not depend on its reports.
        """
        chunks = self._current
        games = sum(chunk.games for chunk in chunks)
        if time.monotonic() - self._begun > games * self._longest_game + _GRACE:
            return True
        is_judging = chunks[0].question is not None
        most = max(_MOST_JUDGING, self._most_work) if is_judging else self._most_work
        work, finished = self._work(), self.progress.finished
        if finished != self._worked[0]:
            self._worked = finished, work
        in_play = (
            games if is_judging else max(len(self.progress.pairs_of(chunk)) for chunk in chunks)
        )
        return work - self._worked[1] > in_play * most or work - self._work_before > games * most

    def _work(self) -> float:
        """Return the processor time of the process that plays, which is the program's child."""
        return sum(read_clock(pid) or 0.0 for pid in find_children(self.pid))

    def kill(self) -> None:
        """Kill the worker and all processes that it has started."""
        kill_all([*descendants(self._handle), self._handle])

    def bury(self) -> str:
        """Kill what is left of the worker and its bots, remove its files; return how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._program.process.wait(_EXIT_PATIENCE)
        self.kill()
        self.status = self._program.process.wait()
        said = self._program.last_words()
        self.words = self.words or said
        self._close()
        return describe_exit(self.status)

    def dismiss(self) -> None:
        """Let the worker exit: there is nothing left to play."""
        self._send(process.END)
        with suppress(subprocess.TimeoutExpired):
            self._program.process.wait(_END_PATIENCE)
        self.bury()

    def _close(self) -> None:
        """Read the last lines of its log, close the socket, and remove its folder."""
        with suppress(OSError, Garbled):
            self.socket.settimeout(0)
            while data := self.socket.recv(_READ):
                self._frames.add(data)
                for kind, text in self._frames.take():
                    if kind == LOGGED and isinstance(line := read_answer(kind, text, []), Line):
                        self.log.write(self.name, line)
        self.socket.close()
        remove_folder(self.folder)


def _share(data: bytes) -> int:
    """Return the descriptor of a memory file with this data, which two processes can share."""
    try:
        memory = os.memfd_create("arena")
    except (AttributeError, OSError):  # not Linux
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    write_all(memory, data)
    return memory
