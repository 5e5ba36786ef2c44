"""Play chunks in this process itself, if no bot of a tournament can reach it."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from threading import get_ident

from arena.entries.entry import Entry
from arena.executors.log import Line, Reporter, RunLog, logger
from arena.executors.worker import Worker
from arena.threads import one_thread
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.tournament import Tournament


def is_harmless(entry: Entry) -> bool:
    """Return whether a bot cannot reach the process that plays it: it is ours, or in a jail.

    One that lives elsewhere cannot, too, but an answer may have its price there: none is abandoned.
    """
    return entry.lane == "jail" or (entry.lane == "inproc" and entry.is_ours)


class Abandoned(BaseException):
    """Ends a chunk that this process plays, so that workers play it."""


class Here(Reporter):
    """The first worker of a crew, which is this process: nothing of it changes.

    `on_beat` is called with the seconds of the chunk at each sign of life, and may raise Abandoned.
    """

    def __init__(
        self, tournament: Tournament, folder: Path, log: RunLog, on_beat: Callable[[float], None]
    ) -> None:
        self.worker = Worker(tournament, folder, reporter=self)
        self.log = log
        self.on_beat = on_beat
        self._chunk: Chunk | None = None
        self._begun = 0.0
        self._player = 0  # the thread that plays now
        logger.addFilter(self._divert)

    def _divert(self, record: logging.LogRecord) -> bool:
        """Write what is logged by the thread that plays as lines of a worker, and nowhere else."""
        if record.thread != self._player:
            return True
        name = self.worker.folder.name
        self.log.write(name, Line(name, record.levelno, record.getMessage()))
        return False

    def play(self, chunk: Chunk) -> Played | None:
        """Return the results of a chunk; None if it was abandoned."""
        self._chunk, self._begun, self._player = chunk, time.monotonic(), get_ident()
        before = time.thread_time()
        try:
            threads = one_thread() if "numpy" in sys.modules else nullcontext()
            with threads:
                return self.worker.play(chunk)
        except Abandoned:
            return None
        finally:
            self._chunk, self._player = None, 0
            self.log.played += time.thread_time() - before

    def beat(self) -> None:
        """Let the crew look at its other workers, unless bots are only being ended."""
        if self._chunk:
            try:
                self.on_beat(time.monotonic() - self._begun)
            except Abandoned:
                self._chunk = None
                raise

    def close(self) -> None:
        """End the bots."""
        logger.removeFilter(self._divert)
        self.worker.close()

    def failed(self, pairing: int, result: GameResult) -> None:
        """Show the first fault of a bot."""
        self.log.tell(pairing, result)
