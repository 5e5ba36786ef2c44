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

from arena.executors import worker_process as process
from arena.executors.crew_messages import (
    Asking,
    Failed,
    Frames,
    Garbled,
    LastWords,
    Progress,
    read_answer,
)
from arena.executors.log import Line, RunLog
from arena.lanes.evidence import write_all
from arena.lanes.faults import describe_exit, one_line
from arena.lanes.temp_and_cache_folders import remove_folder
from arena.processes import find_below, find_children, read_clock
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament

START: Final = 60.0
"""Seconds in which a worker has to give its first sign of life."""

_END_PATIENCE = 5.0
_EXIT_PATIENCE = 0.2  # seconds in which a worker may exit after its socket has closed
_GRACE = 1.0  # extra seconds for a worker to report an answer that came in time
_MOST_JUDGING = 600.0  # processor seconds to judge one game, which has no other limit
_LONG = 0.5  # seconds of silence, after which a worker's processes are counted
_PAUSE = 0.3  # seconds between two looks that show that this process itself was stopped
_READ = 1 << 16
_LATE = "finished no game in time"


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
        self._tournament = tournament
        self._frames = Frames()
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
        self.pid = self._program.pid
        self.socket.settimeout(START)  # do not wait for ever for a worker that does not read
        self._player: list[int] = []
        self._answers = 0  # so often, a batch was begun or results have come
        self._signs = (0, 0, 0)  # of life, of finished pairs, of answers
        self._spent = [(0.0, 0.0)] * 3  # seconds since each, and processor seconds
        self._looked = time.monotonic(), 0.0

    @property
    def name(self) -> str:
        """The name of the worker in the log."""
        return self.folder.name

    @property
    def is_ready(self) -> bool:
        """Whether the process has given a sign of life."""
        return self.progress.beats > 0

    def give(self, batch: list[Chunk]) -> None:
        """Give the worker one more batch, to play after those that it has."""
        if not self.batches:
            self._answers += 1
        self.batches.append(batch)
        self._send(pickle.dumps(batch))

    def _send(self, data: bytes) -> None:
        """Send the worker a message; if it is dead, `receive` will notice."""
        with suppress(OSError):
            self.socket.sendall(data)

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
        self._frames.add(data)
        for text in self._frames.take():
            answer = read_answer(text, self._current)
            if isinstance(answer, Line):
                self.log.write(self.name, answer)
            elif isinstance(answer, Asking):
                self.asking = answer
            elif isinstance(answer, Failed):
                self.log.tell(answer.pairing, answer.result)
            elif isinstance(answer, LastWords):
                self.words = one_line(answer.text)
            else:
                del self._current[: len(answer)]
                if not self._current:
                    self.batches.popleft()
                self._answers += 1
                self.asking = None
                yield from answer

    @property
    def _current(self) -> list[Chunk]:
        return self.batches[0] if self.batches else []

    def find_hang(self) -> str:
        """Return why the worker has to be replaced, empty if it may continue.

        It is silent for longer than a decision may take, or its games take longer than possible,
        although it gives signs of life: a bot in the worker may have corrupted the engine. The
        processor time is limited for the pairs that it reports to be playing, and for all games
        whose results have not come, which does not depend on its reports. Bots in the worker may
        also start processes without end.
        """
        (silence, silent_work), (_, pair_work), (batch, batch_work) = self._look()
        if not self.is_ready:
            return _LATE if silence > START else ""
        rules, limits, chunks = self._tournament.rules, self._tournament.limits, self._current
        longest, games = limits.longest, sum(chunk.games for chunk in chunks)
        most, in_play = limits.of_game(rules.game_plies), len(self.progress.find(chunks)[1])
        if chunks[0].question:
            most, in_play = max(_MOST_JUDGING, most), games
        if (
            silence > longest.wall + _GRACE
            or min(silence, silent_work) > longest.charged + _GRACE
            or batch > games * rules.game_plies * longest.wall + _GRACE
            or pair_work > in_play * most
            or batch_work > games * most
        ):
            return _LATE
        from arena.lanes.process import MOST_PROCESSES, TOO_MANY  # here: few runs ask

        may_start = 2 * MOST_PROCESSES * len(self._tournament.entries)
        if silence > _LONG and len(find_below(self.pid)) > may_start:
            return TOO_MANY
        return ""

    def _look(self) -> list[tuple[float, float]]:
        """Return the seconds and processor seconds since signs of life, finished pairs, answers."""
        signs = self.progress.beats, self.progress.finished, self._answers
        now, work = time.monotonic(), self._work()
        wall, cpu = min(now - self._looked[0], _PAUSE), work - self._looked[1]
        self._spent = [
            (spent[0] + wall, spent[1] + cpu) if sign == before else (0.0, 0.0)
            for spent, sign, before in zip(self._spent, signs, self._signs, strict=True)
        ]
        self._signs, self._looked = signs, (now, work)
        return self._spent

    def _work(self) -> float:
        """Return the processor time of the process that plays, which is the program's child."""
        self._player = self._player or find_children(self.pid)
        return sum(read_clock(pid) or 0.0 for pid in self._player)

    def kill(self) -> None:
        """Kill the worker and all processes that it has started."""
        self._program.end()

    def bury(self) -> str:
        """Kill what is left of the worker and its bots, remove its files; return how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._program.wait(_EXIT_PATIENCE)
        self.kill()
        self.status = self._program.wait()
        said = self._program.last_words()
        self.words = self.words or said
        self._close()
        return describe_exit(self.status)

    def dismiss(self) -> None:
        """Let the worker exit: there is nothing left to play."""
        if not self.is_ready:
            self.kill()
        self._send(process.END)
        with suppress(subprocess.TimeoutExpired):
            self._program.wait(_END_PATIENCE)
        self.bury()

    def _close(self) -> None:
        """Read the last lines of its log, close the socket, and remove its folder."""
        with suppress(OSError, Garbled):
            self.socket.settimeout(0)
            while data := self.socket.recv(_READ):
                self._frames.add(data)
                for text in self._frames.take():
                    with suppress(Garbled):  # an answer that comes too late
                        if isinstance(line := read_answer(text, []), Line):
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
