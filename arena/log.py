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
from threading import Thread
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

logger = logging.getLogger("arena")

START_METHOD = "forkserver"
_PATIENCE = 10.0  # seconds
_PATIENCE_WITH_THE_DEAD = 0.5  # records that a killed worker had begun to send never come
_FORMAT = "%(asctime)s %(processName)s %(levelname)s %(message)s"


@contextmanager
def to_file(path: Path | None) -> Iterator[Any]:
    """Log to the end of a file, if there is one; give the queue for `to_queue`, or None.

    The parent writes to the file itself: a worker that is killed while it holds the queue
    must not be able to hold up the parent. Raises OSError if the file cannot be written.
    """
    logger.propagate = False
    logger.disabled = path is None
    if path is None:
        yield None
        return
    multiprocessing.set_start_method(START_METHOD, force=True)
    file = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    file.setFormatter(logging.Formatter(_FORMAT))
    workers = MultiProcessingHandler("run-log", sub_handler=file)
    logger.setLevel(logging.INFO)
    logger.addHandler(file)
    patience = _PATIENCE_WITH_THE_DEAD
    try:
        yield workers.queue
        patience = _PATIENCE
    finally:
        logger.removeHandler(file)
        closing = Thread(target=workers.close, daemon=True)  # waits for what workers have sent
        closing.start()
        closing.join(patience)


def to_queue(queue: Any) -> None:
    """Send a worker's log to the parent's queue; with None, nowhere."""
    logger.propagate = False
    logger.disabled = queue is None
    if queue is not None:
        logger.setLevel(logging.INFO)
        logger.addHandler(QueueHandler(queue))
