"""Process: the program of a worker process, around a Worker."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import resource
import sys
import tempfile
import threading
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from arena.entries.needs import look_from
from arena.executors.deaths import Asking, Progress
from arena.executors.log import log_to, logger
from arena.executors.worker import Reporter, Worker
from arena.lanes.cleanup import FOLDER_VARIABLE, adopt_orphans, kill_orphans, remove_folder
from arena.lanes.faults import one_line
from arena.lanes.limits import Limits
from arena.lanes.output import Output
from arena.tournament.tournament import Tournament
from engine.state import Seat

_MB = 1 << 20
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
_ALLOWED_SHARE = 0.9  # of its memory that a worker may use before it counts as corrupted


class LastWords(NamedTuple):
    """Why a worker process ends by itself, as one line."""

    text: str


def main(
    connection: Connection, payload: bytes, memory: Any, folder: str, here: str, pipe: Any
) -> None:
    """Be a worker process: answer every chunk with what it came to, until there are no more.

    `payload` is the pickled tournament, `memory` that of its Progress, `here` the working folder
    of the parent, `pipe` that of its log. It ends with its parent, and says why where it ends by
    itself. It leads a group of its own, so that a bot which kills its group does not reach the
    parent.
    """
    os.setsid()
    look_from(Path(here))
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    log_to(pipe)
    try:
        _serve(connection, pickle.loads(payload), Progress(memory), folder)
    except EOFError:  # the parent has ended
        pass
    except BaseException as error:
        with suppress(Exception):
            connection.send(LastWords(one_line(f"{type(error).__name__}: {error}")))
        os._exit(1)
    finally:
        kill_orphans()


def _serve(connection: Connection, tournament: Tournament, progress: Progress, folder: str) -> None:
    output = Output()
    _confine(tournament.limits, folder, output)
    reporter = _Reporter(connection, progress, tournament.limits)
    worker = Worker(tournament, Path(folder), output, reporter)
    reporter.beat()
    count = len(tournament.entries), len(tournament.pairings)
    logger.info("worker ready: %d bots, %d pairings", *count)
    try:
        while (chunk := connection.recv()) is not None:
            reporter.beat()
            connection.send(worker.play(chunk))
    finally:
        worker.close()


class _Reporter(Reporter):
    """Tells the parent what goes on; exits where a bot has corrupted the worker."""

    def __init__(self, connection: Connection, progress: Progress, limits: Limits) -> None:
        self.connection = connection
        self.progress = progress
        self.inode = os.fstat(connection.fileno()).st_ino
        self.most = _peak_memory() + _ALLOWED_SHARE * limits.memory * _MB

    def beat(self) -> None:
        self.progress.count_beat()

    def playing(self, first: int, pairs: int) -> None:
        self.progress.set_pairs(first, pairs)

    def played(self) -> None:
        """Exit if the pipe is gone, or hardly any memory is left: the pairs are played apart."""
        try:
            intact = os.fstat(self.connection.fileno()).st_ino == self.inode
        except OSError:
            intact = False
        if not intact or _peak_memory() > self.most:
            os._exit(1)

    def asking(self, pair: int, seat: Seat, asked: Seat, history: bytes | None) -> None:
        self.connection.send(Asking(pair, seat, asked, history))


def _peak_memory() -> int:
    """Return the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT


def _confine(limits: Limits, folder: str, output: Output) -> None:
    """Keep the bots in this process from the terminal, from much memory, and from forking."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    output.capture()
    os.chdir(folder)
    os.environ[FOLDER_VARIABLE] = tempfile.tempdir = folder
    adopt_orphans()
    used = psutil.Process().memory_info()
    most = limits.memory * _MB + getattr(used, "data", 0)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    os.register_at_fork(after_in_child=partial(os._exit, 1))  # no second worker on one pipe


def _end_with_parent(folder: str) -> None:
    """End this worker and its bots when the parent has ended, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        remove_folder(Path(folder))
        with suppress(OSError):
            Path(folder).parent.rmdir()
        os._exit(1)
