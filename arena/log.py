"""Log: one run.log for the parent and its workers, through one queue.

multiprocessing-logging's own installer only works where processes are forked. Its handler
works everywhere: the parent gives it the file, the workers get the standard QueueHandler
on its queue.
"""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler
from pathlib import Path
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

logger = logging.getLogger("arena")

START_METHOD = "forkserver"
_FORMAT = "%(asctime)s %(processName)s %(levelname)s %(message)s"


@contextmanager
def to_file(path: Path | None) -> Iterator[Any]:
    """Log to the end of a file, if there is one; give the queue for `to_queue`, or None.

    Raises OSError where the file cannot be written.
    """
    logger.propagate = False
    if path is None:
        logger.disabled = True
        yield None
        return
    multiprocessing.set_start_method(START_METHOD, force=True)
    file = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    file.setFormatter(logging.Formatter(_FORMAT))
    handler = MultiProcessingHandler("run-log", sub_handler=file)
    logger.disabled = False
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield handler.queue
    finally:
        logger.removeHandler(handler)
        handler.close()


def to_queue(queue: Any) -> None:
    """Send a worker's log to the parent's queue; with None, nowhere."""
    logger.propagate = False
    logger.disabled = queue is None
    if queue is not None:
        logger.setLevel(logging.INFO)
        logger.addHandler(QueueHandler(queue))
