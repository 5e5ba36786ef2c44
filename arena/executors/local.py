"""Define what an executor does, and play on this machine with a pool of workers, the crew.

Bots that cannot reach this process (those of `bots/`, and bots in jails) are first played by this
process itself: a short run starts no worker, and a long one is continued by workers only.

A worker may be killed from outside, or by a bot inside it. So the pairs that it was playing are
replayed apart, with every bot in a process of its own, where a crash, a timeout and lack of memory
can be distinguished. A bot that kills the worker even then is identified by the question that the
worker had just asked it, the same each time.
"""

from __future__ import annotations

import select
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from msgspec.structs import replace

from arena.addons import hook
from arena.errors import Exhausted, WorkerDied, counted
from arena.executors.crew_messages import Asking, Garbled
from arena.executors.log import RunLog, logger
from arena.executors.this_process import Abandoned, Here, is_harmless
from arena.lanes.faults import KILLED, Fault
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.processes import killing_orphans
from arena.threads import count_cores
from arena.tournament.config_keys import EXECUTORS, HERE, ExecutorChoice, Venue
from arena.tournament.plan import CHUNK_SECONDS, Chunk, Halves, Plan, Played, Verdict, Work
from arena.tournament.schedule import Pairing
from arena.tournament.timing import Speeds
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:  # a run without workers starts 12 ms sooner
    from arena.executors.worker_handle import Member

_SURE = 6  # deaths in a row at one question; fewer may have a cause outside
_SURE_IN_START = 12  # a start takes longer than many games, so kills often hit it
_MOST_DEATHS = 30  # deaths in one pair
_UNSAFE = 3  # deaths in one pairing, after which all of it is played apart
_BATCHES_AHEAD = 2  # for each worker: the current batch, and the next
_MOST_BATCH = 512  # chunks
_TOGETHER = 8  # times as many chunks of one pair, of bots in processes: they are played together
_TICK = 0.1  # seconds between two checks of the workers
_ALONE = 0.3  # seconds in which only the first worker plays: about the time of a start
_MOST_STILLBORN = 20  # workers in a row that may be killed before their first sign of life


@runtime_checkable
class Executor(Protocol):
    """Plays the chunks of a plan somewhere; `str` says where, as in "2 workers".

    Chunks go in as data and come back as data; a bot travels as an Entry, with its source and
    sha256. Nothing is shared in memory.
    """

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished.

        The caller lets the plan learn from each chunk before it asks for the next one. Every
        game comes back once, with the same bytes from every executor; a chunk whose machine
        or process dies is played again. However it ends, no process and no file is left; the
        caller closes it, because an exception may keep it for long. Raises WorkerDied if
        workers die and no bot is to blame.
        """
        ...


@contextmanager
def open_executor(venue: Venue) -> Iterator[Executor]:
    """Yield what plays at a venue: every game of every command and call is played by one of these.

    The venue's executor may also be an Executor of ours, one of `concurrent.futures` or a Dask
    client. On a cluster the workers are those of each call, by default one. Raises InputError if
    the executor cannot be reached, or is something else.
    """
    at: Any = venue.executor or "local"
    at = ExecutorChoice(at) if at in EXECUTORS else at
    told = replace(venue, executor=None)  # it travels to the workers
    if isinstance(at, Executor):
        yield at
    elif isinstance(at, ExecutorChoice) and at.kind == "local":
        yield LocalExecutor(venue.workers or count_cores(), told)
    else:
        with hook("open_pool")(at, told) as pool:
            yield pool


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
            yield from map(Played.check, crew.play())
            crew.dismiss()


@contextmanager
def open_crew(
    size: int, work: Work, tournament: Tournament, log: RunLog, venue: Venue = HERE
) -> Iterator[Crew]:
    """Yield a crew of `size` workers; at the end its processes and files are removed."""
    with scratch_folder() as folder, killing_orphans():
        crew = Crew(size, work, tournament, log, folder, venue)
        try:
            yield crew
        finally:
            crew.kill()


class Deaths:
    """Counts the deaths of workers, and decides what to play in place of their chunks."""

    def __init__(self) -> None:
        self._questions: dict[tuple[int, ...], list[Asking | None]] = defaultdict(list)
        self._of_pairing: Counter[int] = Counter()

    def is_unsafe(self, pairing: int) -> bool:
        """Return whether enough workers have died in a pairing to play all of it apart."""
        return self._of_pairing[pairing] >= _UNSAFE

    def replan(
        self, chunk: Chunk, pairing: Pairing, pairs: range, asking: Asking | None, ending: str
    ) -> list[Chunk]:
        """Return what to play in place of a chunk whose worker has died playing some pairs.

        `asking` is the last question of a game played apart; `ending` says how the worker died.
        Raises WorkerDied if workers keep dying before a bot gets a question.
        """
        self._of_pairing[chunk.pairing] += 1
        if chunk.pairs > 1 or not chunk.apart:
            return split(chunk, pairs, chunk._replace(apart=True))
        questions = self._questions[chunk.pairing, chunk.first, *chunk.seats]
        questions.append(asking)
        wanted = _SURE_IN_START if asking and asking.history is None else _SURE
        sure = questions[-wanted:] == [asking] * wanted or len(questions) >= _MOST_DEATHS
        if asking and sure:
            kind = "import" if asking.history is None else "crash"
            fault = Fault(kind, f"each time it was asked, its worker {ending}")
            verdict = Verdict(asking.asked, asking.history or b"", fault)
            decided = {**chunk.verdicts, (asking.pair, asking.seat): verdict}
            return [chunk._replace(verdicts=decided)]
        if len(questions) >= _MOST_DEATHS:
            where = f"{len(questions)} times in pair {chunk.first} of {pairing.name}"
            raise WorkerDied(f"a worker process died {where} before a bot was asked: {ending}")
        return [chunk]


def split(chunk: Chunk, pairs: range, special: Chunk) -> list[Chunk]:
    """Split a chunk: each of `pairs` becomes a copy of `special` with that pair, the rest stays."""
    end = chunk.first + chunk.pairs
    pieces = [
        chunk._replace(pairs=pairs.start - chunk.first),
        *(special._replace(first=pair, pairs=1) for pair in pairs),
        chunk._replace(first=pairs.stop, pairs=end - pairs.stop),
    ]
    return [piece for piece in pieces if piece.pairs]


class Crew:
    """The worker processes of a machine, up to `size`; one that dies is replaced."""

    def __init__(
        self, size: int, work: Work, tournament: Tournament, log: RunLog, folder: Path, venue: Venue
    ) -> None:
        self.size = size
        whole = all(entry.lane == "inproc" for entry in tournament.entries)
        self.halves = Halves(work, size, whole=whole, expect=self._expect)
        self.tournament = tournament
        self.speeds = Speeds()
        self.venue = venue
        self.log = log
        self.folder = folder
        self.deaths = Deaths()
        self.members: dict[int, Member] = {}
        self.hired = 0
        self.stillborn = 0
        self._full_from = inf  # when further workers are started
        self.here: Here | None = None
        if all(map(is_harmless, tournament.entries)):
            self.here = Here(tournament, folder / "worker-0", log, self._on_beat)
            self._full_from = time.monotonic() + _ALONE

    def play(self) -> Iterator[Played]:
        """Yield the results of chunks until the work ends; it can be called again later."""
        looked = time.monotonic()
        while True:
            chunk = self.halves.next(0) if self.here else None
            if chunk:
                yield from self._play_here(chunk)
            self._give()
            waiting = {n: one for n, one in self.members.items() if chunk or one.batches}
            if not (waiting or chunk):
                return
            for number in _wait_for(waiting, 0 if chunk else _TICK):
                try:
                    for played in waiting[number].receive():
                        yield from self._take(played)
                except EOFError:
                    self._replace(number, "")
                except Garbled as error:
                    self._replace(number, f"is not believed: {error}")
            if time.monotonic() - looked > _TICK:
                self._look()
                looked = time.monotonic()

    def _play_here(self, chunk: Chunk) -> Iterator[Played]:
        """Play a chunk in this process, until workers are ready."""
        assert self.here
        played = self.here.play(chunk)
        if played:
            yield from self._take(played)
        else:
            self.halves.take_back([chunk])
        if not played or self._has_ready():
            self.here.close()
            self.here = None

    def _on_beat(self, seconds: float) -> None:
        """Start workers while this process plays; raises Abandoned if they are to continue."""
        if self.size > 1 and time.monotonic() > self._full_from:
            if seconds > CHUNK_SECONDS and self._has_ready():
                raise Abandoned
            chunk = None if len(self.members) == self.size else self.halves.next(0)
            if chunk:  # there is more to play than the current one
                self.halves.take_back([chunk])
                for number in range(self.size):
                    self._find(number)

    def _has_ready(self) -> bool:
        return any(member.is_ready for member in self.members.values())

    def _give(self) -> None:
        """Give every worker its current and its next batch, starting missing workers."""
        if self.here:
            return
        for ahead in range(_BATCHES_AHEAD):
            for number in range(self.size):
                member = self.members.get(number)
                if len(member.batches) > ahead if member else not self._may_hire():
                    continue
                if batch := self._next_batch(number):
                    self._find(number).give(batch)

    def _next_batch(self, number: int) -> list[Chunk]:
        """Return the next chunk for a worker, or several short ones: a batch costs 2 ms."""
        batch: list[Chunk] = []
        seconds = 0.0
        while seconds < CHUNK_SECONDS and len(batch) < _MOST_BATCH:
            chunk = self.halves.next(number, more=bool(batch))
            if chunk is None:
                break
            if self.deaths.is_unsafe(chunk.pairing):
                chunk = chunk._replace(apart=True)
            if batch and chunk.apart:  # it may end its worker
                self.halves.take_back([chunk])
                break
            batch.append(chunk)
            seconds += inf if chunk.apart else self._expect(chunk)
        return batch

    def _expect(self, chunk: Chunk) -> float:
        """Return the seconds that a chunk may take, infinity if that is not known."""
        together = _TOGETHER if chunk.pairs == 1 and not self.halves.whole else 1
        expected = self.speeds.expect(self.tournament.pairings[chunk.pairing], chunk.games)
        return expected / together

    def _take(self, played: Played) -> Iterator[Played]:
        """Yield the results of the chunk that is finished by these, if one is."""
        pairing = self.tournament.pairings[played.chunk.pairing]
        self.speeds.learn(pairing, played.seconds / played.chunk.games)
        yield from self.halves.join(played)

    def _may_hire(self) -> bool:
        """Return whether to start one more worker: for the first moment one is enough."""
        if self._full_from == inf and self._has_ready():
            self._full_from = time.monotonic() + _ALONE
        return not self.members or time.monotonic() >= self._full_from

    @cached_property
    def _head(self) -> bytes:
        from arena.executors.worker_process import write_head

        return write_head(self.tournament, self.venue)

    def _find(self, number: int) -> Member:
        """Return the worker with this number, started if it does not exist."""
        if number not in self.members:
            from arena.executors.worker_handle import Member

            self.hired += 1
            folder = self.folder / f"worker-{self.hired}"
            self.members[number] = Member(self._head, self.tournament, folder, self.log)
        return self.members[number]

    def _look(self) -> None:
        """Replace workers that hang, or whose bots have started too many processes."""
        for number, member in [*self.members.items()]:
            if member.batches and (why := member.find_hang()):
                self._replace(number, why)

    def _replace(self, number: int, hung: str) -> None:
        """Remove a worker that has died or hangs; its games are played again."""
        member = self.members.pop(number)
        exit_status = member.bury()
        ending = hung or exit_status
        kind, _, lacks = member.words.partition(": ")
        if kind == Exhausted.__name__:
            raise Exhausted(lacks)
        if not member.is_ready:
            self._fail_start(member, exit_status, hung)
            self.halves.take_back([chunk for batch in member.batches for chunk in batch])
            return
        self.stillborn = 0
        if not member.batches:
            return
        chunk, pairs = member.progress.find(member.batches[0])
        pairing = self.tournament.pairings[chunk.pairing]
        again = self.deaths.replan(chunk, pairing, pairs, member.asking, ending)
        others = [one for batch in member.batches for one in batch if one is not chunk]
        where = f"{pairing.name}, pair {pairs.start}"
        reason = f": {member.words}" if member.words else ""
        logger.warning("%s %s in %s, and is replaced%s", member.name, ending, where, reason)
        self.halves.take_back([*again, *others])

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
        self._end(lambda member: member.dismiss())

    def kill(self) -> None:
        """Kill the remaining workers."""
        for member in self.members.values():
            member.kill()
        self._end(lambda member: member.bury())

    def _end(self, how: Callable[[Member], object]) -> None:
        if self.here:
            self.here.close()
        for member in self.members.values():
            how(member)
        self.members.clear()


def _wait_for(members: Mapping[int, Member], seconds: float) -> list[int]:
    """Wait for answers; return the numbers of workers that have sent something."""
    numbers = {member.socket.fileno(): number for number, member in members.items()}
    poll = select.poll()
    for descriptor in numbers:
        poll.register(descriptor, select.POLLIN)
    return [numbers[descriptor] for descriptor, _ in poll.poll(seconds * 1000)]
