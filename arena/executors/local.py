"""Play on this machine, with a pool of worker processes, called the crew."""

from __future__ import annotations

import os
import select
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path

from arena.errors import WorkerDied, counted
from arena.executors.answers import Garbled
from arena.executors.deaths import Deaths
from arena.executors.halves import Halves, Phases, Work
from arena.executors.log import RunLog, logger
from arena.executors.member import Member
from arena.executors.worker_process import write_head
from arena.lanes.cleanup import children, count_descendants, kill_orphans
from arena.lanes.faults import KILLED
from arena.lanes.launch import warm_jails
from arena.lanes.process import MOST_PROCESSES
from arena.lanes.scratch import scratch_folder
from arena.tournament.keys import HERE, Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament

_CHUNKS_AHEAD = 2  # for each worker: the current half, and the next
_TICK = 0.1  # seconds between two checks of the workers
_ALONE = 0.2  # seconds in which only the first worker plays: about the time of a start
_LONG = 0.5  # seconds of silence, after which a worker's processes are counted
_MOST_STILLBORN = 20  # workers in a row that may be killed before their first sign of life


def count_cores() -> int:
    """Return the default number of workers: that of the cores."""
    return os.cpu_count() or 1


@dataclass(frozen=True)
class LocalExecutor:
    """Plays on `workers` worker processes of this machine, which know the `venue`."""

    workers: int
    venue: Venue = HERE

    def __str__(self) -> str:
        return counted(self.workers, "worker")

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        with open_crew(self.workers, plan, tournament, log, self.venue) as crew:
            yield from crew.play()
            crew.dismiss()


@contextmanager
def open_crew(
    size: int, work: Work, tournament: Tournament, log: RunLog, venue: Venue = HERE
) -> Iterator[Crew]:
    """Yield a crew of `size` workers; at the end its processes and files are removed."""
    warm_jails(tournament.entries)
    with scratch_folder() as folder:
        others = children()
        crew = Crew(size, work, tournament, log, folder, venue)
        try:
            yield crew
        finally:
            crew.kill()
            kill_orphans(others)


class Crew:
    """The worker processes of a machine, up to `size`; one that dies is replaced."""

    def __init__(
        self,
        size: int,
        work: Work,
        tournament: Tournament,
        log: RunLog,
        folder: Path,
        venue: Venue,
    ) -> None:
        self.size = size
        whole = all(entry.lane == "inproc" for entry in tournament.entries)
        is_apart = tournament.halves == "apart"
        self.halves = (
            Phases(work, size, tournament.version_of)
            if is_apart
            else Halves(work, size, whole=whole)
        )
        self.tournament = tournament
        self.head = write_head(tournament, venue)
        self.log = log
        self.folder = folder
        self.deaths = Deaths()
        self.members: dict[int, Member] = {}
        self.hired = 0
        self.stillborn = 0
        self._full_from = inf  # when further workers are started

    def play(self) -> Iterator[Played]:
        """Yield the results of chunks until the work ends; it can be called again later."""
        looked = time.monotonic()
        while True:
            self._give()
            busy = {number: member for number, member in self.members.items() if member.chunks}
            if not busy and self.halves.turn():
                self.dismiss()
                continue
            if not busy:
                return
            for number in _wait_for(busy):
                try:
                    for played in busy[number].receive():
                        yield from self.halves.join(played)
                except EOFError:
                    self._replace(number, "")
                except Garbled as error:
                    self._replace(number, f"is not believed: {error}")
            if time.monotonic() - looked > _TICK:
                self._look()
                looked = time.monotonic()

    def _give(self) -> None:
        """Give every worker its current and its next half, starting missing workers."""
        for ahead in range(_CHUNKS_AHEAD):
            for number in range(self.size):
                member = self.members.get(number)
                if len(member.chunks) > ahead if member else not self._may_hire():
                    continue
                chunk = self.halves.next(number)
                if chunk is None:
                    continue
                if self.deaths.is_unsafe(chunk.pairing):
                    chunk = chunk._replace(apart=True)
                self._find(number).give(chunk)

    def _may_hire(self) -> bool:
        """Return whether to start one more worker: for the first moment one is enough."""
        if self._full_from == inf and any(one.is_ready for one in self.members.values()):
            self._full_from = time.monotonic() + _ALONE
        return not self.members or time.monotonic() >= self._full_from

    def _find(self, number: int) -> Member:
        """Return the worker with this number, started if it does not exist."""
        if number not in self.members:
            self.hired += 1
            folder = self.folder / f"worker-{self.hired}"
            self.members[number] = Member(self.head, self.tournament, folder, self.log)
        return self.members[number]

    def _look(self) -> None:
        """Replace workers that hang, or whose bots have started too many processes."""
        members = {number: member for number, member in self.members.items() if member.chunks}
        silent = [member for member in members.values() if member.silence().wall > _LONG]
        counts = count_descendants([member.pid for member in silent]) if silent else Counter()
        most = 2 * MOST_PROCESSES * len(self.tournament.entries)
        for number, member in members.items():
            if member.is_overdue() or member.hangs():
                self._replace(number, "finished no game in time")
            elif counts[member.pid] > most:
                self._replace(number, f"started more than {MOST_PROCESSES} processes")

    def _replace(self, number: int, hung: str) -> None:
        """Remove a worker that has died or hangs; its games are played again."""
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
        pairs = member.progress.pairs_of(playing)
        logger.warning(
            "%s %s in %s, pair %d, and is replaced%s",
            member.name,
            ending,
            pairing.name,
            pairs.start,
            reason,
        )
        again = self.deaths.replan(playing, pairing, pairs, member.asking, ending)
        self.halves.take_back([*again, *waiting])

    def _fail_start(self, member: Member, exit_status: str, hung: str) -> None:
        """Raise WorkerDied for a worker that did not start.

        Tolerates a limited number of workers in a row that may have been killed from outside.
        """
        self.stillborn += 1
        forgiven = member.status in KILLED and not hung and not member.words
        if not forgiven or self.stillborn >= _MOST_STILLBORN:
            reason = member.words or hung or exit_status
            raise WorkerDied(f"a worker process did not start: {reason}")

    def dismiss(self) -> None:
        """Let all workers exit."""
        for member in self.members.values():
            member.dismiss()
        self.members.clear()

    def kill(self) -> None:
        """Kill the remaining workers."""
        for member in self.members.values():
            member.kill()
        for member in self.members.values():
            member.bury()
        self.members.clear()


def _wait_for(members: Mapping[int, Member]) -> list[int]:
    """Wait up to a tick for answers; return the numbers of workers that have sent something."""
    numbers = {member.socket.fileno(): number for number, member in members.items()}
    poll = select.poll()
    for descriptor in numbers:
        poll.register(descriptor, select.POLLIN)
    return [numbers[descriptor] for descriptor, _ in poll.poll(_TICK * 1000)]
