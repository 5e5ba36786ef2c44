"""Open the executor that a venue names: a Dask cluster, the ranks of MPI, or one of a program."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.addons.cluster.pool import PoolExecutor
from arena.errors import InputError, escape, naming, not_installed
from arena.lanes.cleanup import count_cores
from arena.tournament.keys import PATIENCE, ExecutorChoice, Venue
from engine.errors import show

if TYPE_CHECKING:
    from distributed import Client

_CONNECT = "10s"
_SIZES = ("num_workers", "_max_workers")  # attributes with the number of processes of an executor
_NO_FILE = (OSError, ValueError, LookupError, TypeError, RecursionError)


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
        raise InputError(
            "executor dask: which scheduler? --scheduler tcp://HOST:8786, --scheduler-file FILE"
            " or the variable DASK_SCHEDULER_ADDRESS names it"
        )
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
