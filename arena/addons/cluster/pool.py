"""Play a plan through any executor of `concurrent.futures`: Dask's, MPI's, a pool of processes.

Each call plays some seconds of chunks with a crew of its own. A game has the same record on every
machine, so a lost call can be made again, which is the executor's matter. A fault that a machine
could have caused is replayed on this one, and that counts.
"""

from __future__ import annotations

import json
import logging
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.addons.cluster.call import play_call, play_chunks, read_answer, write_head
from arena.errors import ArenaError, InputError, NoSites, escape, naming, not_installed
from arena.executors.crew_messages import Garbled
from arena.executors.log import RunLog, logger
from arena.lanes.faults import KINDS
from arena.threads import count_cores
from arena.tournament.config_keys import HERE, PATIENCE, ExecutorChoice, Venue
from arena.tournament.plan import CHUNK_SECONDS, Chunk, Plan, Played
from arena.tournament.timing import Speeds
from arena.tournament.tournament import Tournament
from arena.tournament.versions import versions_here
from engine.errors import show

if TYPE_CHECKING:
    from distributed import Client

_CONNECT = "10s"
_SIZES = ("num_workers", "_max_workers")  # attributes with the number of processes of an executor
_NO_FILE = (OSError, ValueError, LookupError, TypeError, RecursionError)
_AHEAD = 2  # calls for each process: the one that it plays, and the next
_LEAST, _MOST = 1.0, 5.0  # seconds of play in a call, whose start takes about 0.3
_SHARE = 0.25  # of the run so far: a short run has short calls, so that all processes are busy
_MOST_CHUNKS = 4096  # of a call
_TICK = 1.0  # seconds between two looks at the number of processes


@dataclass(frozen=True)
class PoolExecutor:
    """Plays on all processes of an executor; `count` returns how many there are now.

    A call has the venue's workers, or one. `patience` is for how many seconds a run waits while
    there is no process. `what` names the processes in messages.
    """

    executor: Executor = field(repr=False)
    count: Callable[[], int]
    what: str
    venue: Venue = HERE
    patience: float = PATIENCE

    def __str__(self) -> str:
        return f"{self.count()} {self.what}"

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        yield from _Calls(self, plan, tournament, log).play()


class _Calls:
    """The calls of a run.

    `held` are results with faults in doubt, which wait for their replays; `replayed` are those
    whose replays are being played by the thread `home`.
    """

    def __init__(self, pool: PoolExecutor, plan: Plan, tournament: Tournament, log: RunLog) -> None:
        self.pool = pool
        self.plan = plan
        self.tournament = tournament
        self.log = log
        self.head = write_head(tournament, pool.venue)
        self.speeds = Speeds()
        self.asked: dict[Future[bytes], list[Chunk]] = {}
        self.home = ThreadPoolExecutor(1, "replays")
        self.stopped = threading.Event()
        self.replays: Future[list[Played]] | None = None
        self.held: list[tuple[str, Played]] = []
        self.replayed: list[tuple[str, Played]] = []
        self.doubtful: set[str] = set()  # machines that had a fault which is none here
        self.began = self.seen = time.monotonic()
        self.is_waiting = False

    def play(self) -> Generator[Played, None, None]:
        """Play every chunk of the plan; raises NoSites, and what a call raises."""
        try:
            while not self.plan.is_finished:
                self._ask()
                calls: list[Future[Any]] = [*self.asked, *filter(None, [self.replays])]
                done = wait(calls, _TICK, FIRST_COMPLETED).done
                if not calls:
                    time.sleep(_TICK)
                for call in done:
                    yield from self._settle() if call is self.replays else self._hear(call)
        finally:
            self.stopped.set()
            for call in self.asked:
                call.cancel()
            self.home.shutdown(cancel_futures=True)

    def _ask(self) -> None:
        """Make calls until each process has its own and the next, and start replays."""
        if self.held and not self.replays:
            self.replayed, self.held = self.held, []
            chunks = [chunk for _, one in self.replayed for chunk in _find_doubts(one)]
            how = self.tournament, self.pool.venue, chunks, self.log, self.stopped.is_set
            self.replays = self.home.submit(play_chunks, count_cores(), *how)
        most = _AHEAD * self._count()
        while len(self.asked) < most and (chunks := self._cut()):
            told = versions_here(), self.head, pickle.dumps(chunks)
            try:
                self.asked[self.pool.executor.submit(play_call, *told)] = chunks
            except Exception as error:  # it was shut down, or has lost its processes
                raise self._lost(error) from None

    def _count(self) -> int:
        """Return the number of processes; raises NoSites after too long without one."""
        count, now, patience = self.pool.count(), time.monotonic(), self.pool.patience
        if count:
            self.seen = now
        elif now - self.seen > patience:
            raise NoSites(f"there was no machine for {patience:g} s")
        elif not self.is_waiting:
            logger.warning("there is no machine; waiting up to %g s for one", patience)
        self.is_waiting = not count
        return count

    def _cut(self) -> list[Chunk]:
        """Return the chunks of the next call; a pairing whose faults are in doubt waits.

        One of its bots may soon be out.
        """
        doubted = {one.chunk.pairing for _, one in (*self.held, *self.replayed)}
        seconds = min(_MOST, max(_LEAST, _SHARE * (time.monotonic() - self.began)))
        seconds *= self.pool.venue.workers or 1
        chunks: list[Chunk] = []
        while seconds > 0 and len(chunks) < _MOST_CHUNKS:
            if not (chunk := self.plan.next(lambda pairing: pairing not in doubted)):
                break
            chunks.append(chunk)
            expected = self.speeds.expect(self.tournament.pairings[chunk.pairing], chunk.games)
            seconds -= CHUNK_SECONDS if isinf(expected) else expected
        return chunks

    def _hear(self, call: Future[bytes]) -> Iterator[Played]:
        """Yield the results of a call, but for those whose faults are in doubt."""
        chunks = self.asked.pop(call)
        try:
            machine, played, lines = read_answer(call.result(), chunks)
            for one in played:
                one.check()
        except Exception as error:
            if isinstance(error, ArenaError) and not isinstance(error, Garbled):
                raise  # it names its machine
            raise self._lost(error) from None
        for line in lines:
            self.log.write(line.process, line)
        for one in played:
            pairing = self.tournament.pairings[one.chunk.pairing]
            self.speeds.learn(pairing, one.seconds / one.chunk.games)
            if _find_doubts(one):
                self.held.append((machine, one))
            else:
                yield one

    def _settle(self) -> Iterator[Played]:
        """Yield the held results, with the replays in place of the games in doubt."""
        assert self.replays
        new = {
            (again.chunk.pairing, *game[:2]): game
            for again in self.replays.result()
            for game in again.check().results
        }
        replayed, self.replayed, self.replays = self.replayed, [], None
        for machine, one in replayed:
            number = one.chunk.pairing
            results = [new.get((number, *game[:2]), game) for game in one.results]
            for before, after in zip(one.results, results, strict=True):
                if before.fault and not after.fault and machine not in self.doubtful:
                    self.doubtful.add(machine)
                    name = self.tournament.pairings[number].name
                    logger.warning("%s: %s; not so here: %s", machine, before.fault.message, name)
            yield one._replace(results=results)

    def _lost(self, error: Exception) -> NoSites:
        reason = escape(str(error)).partition("\\n")[0] or type(error).__name__
        return NoSites(f"a call to {self.pool.what} was lost: {reason}")


def _find_doubts(played: Played) -> Sequence[Chunk]:
    """Return the pairs of a chunk with faults that its machine could have caused, as chunks."""
    faults = [(game.pair, KINDS[game.fault.kind]) for game in played.forfeits if game.fault]
    pairs = {pair for pair, kind in faults if not (kind.is_sure or kind.is_final)}
    return [played.chunk._replace(first=pair, pairs=1) for pair in sorted(pairs)]


@contextmanager
def open_pool(at: Any, venue: Venue) -> Iterator[PoolExecutor]:
    """Yield the executor of a venue: a choice, an executor of concurrent.futures, a Dask client.

    Raises InputError if it cannot be reached, or is another value.
    """
    if isinstance(at, Executor):
        yield _pool_of(at, venue, f"processes of {type(at).__name__}")
    elif isinstance(at, ExecutorChoice) and at.kind == "mpi":
        with _open_mpi() as executor:
            yield _pool_of(executor, venue, "ranks of MPI")
    elif isinstance(at, ExecutorChoice):
        with _connect(at) as client:
            yield _pool_of_client(client, venue, at.patience)
    elif isinstance(at, _import_distributed().Client):
        yield _pool_of_client(at, venue, PATIENCE)
    else:
        known = "a name, a mapping, an executor of concurrent.futures nor a Dask client"
        raise InputError(f"executor: {show(at)} is neither {known}")


def _pool_of(executor: Executor, venue: Venue, what: str) -> PoolExecutor:
    sizes = (getattr(executor, name, None) for name in _SIZES)
    size = next(filter(None, sizes), None) or count_cores()
    return PoolExecutor(executor, lambda: size, what, venue)


def _pool_of_client(client: Client, venue: Venue, patience: float) -> PoolExecutor:
    """Return what plays on all threads of the workers of a client's cluster."""
    if client.asynchronous:
        raise InputError("executor: an asynchronous Client; pass one that is not")

    def count() -> int:
        with suppress(Exception):  # no connection
            return sum(client.nthreads().values())  # type: ignore[no-untyped-call]
        return 0

    executor = client.get_executor(pure=False)  # type: ignore[no-untyped-call]
    return PoolExecutor(executor, count, "threads of Dask", venue, patience)


@contextmanager
def _connect(choice: ExecutorChoice) -> Iterator[Client]:
    """Yield a client of a scheduler, by default from Dask's own config; raises InputError."""
    distributed = _import_distributed()
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    address = _find_address(choice)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions: a call says more
            client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
    except Exception as error:  # a web server's first bytes are a length of 3 EiB to Dask
        reason = escape(str(error)).partition("\\n")[0] or type(error).__name__
        raise InputError(f"no Dask scheduler answers at {address}: {reason}") from None
    try:
        yield client
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.close(timeout=2)


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(f"executor dask: {not_installed('Dask', 'dask')}") from None
    return distributed


def _find_address(choice: ExecutorChoice) -> str:
    import dask

    if file := choice.scheduler_file:
        with naming(f"{file}: not the file of a Dask scheduler", *_NO_FILE):
            return str(json.loads(Path(file).read_bytes())["address"])
    address = choice.scheduler or dask.config.get("scheduler-address", None)
    if not address:
        ways = "--scheduler tcp://HOST:8786, --scheduler-file FILE"
        more = "or the variable DASK_SCHEDULER_ADDRESS names it"
        raise InputError(f"executor dask: which scheduler? {ways} {more}")
    return str(address)


def _open_mpi() -> Executor:
    """Return the executor of all ranks but this one; raises InputError."""
    try:
        from mpi4py.futures import MPIPoolExecutor
    except ImportError:
        raise InputError(f"executor mpi: {not_installed('mpi4py', 'mpi')}") from None
    if "mpi4py.run" not in sys.modules:  # each rank would play the whole run
        how = "mpirun -n 3 python -m mpi4py.futures -m arena ..."
        raise InputError(f"executor mpi: start it with {how}")
    return MPIPoolExecutor()  # of the ranks that wait for calls
