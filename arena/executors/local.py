"""Play on this machine with a pool of worker processes, called the crew.

Both games of a pair share a deal, so a bot that has played one of them knows its opponent's hands
in the other. A half of a chunk is the games in which the pairing's first bot has one seat. In the
lanes `process` and `jail` a bot has a separate process for each half. A worker that plays only one
half needs half as many processes. Bots in the lane `inproc` are not separated: their chunks stay
whole.

With `halves: apart` chunks are played in blocks. In the first phase of a block the workers play the
first half of all its chunks, in the second phase the other half. After each phase every worker
exits, with all processes of its bots. So all processes that have seen one game of a pair have ended
before the other game begins. In a paired tournament, in which pairings share their deals, a block
has two phases for each of these pairings.
"""

from __future__ import annotations

import os
import select
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Protocol

from arena.errors import WorkerDied, counted
from arena.executors.answers import Deaths, Garbled
from arena.executors.log import RunLog, logger
from arena.executors.member import Member
from arena.executors.worker_process import write_head
from arena.lanes.cleanup import children, count_descendants, kill_orphans
from arena.lanes.faults import KILLED
from arena.lanes.launch import warm_jails
from arena.lanes.process import MOST_PROCESSES
from arena.lanes.scratch import scratch_folder
from arena.tournament.keys import HERE, Venue
from arena.tournament.plan import Chunk, Plan, Played, join
from arena.tournament.tournament import Tournament
from engine.state import Seat

_MOST_WAITING = 2  # for each worker: halves that may wait for a worker of their seat


class Work(Protocol):
    """A source of chunks: the plan of a run, or the batches that a site receives."""

    def next(self) -> Chunk | None:
        """Return the next chunk, None if there is nothing to play now."""

    def take_back(self, chunks: Iterable[Chunk]) -> None:
        """Take back chunks that were handed out but not played."""

    def is_out(self, pairing: int) -> bool:
        """Return whether the remaining games of a pairing are cancelled."""


class _Open:
    """A chunk taken from the plan: its waiting pieces, and its results so far."""

    def __init__(self, chunk: Chunk, *, whole: bool = False) -> None:
        self.chunk = chunk
        halves = [chunk._replace(seats=(seat,)) for seat in chunk.seats]
        self.waiting = [chunk] if whole else halves
        self.played: list[Played] = []

    def holds(self, piece: Chunk) -> bool:
        """Return whether a piece belongs to this chunk."""
        chunk = self.chunk
        return chunk.pairing == piece.pairing and 0 <= piece.first - chunk.first < chunk.pairs

    def join(self) -> Played | None:
        """Return the results of the whole chunk, None if some of it has not been played."""
        if sum(map(_games, (played.chunk for played in self.played))) < _games(self.chunk):
            return None
        return join(self.chunk, self.played)


def _games(chunk: Chunk) -> int:
    return chunk.pairs * len(chunk.seats)


class Halves:
    """Hands out halves of chunks, or `whole` chunks, to workers, which are numbered from 0.

    While there is enough work, workers with even numbers play seat 0 and the others seat 1. Then a
    worker needs one process of each bot, else one for each seat. A worker that replaces another
    gets its number.
    """

    def __init__(self, work: Work, workers: int, *, whole: bool = False) -> None:
        self.work = work
        self.workers = workers
        self.whole = whole
        self._open: list[_Open] = []

    def next(self, worker: int) -> Chunk | None:
        """Return the next piece for a worker, None if there is nothing to play."""
        self._drop_decided()
        seat = worker % 2
        waiting = sum(len(opened.waiting) for opened in self._open)
        piece = self._take(seat)
        if not piece and waiting < _MOST_WAITING * self.workers and (chunk := self.work.next()):
            self._add(chunk)
            piece = self._take(seat)
        return piece or self._take(1 - seat)

    def _drop_decided(self) -> None:
        """Return chunks to the plan whose games have become forfeits by rule."""
        for opened in self._open[:]:
            if opened.waiting and self.work.is_out(opened.chunk.pairing):
                self._open.remove(opened)
                self.work.take_back([opened.chunk])

    def _add(self, chunk: Chunk) -> None:
        self._open.append(_Open(chunk, whole=self.whole))

    def _take(self, seat: Seat) -> Chunk | None:
        """Return the first piece that a worker of this seat may play."""
        for opened in self._open:
            for piece in opened.waiting:
                if self._may_play(seat, piece, opened.chunk):
                    opened.waiting.remove(piece)
                    return piece
        return None

    def _may_play(self, seat: Seat, piece: Chunk, _chunk: Chunk) -> bool:
        """Return whether a piece is of this seat; whole chunks and a single worker have none."""
        return self.workers == 1 or self.whole or piece.seats == (seat,)

    def turn(self) -> bool:
        """Return whether new workers have more to play, when all workers are idle."""
        return False

    def take_back(self, pieces: Iterable[Chunk]) -> None:
        """Take back pieces that were handed out but not played."""
        for piece in pieces:
            for opened in self._open:
                if opened.holds(piece):
                    opened.waiting.append(piece)
                    opened.waiting.sort(key=lambda piece: piece.first)

    def join(self, played: Played) -> Iterator[Played]:
        """Yield the results of a chunk once all pieces of both halves have been played."""
        for opened in self._open[:]:
            if opened.holds(played.chunk):
                opened.played.append(played)
                if whole := opened.join():
                    self._open.remove(opened)
                    yield whole


_MOST_CHUNKS = 32  # chunks of a block at most, for each worker
_MOST_SECONDS = 10.0  # seconds for which a block takes chunks
_FIRST = (0, 0)  # a phase: which of the pairings that share a deal, and which half


class Phases(Halves):
    """Hands out the halves of chunks to workers, one phase at a time.

    `version_of` numbers the pairings that share their deals, 0 for one that shares none. `clock`
    returns seconds; the length of blocks changes no game.
    """

    def __init__(
        self,
        work: Work,
        workers: int,
        version_of: Callable[[int], int] = lambda _: 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(work, workers)
        self.version_of = version_of
        self.clock = clock
        self._phase = _FIRST
        self._taken = 0  # chunks of the block
        self._began = 0.0

    def next(self, worker: int) -> Chunk | None:
        """Return the next piece for a worker, None if there is nothing to play in this phase."""
        self._drop_decided()
        if not self._open and self._taken:
            return None  # the block has ended
        while (piece := self._take(worker % 2)) is None and self._may_take():
            chunk = self.work.next()
            if chunk is None:
                break
            self._began = self._began if self._taken else self.clock()
            self._taken += 1
            self._add(chunk)
        return piece

    def _may_take(self) -> bool:
        """Return whether the block takes more chunks."""
        if not self._taken:
            return True
        is_long = self.clock() - self._began > _MOST_SECONDS
        is_full = self._taken >= _MOST_CHUNKS * self.workers
        return self._phase == _FIRST and not (is_long or is_full)

    def _may_play(self, _seat: Seat, piece: Chunk, chunk: Chunk) -> bool:
        """Return whether a piece is of this phase."""
        return self._phase_of(piece, chunk) == self._phase

    def _phase_of(self, piece: Chunk, chunk: Chunk) -> tuple[int, int]:
        """Return the phase of a piece of a chunk: the version of its pairing, then its half."""
        return self.version_of(chunk.pairing), chunk.seats.index(piece.seats[0])

    def turn(self) -> bool:
        """Begin the next phase or block when no worker plays; return False after an empty one."""
        phases = [
            self._phase_of(piece, opened.chunk) for opened in self._open for piece in opened.waiting
        ]
        was_empty = not (phases or self._taken)
        self._phase = min(phases, default=_FIRST)
        if not phases:
            self._taken = 0
        return not was_empty


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
