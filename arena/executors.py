"""Executors: play a run's games in worker processes, in chunks of a fraction of a second."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from typing import Any, NamedTuple

from arena import log
from arena.errors import WorkerDied
from arena.load import Entry
from arena.match import Fault, GameResult, play_pair
from arena.schedule import Pairing
from engine import Rules

_CHUNK_SECONDS = 0.3
_FIRST_CHUNK = 2
_CHUNKS_WAITING = 2  # for each worker, beside the one it plays
_TRACEBACKS = 3  # for each bot and worker; further faults get one line


@dataclass(frozen=True)
class Job:
    """Everything a worker needs to play any game of a run."""

    seed: int
    rules: Rules
    entries: dict[str, Entry]
    pairings: Sequence[Pairing]
    pairs: int

    @property
    def games(self) -> int:
        """How many games the run has."""
        return 2 * self.pairs * len(self.pairings)


class Chunk(NamedTuple):
    """Some pairs of one pairing: from `first`, `pairs` of them."""

    pairing: int
    first: int
    pairs: int


class Played(NamedTuple):
    """What a chunk came to, and how long it took."""

    chunk: Chunk
    results: list[GameResult]
    seconds: float


def play_all(job: Job, workers: int, log_queue: Any = None) -> Iterator[Played]:
    """Play every game of the job, and yield the chunks as they are finished.

    Raises WorkerDied if a worker process ends by itself. However this ends, no process
    of it is left.
    """
    with _pool(job, workers, log_queue) as pool:
        plan = Plan(job)
        window = workers * (1 + _CHUNKS_WAITING)
        pending: dict[Future[Played], Chunk] = {}
        while True:
            while len(pending) < window and (chunk := plan.next()):
                with _interrupts_deferred():  # a submission may start a worker
                    pending[pool.submit(_play_chunk, chunk)] = chunk
            if not pending:
                return
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                played = _result(future, job, pending)
                del pending[future]
                plan.learn(played)
                yield played


def _result(future: Future[Played], job: Job, pending: dict[Future[Played], Chunk]) -> Played:
    try:
        return future.result()
    except BrokenProcessPool:
        playing = {" - ".join(job.pairings[chunk.pairing]) for chunk in pending.values()}
        raise WorkerDied(
            "a worker process died: a bot ended it, or used up the memory; being played: "
            + ", ".join(sorted(playing))
        ) from None


class Plan:
    """Cuts the job into chunks, each pairing's by the speed of its games so far."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.pairing = 0
        self.first = 0
        self.pair_seconds: dict[int, float] = {}

    def next(self) -> Chunk | None:
        """Return what to play next, None when everything has been given out."""
        if self.pairing == len(self.job.pairings):
            return None
        seconds = self.pair_seconds.get(self.pairing)
        size = max(1, int(_CHUNK_SECONDS / seconds)) if seconds else _FIRST_CHUNK
        chunk = Chunk(self.pairing, self.first, min(size, self.job.pairs - self.first))
        self.first += chunk.pairs
        if self.first == self.job.pairs:
            self.pairing, self.first = self.pairing + 1, 0
        return chunk

    def learn(self, played: Played) -> None:
        """Take note of a pairing's speed."""
        self.pair_seconds[played.chunk.pairing] = max(1e-6, played.seconds) / played.chunk.pairs


@contextmanager
def _pool(job: Job, workers: int, log_queue: Any) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of worker processes, and leave none behind."""
    context = multiprocessing.get_context(log.START_METHOD)
    with _interrupts_deferred():  # in the server, and so in every process it forks
        forkserver.ensure_running()
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(job, log_queue))
    try:
        yield pool
        pool.shutdown()
    finally:
        for process in multiprocessing.active_children():
            process.kill()
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Hold Ctrl-C back until the end, and from any process that begins meanwhile for good.

    The handler is for signals that reach another thread of this process; the mask is what
    a new process inherits.
    """
    resource_tracker.ensure_running()  # would lift the mask if it began inside
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)


class _Worker:
    """What a worker process knows: the job, and how many tracebacks each bot has had."""

    job: Job
    tracebacks: dict[str, int]


def _begin(job: Job, log_queue: Any) -> None:
    """Make this process a worker: it plays until its parent is gone, whatever ended it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    log.to_queue(log_queue)
    _Worker.job = job
    _Worker.tracebacks = {}
    log.logger.info("worker ready: %d bots, %d pairings", len(job.entries), len(job.pairings))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play_chunk(chunk: Chunk) -> Played:
    job = _Worker.job
    pairing = job.pairings[chunk.pairing]
    players = job.entries[pairing.bot], job.entries[pairing.opponent]
    start = time.perf_counter()
    results = []
    for pair in range(chunk.first, chunk.first + chunk.pairs):
        for result, fault in play_pair(job.seed, job.rules, pairing, players, pair):
            results.append(result)
            if fault:
                _log_fault(pairing, result, fault)
    return Played(chunk, results, time.perf_counter() - start)


def _log_fault(pairing: Pairing, result: GameResult, fault: Fault) -> None:
    guilty = pairing[fault.seat != result.seat]
    seen = _Worker.tracebacks[guilty] = _Worker.tracebacks.get(guilty, 0) + 1
    log.logger.warning(
        "%s forfeits (%s at ply %d): %s; game: %s - %s, pair %d, seat %d%s",
        guilty,
        fault.kind,
        fault.ply,
        fault.message,
        *pairing,
        result.pair,
        result.seat,
        f"\n{fault.traceback}" if seen <= _TRACEBACKS else "",
    )
