"""Play batches on a cluster: through a scheduler of Dask, or on the ranks of MPI."""

from __future__ import annotations

import json
import logging
import os
import signal
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from arena.addons.cluster.fleet import Fleet
from arena.addons.cluster.roster import Place
from arena.errors import InputError, NoSites, escape
from arena.executors.log import RunLog
from arena.lanes.cleanup import count_cores
from arena.tournament.keys import HERE, PATIENCE, Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from distributed import Client
    from mpi4py.futures import MPIPoolExecutor

T = TypeVar("T")

_GONE = 10  # failed looks in a row, after which the scheduler counts as gone
_CONNECT = "10s"


@dataclass(frozen=True)
class DaskExecutor:
    """Plays on all workers of a `dask.distributed.Client`'s cluster.

    Each Dask worker has a site of the venue's workers, by default one for each of its threads;
    `patience` is for how many seconds the run waits while no site plays.
    """

    client: Client = field(repr=False)
    venue: Venue = HERE
    patience: float = PATIENCE

    def __str__(self) -> str:
        return f"the Dask cluster of {_address(self.client)}"

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        places, venue = DaskPlaces(self.client), self.venue
        fleet = Fleet(places, plan, tournament, log, venue=venue, patience=self.patience)
        yield from fleet.play()


class DaskPlaces:
    """The workers of a client's cluster, as places for sites."""

    def __init__(self, client: Client) -> None:
        if client.asynchronous:
            raise InputError("executor: an asynchronous Client; pass one that is not")
        self.client = client
        self._address = _address(client)  # the client forgets it when it gives up
        self._places: dict[str, Place] = {}
        self._missed = 0  # looks in a row without a scheduler

    def look(self) -> Mapping[str, Place]:
        """Return a place for each Dask worker, by address; raises NoSites without a scheduler."""
        try:
            cores = find_workers(self.client)
        except Exception as error:
            self._missed += 1
            if self._missed >= _GONE or self.client.status == "closed":
                scheduler = f"the Dask scheduler {self._address}"
                raise NoSites(f"{scheduler} is gone: {_reason(error)}") from None
            return self._places
        self._missed = 0
        self._places = {
            address: self._places.get(address) or Place(OneWorker(self.client, address), threads)
            for address, threads in cores.items()
        }
        return self._places


def find_workers(client: Client) -> dict[str, int]:
    """Return the number of threads of each worker of a cluster, by address."""
    if client.status != "running":
        raise OSError("no connection")
    info = client.scheduler_info(n_workers=-1)
    return {address: worker["nthreads"] for address, worker in info["workers"].items()}


class OneWorker(Executor):
    """Calls functions on one worker of a cluster, whose threads stay free for other tasks.

    The scheduler never repeats a failed call nor moves it: `fleet` sends its games elsewhere.
    """

    def __init__(self, client: Client, address: str) -> None:
        kept = {"workers": [address], "allow_other_workers": False, "retries": 0, "pure": False}
        self._executor = client.get_executor(**kept)  # type: ignore[no-untyped-call]

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return the future of a call."""
        future: Future[T] = self._executor.submit(_call, partial(function, **kwargs), *args)
        return future


@contextmanager
def connect(scheduler: str | None, scheduler_file: str | None) -> Iterator[Client]:
    """Yield a client of a scheduler, by default from Dask's own config.

    Raises InputError if no scheduler answers, or Dask is not installed.
    """
    distributed = import_distributed()
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    address = scheduler or (_read(scheduler_file) if scheduler_file else _configured())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions: `arena sites` says more
            client = _quiet(distributed)(address, timeout=_CONNECT, set_as_default=False)
    except Exception as error:  # a web server's first bytes are a length of 3 EiB to Dask
        raise InputError(f"no Dask scheduler answers at {address}: {_reason(error)}") from None
    try:
        yield client
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.close(timeout=2)  # type: ignore[no-untyped-call]


def import_distributed() -> Any:
    """Return the module `distributed`; raises InputError if it is not installed."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            "executor dask: Dask is not installed; pip install 'district-noir-arena[dask]'"
        ) from None
    return distributed


def _quiet(distributed: Any) -> type[Client]:
    """Return a class of Client that prints nothing at its end if its scheduler never answered."""

    class Quiet(distributed.Client):  # type: ignore[misc]
        def __del__(self) -> None:
            pass

    return Quiet


def _read(scheduler_file: str) -> str:
    """Return the address in a scheduler file; raises InputError."""
    try:
        address = json.loads(Path(scheduler_file).read_bytes())["address"]
    except OSError as error:
        raise InputError(f"{scheduler_file}: {error.strerror or error}") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        address = None
    if not isinstance(address, str):
        raise InputError(f"{scheduler_file}: not the file of a Dask scheduler")
    return address


def _configured() -> str:
    """Return the scheduler's address in Dask's config; raises InputError."""
    import dask

    address = dask.config.get("scheduler-address", None)
    if not address:
        raise InputError(
            "executor dask: which scheduler? --scheduler tcp://HOST:8786, --scheduler-file FILE"
            " or the variable DASK_SCHEDULER_ADDRESS names it"
        )
    return str(address)


def _reason(error: Exception) -> str:
    return escape(str(error)).partition("\\n")[0] or type(error).__name__


def _address(client: Client) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "?"))


def _call(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a Dask worker, whose threads stay free for other tasks."""
    from distributed import secede

    secede()  # type: ignore[no-untyped-call]
    return function(*args)


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
        size = self.size or next((size for size in sizes if size), 0) or count_cores()
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
