"""Log: one run.log for the parent and its workers.

multiprocessing-logging's own installer only works where processes are forked. Its handler
works everywhere: the parent gives it the file, a worker gets the standard QueueHandler on
its queue. Every worker has a handler of its own, so that a worker that is killed while it
holds its queue blocks no other.
"""

from __future__ import annotations

import logging
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging.handlers import QueueHandler
from pathlib import Path
from threading import RLock, Thread
from typing import Any, Final, NamedTuple

from multiprocessing_logging import MultiProcessingHandler

logger = logging.getLogger("arena")

START_METHOD: Final = "forkserver"
"""How worker processes are started."""

QUIET, NORMAL, VERBOSE = logging.CRITICAL, logging.WARNING, logging.INFO
"""What of the parent's log is shown on the terminal."""

_one_at_a_time = RLock()  # the start method belongs to the whole program
_PATIENCE = 10.0  # seconds
_PATIENCE_WITH_THE_DEAD = 0.5  # a record that a killed worker had begun to send never comes
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


class Channel(NamedTuple):
    """Brings one worker's log to the parent; without a handler it brings nothing."""

    handler: Any = None

    @property
    def queue(self) -> Any:
        """What the worker needs for `log_to`."""
        return None if self.handler is None else self.handler.queue

    def close(self, killed: bool) -> None:
        """Wait for what the worker has sent; if it was killed, not for long."""
        if self.handler is not None:
            closing = Thread(target=self.handler.close, daemon=True)
            closing.start()
            closing.join(_PATIENCE_WITH_THE_DEAD if killed else _PATIENCE)


class RunLog:
    """The log of a run that is under way; `handlers` get the records of workers."""

    def __init__(self, handlers: Sequence[logging.Handler]) -> None:
        self.handlers = handlers

    def channel(self) -> Channel:
        """Return the channel for a new worker."""
        if not self.handlers:
            return Channel()
        with keep_start_method():
            multiprocessing.set_start_method(START_METHOD, force=True)  # for the handler's queue
            return Channel(MultiProcessingHandler("run-log", sub_handler=_Relay(self.handlers)))


@contextmanager
def keep_start_method() -> Iterator[None]:
    """Leave the program's default start method as it is, even if it is not set yet.

    One thread at a time: processes are started, and the method is set, only inside.
    """
    with _one_at_a_time:
        before = multiprocessing.get_start_method(allow_none=True)
        try:
            yield
        finally:
            multiprocessing.set_start_method(before, force=True)


@contextmanager
def run_log(path: Path | None, shown: int = NORMAL) -> Iterator[RunLog]:
    """Log to the end of a file, if there is one, and show the parent's log from a level on.

    VERBOSE shows the workers' logs as well. Raises OSError if the file cannot be written.
    """
    logger.propagate = False
    logger.disabled = False
    logger.setLevel(logging.INFO)
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
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield RunLog(of_workers)
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def log_to(queue: Any) -> None:
    """Send a worker's log to its parent's queue; with None, nowhere."""
    logger.propagate = False
    logger.disabled = queue is None
    if queue is not None:
        logger.setLevel(logging.INFO)
        logger.addHandler(QueueHandler(queue))
