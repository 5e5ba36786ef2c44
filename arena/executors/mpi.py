"""MPI: plays on the ranks that `mpirun` or `srun` has started with one and the same command.

Rank 0 is the client: it reads, decides and writes. Each other rank is a host that serves in a pool
of `mpi4py.futures` until rank 0 ends. The pool does not say which rank gets a task; so each rank
has one task for the whole run (`sites.rank`), and calls go to it as messages.
"""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from arena.errors import InputError, escape
from arena.executors.log import RunLog
from arena.executors.sites.fleet import Fleet
from arena.executors.sites.rank import PAUSE, Post, answer_calls
from arena.executors.sites.transport import Done, Event, Failed, Gone, Joined
from arena.tournament.chunk import Played
from arena.tournament.executor_choice import PATIENCE
from arena.tournament.plan import Plan
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from mpi4py.futures import MPIPoolExecutor

_FETCHED = 16  # answers that wait in rank 0 at once
_CLOSING = 15.0  # seconds in which the ranks end their sites
_BACKOFF = "0.02"  # seconds between two looks of the pool, which carries no games

_tags = itertools.count(1)
_pools: list[MPIPoolExecutor] = []  # the one that rank 0 has opened


@dataclass(frozen=True)
class MpiExecutor:
    """Plays on all ranks of a pool, each of which has a site of `workers` workers.

    `patience` says for how many seconds there may be no site.
    """

    pool: MPIPoolExecutor = field(repr=False)
    workers: int = 1
    patience: float = PATIENCE

    def __str__(self) -> str:
        return f"{self.pool.num_workers} ranks of MPI"

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        transport = MpiTransport(self.pool, self.workers)
        yield from Fleet(transport, plan, tournament, log, patience=self.patience).play()


def serve_if_not_root() -> bool:
    """Return False on rank 0; on another rank serve until rank 0 ends, and then return True.

    All ranks call it before they read or write anything, and end with status 0 where it is True.
    Raises InputError if there is one rank only, and where MPI is not installed.
    """
    if _pools:
        return False
    world, enter_pool = _import_mpi()
    if world.size == 1:
        raise InputError(
            "executor mpi: there is one rank only, which plays nothing; start several with"
            " mpirun -n 3 arena ..., or with srun and the --mpi that this MPI needs"
        )
    os.environ.setdefault("MPI4PY_FUTURES_BACKOFF", _BACKOFF)
    if world.rank:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 decides when the others end
    # rank 0 never leaves it: at its end mpi4py lets the others go, whatever has happened
    pool = enter_pool(world, root=0).__enter__()
    if pool is None:
        return True
    _pools.append(pool)
    return False


@contextmanager
def mpi_executor(workers: int | None, patience: float) -> Iterator[MpiExecutor]:
    """Yield the executor of all ranks but 0, each with so many workers, or one.

    On another rank than 0 it serves, and ends the program. Raises InputError as
    `serve_if_not_root`.
    """
    if serve_if_not_root():
        raise SystemExit
    yield MpiExecutor(_pools[0], workers or 1, patience)


def _import_mpi() -> tuple[Any, Any]:
    """Return the communicator of all ranks, and what makes a pool; raises InputError."""
    try:
        import mpi4py.futures
        from mpi4py import MPI
    except ModuleNotFoundError:
        raise InputError(
            "executor mpi: mpi4py is not installed; pip install 'district-noir-arena[mpi]'"
        ) from None
    except (ImportError, RuntimeError) as error:
        reason = escape(str(error)).partition("\\n")[0]
        raise InputError(f"executor mpi: MPI cannot be loaded: {reason}") from None
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise InputError("executor mpi: this MPI is built without MPI_THREAD_MULTIPLE")
    return MPI.COMM_WORLD, mpi4py.futures.MPICommExecutor


class MpiTransport:
    """Calls functions on the ranks of a pool, each of which has `cores` cores."""

    def __init__(self, pool: MPIPoolExecutor, cores: int) -> None:
        self.pool = pool
        self.cores = cores
        self._tag = next(_tags)
        self._ranks: dict[str, int] = {}  # by name of the host
        self._calls: SimpleQueue[tuple[int, object]] = SimpleQueue()  # with the rank
        self._fetched: set[int] = set()  # calls whose values wait to be used
        self._carrier = threading.Thread(target=self._carry, daemon=True)
        self._is_closed = False

    def __str__(self) -> str:
        return f"{self.pool.num_workers} ranks of MPI"

    def start(self, tell: Callable[[Event], None]) -> None:
        """Tell from now on which ranks there are, and what calls come to."""
        self._tell = tell
        ranks = range(self.pool.num_workers)
        self._tasks = [self.pool.submit(answer_calls, self._tag) for _ in ranks]
        self._carrier.start()

    def _carry(self) -> None:
        """Send calls and receive answers, until a rank serves no more; in the end, until none."""
        post = Post(self._tag)
        while not self._is_over():
            with suppress(Empty):
                post.send(*self._calls.get(timeout=PAUSE))
                while True:
                    post.send(*self._calls.get_nowait())
            while len(self._fetched) < _FETCHED and (message := post.receive()):
                self._hear(*message)
        errors = [str(task.exception()) for task in self._tasks if task.done()]
        self._tell(Gone(f"a rank of MPI has failed: {escape(errors[0])}"))

    def _is_over(self) -> bool:
        done = [task.done() for task in self._tasks]
        return all(done) if self._is_closed else any(done)

    def _hear(self, rank: int, message: object) -> None:
        """Tell of a rank, or of what a call has come to."""
        if isinstance(message, Done | Failed):
            if isinstance(message, Done) and not self._is_closed:
                self._fetched.add(message.call)
            self._tell(message)
            return
        name = f"rank {rank} on {message}"
        self._ranks[name] = rank
        self._tell(Joined(name, self.cores))

    def call(self, number: int, host: str, function: Callable[..., Any], *args: Any) -> None:
        """Call a function on a rank."""
        self._calls.put((self._ranks[host], (number, function, args)))

    def took(self, number: int) -> None:
        """Let the next value be received."""
        self._fetched.discard(number)

    def close(self) -> None:
        """Tell nothing more; all ranks end their sites, and wait in the pool."""
        self._tell = lambda _event: None
        self._is_closed = True
        self._fetched.clear()
        for rank in range(1, self.pool.num_workers + 1):
            self._calls.put((rank, None))
        self._carrier.join(_CLOSING)
