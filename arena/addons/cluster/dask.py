"""Play on the workers of a Dask cluster, each of which has a site.

Dask's scheduler only forwards calls; the client (`fleet`) decides which site plays what.
"""

from __future__ import annotations

import json
import logging
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
from arena.tournament.keys import HERE, PATIENCE, Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from distributed import Client

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
