"""Write one run.log for the parent and its workers.

multiprocessing-logging's own installer only works where processes are forked. Its handler
works everywhere, with a pipe in place of its queue: the queue would fix the program's start
method, and would unpickle in the parent what a bot in a worker writes into the worker's end. Every
worker has a handler of its own, so that one that is killed while it writes blocks no other.
"""

from __future__ import annotations

import logging
import os
import select
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty
from threading import Lock, Thread
from typing import Any, NamedTuple

import msgspec
from multiprocessing_logging import MultiProcessingHandler

from arena.games.match import GameResult
from arena.lanes.faults import printable
from arena.lanes.output import write_all

logger = logging.getLogger("arena")

QUIET, NORMAL, VERBOSE = logging.CRITICAL, logging.WARNING, logging.INFO
"""What of the parent's log is shown on the terminal."""

_switching = Lock()
_before: dict[str, Any] = {}  # how the logger was before the runs that go on, and their number
_PATIENCE = 10.0  # seconds
_PATIENCE_WITH_THE_DEAD = 0.5  # a record that a killed worker had begun to send never comes
_READ = 1 << 16
_MOST_LINE = 1 << 20  # bytes
_FORMAT = "%(asctime)s %(processName)s %(levelname)s %(message)s"


class _Relay(logging.Handler):
    """Passes a worker's records on, one at a time; it outlives the worker."""

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


class _Line(msgspec.Struct):
    """A record as it travels: a line of JSON."""

    process: str
    level: int
    text: str


class Sender(logging.Handler):
    """Writes the records of a worker with this name into its pipe.

    Where a bot has closed it, they are lost.
    """

    def __init__(self, pipe: int, name: str) -> None:
        super().__init__()
        self.pipe = pipe
        self.process = name

    def emit(self, record: logging.LogRecord) -> None:
        line = _Line(self.process, record.levelno, self.format(record))
        with suppress(OSError, UnicodeError):
            write_all(self.pipe, msgspec.json.encode(line) + b"\n")


class _Pipe:
    """Brings the lines of one worker; it has what the library asks of a queue."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._is_spoilt = False

    def qsize(self) -> int:
        """Return whether `get` would not have to wait."""
        return len(self._lines) or int(self._is_ready(0))

    def get(self, timeout: float) -> logging.LogRecord:
        """Return the next record; raise Empty if none comes, and EOFError after the last one.

        The first line that is no record is replaced by a warning, the others are left out.
        """
        while True:
            while not self._lines:
                if not self._is_ready(timeout):
                    raise Empty
                self._read()
            try:
                line = msgspec.json.decode(self._lines.popleft(), type=_Line)
                return make_record(line.process, line.level, line.text)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                if not self._is_spoilt:
                    self._is_spoilt = True
                    text = "what a worker writes to its log is damaged, perhaps by a bot"
                    return make_record("MainProcess", logging.WARNING, text)

    def _is_ready(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self.reader, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _read(self) -> None:
        data = os.read(self.reader, _READ)
        if not data:
            raise EOFError
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _MOST_LINE:
            lines.append(b"")
            self._rest = b""
        self._lines += lines

    def close(self) -> None:
        """Close the parent's end."""
        os.close(self.reader)

    def join_thread(self) -> None:
        """Do nothing: it has no thread of its own."""


def make_record(process: str, level: int, text: str) -> logging.LogRecord:
    """Return the record of a line that a process has logged, as of now."""
    text = printable(text).replace("\n", " ")
    record = logging.LogRecord(logger.name, level, "", 0, text, None, None)
    record.processName = printable(process)
    return record


class _Handler(MultiProcessingHandler):  # type: ignore[misc]
    """Passes a worker's records on to other handlers; begins as the library's does."""

    def __init__(self, handlers: Sequence[logging.Handler]) -> None:
        logging.Handler.__init__(self)
        self.sub_handler = _Relay(handlers)
        self.queue = _Pipe()
        self._is_closed = False
        self._receive_thread = Thread(target=self._receive, name="run-log", daemon=True)
        self._receive_thread.start()

    def close(self) -> None:
        """Wait until the worker, which has ended, is read to its last record."""
        if not self._is_closed:
            os.close(self.queue.writer)
        super().close()


class Channel(NamedTuple):
    """Brings one worker's log to the parent; without a handler it brings nothing."""

    handler: _Handler | None = None

    @property
    def pipe(self) -> int | None:
        """The descriptor that the worker needs for `log_to`."""
        return None if self.handler is None else self.handler.queue.writer

    def close(self, killed: bool) -> None:
        """Wait for what the worker has sent; if it was killed, not for long."""
        if self.handler is not None:
            closing = Thread(target=self.handler.close, daemon=True)
            closing.start()
            closing.join(_PATIENCE_WITH_THE_DEAD if killed else _PATIENCE)


class RunLog:
    """The log of a run that is under way; `handlers` get the records of workers.

    `terminal` is the handler that shows the log. `tell` is called with the number of a pairing
    and a game of it that a fault has ended, ahead of the chunk that the game is part of.
    """

    def __init__(
        self,
        handlers: Sequence[logging.Handler],
        terminal: logging.StreamHandler[Any] | None = None,
    ) -> None:
        self.handlers = handlers
        self.terminal = terminal or logging.StreamHandler(sys.stderr)
        self.tell: Callable[[int, GameResult], None] = lambda _pairing, _result: None

    def channel(self) -> Channel:
        """Return the channel for a new worker."""
        return Channel(_Handler(self.handlers)) if self.handlers else Channel()


@contextmanager
def run_log(path: Path | None, shown: int = NORMAL) -> Iterator[RunLog]:
    """Log to the end of a file, if there is one, and show the parent's log from a level on.

    VERBOSE shows the workers' logs as well. Raises OSError if the file cannot be written.
    """
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setLevel(shown)
    terminal.setFormatter(logging.Formatter("%(message)s"))
    of_workers: list[logging.Handler] = [terminal] if shown == VERBOSE else []
    handlers: list[logging.Handler] = [terminal]
    if path is not None:
        file = _File(path, encoding="utf-8", errors="backslashreplace")
        file.setFormatter(logging.Formatter(_FORMAT))
        handlers.append(file)
        of_workers.append(file)
    with _switched_on():
        for handler in handlers:
            logger.addHandler(handler)
        try:
            yield RunLog(of_workers, terminal)
        finally:
            for handler in handlers:
                logger.removeHandler(handler)
                handler.close()


@contextmanager
def _switched_on() -> Iterator[None]:
    """Let the logger write what a run tells, to the run's handlers only.

    After the last run of those that go on side by side it is as it was.
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


def log_to(pipe: int, name: str) -> None:
    """Send the log of a worker with this name to its parent."""
    logger.propagate = False
    logger.disabled = False
    logger.setLevel(logging.INFO)
    logger.addHandler(Sender(pipe, name))
