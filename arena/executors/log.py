"""Write one run.log for the parent process and its workers.

Workers send their log records on the socket of their answers, as data that is validated when it is
read. So a worker that is killed while it writes blocks no other, and no data of a bot is unpickled.
The parent writes the records with multiprocessing-logging's handler, in a thread of its own.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from threading import Lock, Thread
from typing import Any

import msgspec

from arena.errors import escape
from arena.tokens import hide_secrets
from arena.tournament.match import GameResult
from arena.tournament.schedule import Fixture
from arena.tournament.timing import SPENT
from engine.state import Seat

logger = logging.getLogger("arena")

QUIET, NORMAL, VERBOSE = logging.CRITICAL, logging.WARNING, logging.INFO
"""Levels from which the parent's log is shown on the terminal."""

_switching = Lock()
_before: dict[str, Any] = {}  # the logger's settings before the current runs, and their number
_FORMAT = "%(asctime)s %(processName)s %(levelname)s %(message)s"


class _Relay(logging.Handler):
    """Passes records to other handlers one at a time; it is not closed with a worker."""

    def __init__(self, handlers: Sequence[logging.Handler]) -> None:
        super().__init__()
        self.handlers = handlers

    def emit(self, record: logging.LogRecord) -> None:
        for handler in self.handlers:
            handler.handle(record)


class _File(logging.FileHandler):
    """A file that a full disk may leave incomplete; the store reports the full disk."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        pass


class _OneLine(logging.Formatter):
    """Formats every record as one printable line without tokens, whatever messages it has."""

    def format(self, record: logging.LogRecord) -> str:
        return escape(hide_secrets(super().format(record)))


class Line(msgspec.Struct, tag=True, array_like=True):
    """A log record as data, sent from a worker to its parent, or from another machine."""

    process: str
    level: int
    text: str


class Sender(logging.Handler):
    """Sends the records of a process as Lines; those that cannot be sent are lost."""

    def __init__(self, process: str, say: Callable[[Line], None]) -> None:
        super().__init__()
        self.process = process
        self.say = say

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, UnicodeError):
            self.say(Line(self.process, record.levelno, hide_secrets(self.format(record))))


class _Queue(Queue[logging.LogRecord]):
    """A queue with the methods that the library calls, for this process only."""

    def close(self) -> None:
        """Do nothing: its reader ends when its handler is closed."""

    def join_thread(self) -> None:
        """Do nothing: it has no thread of its own."""


def _make_writer(handlers: Sequence[logging.Handler]) -> logging.Handler:
    """Return a handler that writes records of workers in a thread: no crew waits for the disk.

    Replaces the constructor of the library's handler, whose queue would fix the start method of the
    program's processes. The thread starts before `logging` knows the handler: an exit of the
    program joins it. Its import takes 20 ms, which workers and runs without a log save.
    """
    from multiprocessing_logging import MultiProcessingHandler

    class Writer(MultiProcessingHandler):  # type: ignore[misc]
        def __init__(self) -> None:
            self.sub_handler = _Relay(handlers)
            self.queue = _Queue()
            self._is_closed = False
            self._receive_thread = Thread(target=self._receive, name="run-log", daemon=True)
            self._receive_thread.start()
            logging.Handler.__init__(self)

    return Writer()


class RunLog:
    """The log of a run in progress; `handlers` get the records of workers.

    `terminal` is the handler that shows the log. `tell` is called with the number of a pairing and
    a game of it that a fault has ended, before the results of the game's chunk arrive. `played` are
    the processor seconds in which this process itself has played.
    """

    def __init__(
        self,
        handlers: Sequence[logging.Handler],
        terminal: logging.StreamHandler[Any] | None = None,
    ) -> None:
        self.handlers = handlers
        self.terminal = terminal or logging.StreamHandler(sys.stderr)
        self.tell: Callable[[int, GameResult], None] = lambda _pairing, _result: None
        self.played = 0.0

    def write(self, process: str, line: Line) -> None:
        """Write a line that a process has logged, under this name."""
        record = logging.LogRecord(logger.name, line.level, "", 0, line.text, None, None)
        record.processName = process
        for handler in self.handlers:
            handler.handle(record)


@contextmanager
def run_log(path: Path | None, shown: int = NORMAL) -> Iterator[RunLog]:
    """Append the log to a file, if a path is given, and show the parent's log from a level on.

    VERBOSE shows the workers' logs as well. Raises OSError if the file cannot be written.
    """
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setLevel(shown)
    terminal.setFormatter(_OneLine("%(message)s"))
    of_workers: list[logging.Handler] = [terminal] if shown == VERBOSE else []
    handlers: list[logging.Handler] = [terminal]
    if path is not None:
        file = _File(path, encoding="utf-8", errors="backslashreplace")
        file.setFormatter(_OneLine(_FORMAT))
        handlers.append(file)
        of_workers.append(file)
    with _switched_on():
        for handler in handlers:
            logger.addHandler(handler)
        writers: list[logging.Handler] = []
        try:
            if of_workers:
                writers.append(_make_writer(of_workers))
            yield RunLog(writers, terminal)
        finally:
            for writer in writers:
                writer.close()
            for handler in handlers:
                logger.removeHandler(handler)
                handler.close()


_READ = 1 << 16  # bytes of the end of a log
_SPENT = re.compile(rf"^\S+ \S+ (?!worker-)\S+ INFO ({SPENT}.*)$", re.MULTILINE)


def read_spending(path: Path) -> str:
    """Return what the log of a run says of its processor time when it last ended, "" if nothing."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _READ))
        said = _SPENT.findall(file.read().decode(errors="replace"))
        return str(said[-1]) if said else ""
    return ""


@contextmanager
def _switched_on() -> Iterator[None]:
    """Let the logger pass a run's records to the run's handlers only.

    After the last of several concurrent runs the logger has its earlier settings again.
    """
    with _switching:
        if not _before:
            _before.update(level=logger.level, disabled=logger.disabled, propagate=logger.propagate)
        _before["runs"] = _before.get("runs", 0) + 1
        logger.propagate = logger.disabled = False
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        with _switching:
            _before["runs"] -= 1
            if not _before["runs"]:
                logger.setLevel(_before["level"])
                logger.disabled, logger.propagate = _before["disabled"], _before["propagate"]
                _before.clear()


def log_to(name: str, say: Callable[[Line], None]) -> None:
    """Send the records that a worker with this name logs to its parent."""
    logger.propagate = False
    logger.disabled = False
    logger.setLevel(logging.INFO)
    logger.addHandler(Sender(name, say))


class Reporter:
    """The reports of a worker while it plays; this base class ignores them."""

    def beat(self) -> None:
        """Report a sign of life."""

    def playing(self, pairing: int, first: int, pairs: int) -> None:
        """Report which pairs are played from now on."""

    def played(self) -> None:
        """Report that these pairs have been played."""

    def failed(self, pairing: int, result: GameResult) -> None:
        """Report a game that ended by a fault, the first of its bot in this worker."""

    def asking(self, pair: int, seat: Seat, asked: Seat, history: bytes | None) -> None:
        """Report a question to the bot in seat `asked`, in a game that is played apart."""


def log_fault(fixture: Fixture, result: GameResult) -> None:
    """Log the fault that has ended a game."""
    assert result.fault is not None
    label, (kind, message, *_) = fixture.pairing[result.winner == 0], result.fault
    game = f"{fixture.pairing.name}, pair {fixture.pair}, seat {fixture.seat}"
    told = label, kind, result.plies, message, game
    logger.warning("%s forfeits (%s at ply %d): %s; game: %s", *told)
