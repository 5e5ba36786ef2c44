"""Play on the processes of any executor of `concurrent.futures`, including MPI ranks.

An executor does not say which of its processes gets a call, and a running call cannot be reached.
So each call opens a site, plays a batch of chunks and ends the site. Nothing outlives a call, and
if a process dies, its batch is played elsewhere. On the other hand a batch cannot be stopped early,
and a game with a fault is replayed on the client's machine, not on another one of the executor.

`mpirun` or `srun` start all ranks with the same command. Rank 0 is the client, which schedules the
games and keeps the results. The others serve in a pool of `mpi4py.futures` until rank 0 ends.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena.addons.cluster.fleet import Fleet
from arena.addons.cluster.roster import Place
from arena.errors import InputError, escape
from arena.executors.log import RunLog
from arena.tournament.keys import HERE, PATIENCE, Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from mpi4py.futures import MPIPoolExecutor

_SIZES = ("num_workers", "_max_workers")  # attributes with the number of processes of an executor
_BACKOFF = "0.02"  # seconds between two polls of MPI's pool, which transfers no games

_pools: list[MPIPoolExecutor] = []  # the pool that rank 0 has opened


@dataclass(frozen=True)
class PoolExecutor:
    """Plays on all processes of an executor, with a site of the venue's workers, or one, in each.

    `size` is their number, if the executor has no attribute for it; `patience` is for how many
    seconds the run waits while no site plays. `what` names the processes in messages.
    """

    executor: Executor = field(repr=False)
    venue: Venue = HERE
    patience: float = PATIENCE
    size: int = 0
    what: str = ""

    def __str__(self) -> str:
        return f"{len(self.look())} {self._what}"

    @property
    def _what(self) -> str:
        return self.what or f"processes of {type(self.executor).__name__}"

    def look(self) -> Mapping[str, Place]:
        """Return a place for each process."""
        sizes = (getattr(self.executor, name, None) for name in _SIZES)
        size = self.size or next((size for size in sizes if size), os.cpu_count()) or 1
        place = Place(self.executor, pool=self._what)
        return {f"{number} of {size} {self._what}": place for number in range(1, size + 1)}

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        fleet = Fleet(self, plan, tournament, log, venue=self.venue, patience=self.patience)
        yield from fleet.play()


def serve_if_not_root() -> bool:
    """Return False on rank 0; on another rank serve until rank 0 ends, and then return True.

    All ranks call it before they read or write anything, and exit with status 0 if it is True.
    Raises InputError if there is only one rank, or MPI is not installed.
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
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 ends the others
    # rank 0 never leaves it: when it exits, for whatever reason, mpi4py ends the others
    pool = enter_pool(world, root=0).__enter__()
    if pool is None:
        return True
    _pools.append(pool)
    return False


def mpi_executor(venue: Venue, patience: float) -> PoolExecutor:
    """Return the executor of all ranks but 0, each with the venue's workers, or one.

    On any other rank than 0 it serves, then ends the program. Raises InputError like
    `serve_if_not_root`.
    """
    if serve_if_not_root():
        raise SystemExit
    return PoolExecutor(_pools[0], venue, patience, what="ranks of MPI")


def _import_mpi() -> tuple[Any, Any]:
    """Return the communicator of all ranks and the class of the pool; raises InputError."""
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
