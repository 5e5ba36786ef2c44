"""Local: the executor of this machine, a crew of worker processes."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from arena.errors import WorkerDied
from arena.executors.deaths import Deaths
from arena.executors.halves import Halves, Work, keep_apart
from arena.executors.keeper import Keeper, keeper
from arena.executors.log import RunLog, logger
from arena.executors.member import Member, defer_interrupts, servers, start_server
from arena.lanes.cleanup import children, count_descendants, kill_orphans, scratch_folder
from arena.lanes.process import MOST_PROCESSES
from arena.tournament.chunk import Played
from arena.tournament.plan import Plan
from arena.tournament.tournament import Tournament

_CHUNKS_AHEAD = 2  # for each worker: the half it plays, and the next
_TICK = 0.1  # seconds between two looks at the workers
_LONG = 0.5  # seconds without a sign of life, after which a worker's processes are counted
_UNKNOWN = 255  # multiprocessing's exit code for a worker whose fork server was killed
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, _UNKNOWN)  # exit codes
_MOST_STILLBORN = 20  # workers in a row that are ended so before their first sign of life


def count_cores() -> int:
    """Return how many workers there are by default."""
    return os.cpu_count() or 1


@dataclass(frozen=True)
class LocalExecutor:
    """Plays on so many worker processes of this machine."""

    workers: int

    def __str__(self) -> str:
        return f"{self.workers} worker{'s' if self.workers != 1 else ''}"

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        with open_crew(self.workers, plan, tournament, log) as crew:
            yield from crew.play()
            crew.dismiss()


@contextmanager
def open_crew(size: int, work: Work, tournament: Tournament, log: RunLog) -> Iterator[Crew]:
    """Yield a crew of so many workers; at the end nothing of it is left."""
    tournament = keep_apart(tournament, size)
    start_server()
    with scratch_folder() as folder, keeper(folder) as kept:
        others = children()
        crew = Crew(size, work, tournament, log, folder, kept)
        try:
            yield crew
        finally:
            crew.kill()
            kill_orphans(others | servers())


class Crew:
    """The workers of a machine, as many as wanted; one that dies is replaced."""

    def __init__(
        self,
        size: int,
        work: Work,
        tournament: Tournament,
        log: RunLog,
        folder: Path,
        kept: Keeper,
    ) -> None:
        self.size = size
        self.halves = Halves(work, size, tournament.twins)
        self.tournament = tournament
        self.payload = pickle.dumps(tournament)
        self.log = log
        self.folder = folder
        self.keeper = kept
        self.deaths = Deaths()
        self.members: dict[int, Member] = {}
        self.hired = 0
        self.stillborn = 0

    def play(self) -> Iterator[Played]:
        """Yield what chunks come to, until there are none; more may come later."""
        looked = time.monotonic()
        while True:
            self._give()
            busy = {number: member for number, member in self.members.items() if member.chunks}
            if not busy:
                return
            ready = wait([member.connection for member in busy.values()], _TICK)
            for number, member in busy.items():
                if member.connection in ready:
                    try:
                        for played in member.receive():
                            yield from self.halves.join(played)
                    except EOFError:
                        self._replace(number, "")
            if time.monotonic() - looked > _TICK:
                self._look()
                looked = time.monotonic()

    def _give(self) -> None:
        """Give every worker what it plays and the next half, hiring where there are too few."""
        for ahead in range(_CHUNKS_AHEAD):
            for number in range(self.size):
                if number in self.members and len(self.members[number].chunks) > ahead:
                    continue
                chunk = self.halves.next(number)
                if chunk is None:
                    continue
                if self.deaths.is_unsafe(chunk.pairing):
                    chunk = chunk._replace(apart=True)
                if number not in self.members:
                    self._hire(number)
                self.members[number].give(chunk)

    def _hire(self, number: int) -> None:
        """Add a worker; no signal comes between its start and its place among the members."""
        self.hired += 1
        folder = self.folder / f"worker-{self.hired}"
        with defer_interrupts():
            member = Member(self.payload, self.tournament.limits, folder, self.log)
            self.members[number] = member
            self.keeper.watch(member.pid)

    def _look(self) -> None:
        """Replace workers that hang, or whose bots have started too many processes."""
        members = self.members.items()
        silent = {n: m for n, m in members if m.chunks and m.silence().wall > _LONG}
        counts = count_descendants([m.pid for m in silent.values()]) if silent else {}
        most = 2 * MOST_PROCESSES * len(self.tournament.entries)
        for number, member in silent.items():
            if member.hangs():
                self._replace(number, "gave no answer")
            elif counts[member.pid] > most:
                self._replace(number, f"started more than {MOST_PROCESSES} processes")

    def _replace(self, number: int, hung: str) -> None:
        """Bury a worker that has died or hangs; what it had to play is played again."""
        member = self.members.pop(number)
        exit_status = member.bury()
        ending = hung or exit_status
        if not member.chunks:
            return
        if not member.is_ready:
            self._fail_start(member, exit_status, hung)
            self.halves.take_back(member.chunks)
            return
        self.stillborn = 0
        playing, *waiting = member.chunks
        reason = f": {member.words}" if member.words else ""
        pairing = self.tournament.pairings[playing.pairing]
        pairs = member.progress.pairs
        logger.warning(
            "%s %s in %s, pair %d, and is replaced%s",
            member.process.name,
            ending,
            pairing.name,
            pairs.start,
            reason,
        )
        again = self.deaths.replan(playing, pairing, pairs, member.asking, ending)
        self.halves.take_back([*again, *waiting])

    def _fail_start(self, member: Member, exit_status: str, hung: str) -> None:
        """Raise WorkerDied for a worker that did not start.

        A worker that may have been killed from outside is forgiven, but not again and again.
        """
        self.stillborn += 1
        forgiven = member.process.exitcode in _FROM_OUTSIDE and not hung and not member.words
        if not forgiven or self.stillborn >= _MOST_STILLBORN:
            reason = member.words or hung or exit_status
            raise WorkerDied(f"a worker process did not start: {reason}")

    def dismiss(self) -> None:
        """Let all workers end."""
        for member in self.members.values():
            member.dismiss()
        self.members.clear()

    def kill(self) -> None:
        """Kill the workers that are left."""
        for member in self.members.values():
            member.kill()
        for member in self.members.values():
            member.bury()
        self.members.clear()
