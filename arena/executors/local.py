"""Executors: worker processes, what each of them is given, and what becomes of the dead."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import wait
from pathlib import Path

import psutil

from arena.executors import log
from arena.executors.deaths import Blame
from arena.executors.marks import IMPORTING, Marks
from arena.executors.worker import work
from arena.lanes import cleanup as orphans
from arena.lanes.faults import ending
from arena.lanes.limits import GRACE
from arena.lanes.process import MOST_PROCESSES, kill_all
from arena.lanes.scratch import remove, scratch
from arena.tournament.chunk import Chunk, Job, Played
from arena.tournament.plan import Plan

_CHUNKS_AHEAD = 2  # for each worker: the one it plays, and the next
_TICK = 0.1  # seconds between two looks at the workers' marks
_START = 60.0  # seconds for a worker to begin
_LONG = 0.5  # seconds without a sign of life, after which its processes are counted
_END_PATIENCE = 5.0
_LAST_WORDS = 0.2  # seconds from the end of its pipe to the end of a worker
_CONTEXT = multiprocessing.get_context(log.START_METHOD)


class Member:
    """One worker process as its parent sees it."""

    def __init__(self, job: Job, folder: Path, run_log: log.RunLog) -> None:
        self.job = job
        self.folder = folder
        self.chunks: deque[Chunk] = deque()
        self.channel = run_log.channel()
        memory = _CONTEXT.RawArray("b", Marks.length(job.rules.game_plies))
        self.marks = Marks(memory)
        self.marks.clear()
        self.connection, theirs = _CONTEXT.Pipe()
        folder.mkdir()
        self.process = _CONTEXT.Process(
            target=work,
            args=(theirs, job, memory, str(folder), self.channel.queue),
            name=folder.name,
            daemon=True,
        )
        self.process.start()
        theirs.close()
        self._allowed = MOST_PROCESSES * len(job.entries)
        self._beat = 0
        self._since = time.monotonic()

    def give(self, chunk: Chunk) -> None:
        """Give the worker a chunk to play after those it has."""
        if not self.chunks:
            self._since = time.monotonic()
        self.chunks.append(chunk)
        with suppress(OSError):  # it has died, which is noticed where answers are awaited
            self.connection.send(chunk)

    def received(self) -> Played | None:
        """Return what a chunk came to, None if the worker has died instead."""
        try:
            played: Played = self.connection.recv()
        except Exception:  # a bot may have written into the pipe before it killed the worker
            return None
        self.chunks.popleft()
        self._since = time.monotonic()
        return played

    def hangs(self) -> str:
        """Return what is wrong with a worker that gives no sign of life, empty if nothing."""
        seen = self.marks.read()
        now = time.monotonic()
        if seen.beat != self._beat or not self.chunks:
            self._beat, self._since = seen.beat, now
        limits = self.job.limits
        allowed = min(limits.decision, limits.game or limits.decision)
        if seen.stage == IMPORTING:
            allowed = limits.start
        elif not seen.beat:
            allowed = _START
        if now - self._since > allowed + 2 * GRACE:
            return "gave no answer"
        if now - self._since > _LONG and len(self._children()) > self._allowed:
            return f"started more than {MOST_PROCESSES} processes"
        return ""

    def _children(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.Error:
            return []

    def kill(self) -> None:
        """Kill the worker and all it has started."""
        started = self._children()
        self.process.kill()
        kill_all(started)

    def bury(self) -> str:
        """Remove what is left of the worker and its bots; return how it ended."""
        self.process.join(_LAST_WORDS)
        self.kill()
        self.process.join()
        self.connection.close()
        remove(self.folder)
        self.channel.close(killed=True)
        return ending(self.process.exitcode or 0)

    def dismiss(self) -> None:
        """Let the worker end: it has nothing left to play."""
        with suppress(OSError):
            self.connection.send(None)
        self.process.join(_END_PATIENCE)
        killed = self.process.exitcode != 0
        if killed:
            self.bury()
        else:
            self.connection.close()
            remove(self.folder)
            self.channel.close(killed=False)


class Crew:
    """The workers of a run, as many as wanted; who dies is replaced."""

    def __init__(self, job: Job, size: int, plan: Plan, run_log: log.RunLog, folder: Path) -> None:
        self.job = job
        self.size = size
        self.plan = plan
        self.run_log = run_log
        self.folder = folder
        self.blame = Blame(job.limits)
        self.members: list[Member] = []
        self.hired = 0

    def play(self) -> Iterator[Played]:
        """Yield what the plan's chunks come to, until there are no more."""
        while True:
            self._give()
            busy = [member for member in self.members if member.chunks]
            if not busy:
                return
            ready = wait([member.connection for member in busy], _TICK)
            for member in busy:
                if member.connection in ready:
                    played = member.received()
                    if played is None:
                        self._replace(member, "")
                    else:
                        yield played
                elif what := member.hangs():
                    self._replace(member, what)

    def _give(self) -> None:
        for ahead in range(_CHUNKS_AHEAD):
            for number in range(self.size):
                if number < len(self.members) and len(self.members[number].chunks) > ahead:
                    continue
                chunk = self.plan.next()
                if chunk is None:
                    return
                if number == len(self.members):
                    self.members.append(self._hired())
                self.members[number].give(chunk)

    def _hired(self) -> Member:
        self.hired += 1
        with interrupts_deferred():  # they would be inherited
            return Member(self.job, self.folder / f"worker-{self.hired}", self.run_log)

    def _replace(self, member: Member, hung: str) -> None:
        """Bury a worker that has died or hangs; what it had to play goes back to the plan."""
        ended = member.bury()
        seen = member.marks.read()
        playing, *waiting = member.chunks
        pairing = self.job.pairings[playing.pairing]
        log.logger.warning(
            "%s %s in %s, pair %d, and is replaced",
            member.process.name,
            hung or ended,
            " - ".join(pairing),
            seen.pair,
        )
        answers_late = hung == "gave no answer"
        told = hung or ended
        self.plan.again([*self.blame.again(playing, pairing, seen, told, answers_late), *waiting])
        self.members.remove(member)


def play_all(plan: Plan, job: Job, workers: int, run_log: log.RunLog) -> Iterator[Played]:
    """Play every game of the plan, and yield the chunks as they are finished.

    Raises WorkerDied if workers die and no bot is to blame. However this ends, no process
    and no file of it is left.
    """
    _start_forkserver()
    with scratch() as folder:
        others = orphans.children()
        crew = Crew(job, workers, plan, run_log, folder)
        try:
            yield from crew.play()
            for member in crew.members:
                member.dismiss()
            crew.members.clear()
        finally:
            for member in crew.members:
                member.kill()
            for member in crew.members:
                member.bury()
            orphans.kill(others | _servers())


def _start_forkserver() -> None:
    """Have the process that workers are forked from import what they need, once."""
    multiprocessing.set_forkserver_preload(["arena.executors.worker"])
    with interrupts_deferred():  # in the server, and so in every process it forks
        forkserver.ensure_running()


def _servers() -> set[psutil.Process]:
    """Return the processes that multiprocessing has started for itself."""
    return {child for child in orphans.children() if "multiprocessing" in _command(child)}


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@contextmanager
def interrupts_deferred() -> Iterator[None]:
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
