"""Log: one run.log for the parent and its workers.

multiprocessing-logging's own installer only works where processes are forked. Its handler
works everywhere: the parent gives it the file, a worker gets the standard QueueHandler on
its queue. Every worker has a handler of its own: one that is killed while it holds its
queue holds up nobody else.
"""

from __future__ import annotations

import logging
import multiprocessing
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from multiprocessing_logging import MultiProcessingHandler

logger = logging.getLogger("arena")

START_METHOD = "forkserver"
QUIET, NORMAL, VERBOSE = logging.CRITICAL, logging.WARNING, logging.INFO
"""What of the parent's log is shown on the terminal."""

_PATIENCE = 10.0  # seconds
_PATIENCE_WITH_THE_DEAD = 0.5  # a record that a killed worker had begun to send never comes
_FORMAT = "%(asctime)s %(processName)s %(levelname)s %(message)s"


class _Relay(logging.Handler):
    """Hands what comes from a worker to the file, one record at a time; outlives the worker."""

    def __init__(self, file: logging.Handler) -> None:
        super().__init__()
        self.file = file

    def emit(self, record: logging.LogRecord) -> None:
        self.file.handle(record)


class Channel(NamedTuple):
    """What brings one worker's log to the file; without a file it brings nothing."""

    handler: Any = None

    @property
    def queue(self) -> Any:
        """What the worker needs for `to_queue`."""
        return None if self.handler is None else self.handler.queue

    def close(self, killed: bool) -> None:
        """Wait for what the worker has sent; for one that was killed, not long."""
        if self.handler is not None:
            closing = Thread(target=self.handler.close, daemon=True)
            closing.start()
            closing.join(_PATIENCE_WITH_THE_DEAD if killed else _PATIENCE)


class RunLog:
    """The log of a run that is under way."""

    def __init__(self, file: logging.Handler | None) -> None:
        self.file = file

    def channel(self) -> Channel:
        """Return the channel for a new worker."""
        if self.file is None:
            return Channel()
        return Channel(MultiProcessingHandler("run-log", sub_handler=_Relay(self.file)))


@contextmanager
def run_log(path: Path | None, shown: int = NORMAL) -> Iterator[RunLog]:
    """Log to the end of a file, if there is one, and show the parent's log from a level on.

    Raises OSError if the file cannot be written.
    """
    multiprocessing.set_start_method(START_METHOD, force=True)
    logger.propagate = False
    logger.disabled = False
    logger.setLevel(logging.INFO)
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setLevel(shown)
    terminal.setFormatter(logging.Formatter("%(message)s"))
    handlers: list[logging.Handler] = [terminal]
    file = None
    if path is not None:
        file = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
        file.setFormatter(logging.Formatter(_FORMAT))
        handlers.append(file)
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield RunLog(file)
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def to_queue(queue: Any) -> None:
    """Send a worker's log to its parent's queue; with None, nowhere."""
    logger.propagate = False
    logger.disabled = queue is None
    if queue is not None:
        logger.setLevel(logging.INFO)
        logger.addHandler(QueueHandler(queue))
