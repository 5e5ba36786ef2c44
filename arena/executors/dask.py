"""Dask: plays on the workers of a Dask cluster, each of which has a site.

The scheduler only carries batches; which site plays what is decided in the client (`sites.fleet`).
A task is tied to its worker, leaves the worker's threads free for others, and is never played
anew by the scheduler: the client gives its games to another site.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from arena.errors import InputError, escape
from arena.executors.log import RunLog
from arena.executors.sites.fleet import Fleet
from arena.executors.sites.transport import Done, Event, Failed, Gone, Joined, Left
from arena.tournament.chunk import Played
from arena.tournament.executor_choice import PATIENCE
from arena.tournament.plan import Plan
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from distributed import Client, Future

_LOOK = 2.0  # seconds between two looks at the scheduler's workers
_FETCHED = 16  # answers that wait in the client at once
_GONE = 10  # looks in a row at which there is no scheduler
_CONNECT = "10s"


@dataclass(frozen=True)
class DaskExecutor:
    """Plays on all workers of a `dask.distributed.Client`'s cluster.

    Each has a site of `workers` workers, or of one for each of its threads; `patience` says for
    how many seconds there may be none.
    """

    client: Client = field(repr=False)
    workers: int | None = None
    patience: float = PATIENCE

    def __str__(self) -> str:
        return f"the Dask cluster of {_address(self.client)}"

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished."""
        transport, workers = DaskTransport(self.client), self.workers or 0
        fleet = Fleet(transport, plan, tournament, log, workers=workers, patience=self.patience)
        yield from fleet.play()


@contextmanager
def dask_executor(
    scheduler: str | None, scheduler_file: str | None, workers: int | None, patience: float
) -> Iterator[DaskExecutor]:
    """Yield the executor of a scheduler; without an address it is that of Dask's own config.

    Raises InputError if no scheduler answers, and where Dask is not installed.
    """
    with connect(scheduler, scheduler_file) as client:
        yield DaskExecutor(client, workers, patience)


@contextmanager
def connect(scheduler: str | None, scheduler_file: str | None) -> Iterator[Client]:
    """Yield a client of a scheduler; raises InputError."""
    distributed = import_distributed()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    address = scheduler or (_read(scheduler_file) if scheduler_file else _configured())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: `arena sites` says more
            client = _quiet(distributed)(address, timeout=_CONNECT, set_as_default=False)
    except Exception as error:  # a web server's first bytes are a length of 3 EiB to Dask
        raise InputError(f"no Dask scheduler answers at {address}: {_reason(error)}") from None
    try:
        yield client
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.close(timeout=2)  # type: ignore[no-untyped-call]


def submit_to(
    client: Client, worker: str, key: str, function: Callable[..., Any], *args: Any
) -> Future[Any]:
    """Return the future of a call on this worker, and on no other one."""
    future: Future[Any] = client.submit(
        function,
        *args,
        workers=[worker],
        allow_other_workers=False,
        pure=False,
        retries=0,
        key=key,
    )
    return future


def import_distributed() -> Any:
    """Return the module distributed; raises InputError where it is not installed."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            "executor dask: Dask is not installed; pip install 'district-noir-arena[dask]'"
        ) from None
    return distributed


def _quiet(distributed: Any) -> type[Client]:
    """Return a Client that says nothing more when its scheduler never answered."""

    class Quiet(distributed.Client):  # type: ignore[misc]
        def __del__(self) -> None:
            pass

    return Quiet


def _read(scheduler_file: str) -> str:
    """Return the address in the file of a scheduler; raises InputError."""
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
        raise InputError("executor dask: which scheduler? --scheduler tcp://HOST:8786 names it")
    return str(address)


def _reason(error: Exception) -> str:
    return escape(str(error)).partition("\\n")[0] or type(error).__name__


def _address(client: Client) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", "?"))


class DaskTransport:
    """Calls functions on the workers of a client's cluster."""

    def __init__(self, client: Client) -> None:
        if client.asynchronous:
            raise InputError("executor: an asynchronous Client; pass one that is not")
        self.client = client
        self._calls: dict[int, tuple[str, Future[Any]]] = {}
        self._hosts: set[str] = set()
        self._fetched: set[int] = set()  # calls whose values wait to be used
        self._name = f"arena-{uuid4().hex}"
        self._ended = threading.Event()

    def __str__(self) -> str:
        return f"the Dask scheduler {_address(self.client)}"

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        loop: Any = self.client.loop
        of_client: asyncio.AbstractEventLoop = loop.asyncio_loop
        return of_client

    def start(self, tell: Callable[[Event], None]) -> None:
        """Tell from now on which workers there are, and what calls come to."""
        self._tell = tell
        self._fetching = asyncio.Semaphore(_FETCHED)
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        """Tell of workers that have come and gone, until the end."""
        missed = 0
        while not self._ended.is_set():
            try:
                workers = self._workers()
                missed = 0
            except Exception as error:
                missed += 1
                if missed >= _GONE or self.client.status == "closed":
                    self._tell(Gone(f"{self} is gone: {_reason(error)}"))
                    return
            else:
                self._compare(workers)
            self._ended.wait(_LOOK)

    def _workers(self) -> dict[str, int]:
        """Return the threads of each worker, by address."""
        if self.client.status != "running":
            raise OSError("no connection")
        info = self.client.scheduler_info(n_workers=-1)
        return {address: worker["nthreads"] for address, worker in info["workers"].items()}

    def _compare(self, workers: dict[str, int]) -> None:
        """Tell of workers that have gone and come, and cancel the calls of those that have gone."""
        for address in sorted(self._hosts - workers.keys()):
            self._hosts.remove(address)
            self._tell(Left(address, "its Dask worker has gone"))
            futures = [future for host, future in [*self._calls.values()] if host == address]
            self.client.cancel(futures)  # type: ignore[no-untyped-call]
        for address in sorted(workers.keys() - self._hosts):
            self._hosts.add(address)
            self._tell(Joined(address, workers[address]))

    def call(self, number: int, host: str, function: Callable[..., Any], *args: Any) -> None:
        """Call a function on a worker."""
        try:
            key = f"{self._name}-{number}"
            future = submit_to(self.client, host, key, _call, function, *args)
            self._calls[number] = host, future
            asyncio.run_coroutine_threadsafe(self._follow(number, future), self._loop)
        except Exception as error:  # the client has been closed, or its scheduler is gone
            self._tell(Failed(number, _reason(error)))

    async def _follow(self, number: int, future: Future[Any]) -> None:
        """Wait for a future, and tell what it came to; few values are fetched at once."""
        event: Event
        finished = asyncio.Event()
        loop = self._loop

        def finish(_: object) -> None:
            with suppress(RuntimeError):  # the client has been closed
                loop.call_soon_threadsafe(finished.set)

        future.add_done_callback(finish)  # type: ignore[no-untyped-call]
        try:
            await finished.wait()
            await self._fetching.acquire()
            self._fetched.add(number)
            event = Done(number, await future)
        except asyncio.CancelledError:
            event = Failed(number, "its call was cancelled")
        except Exception as error:
            event = Failed(number, _reason(error))
        self._tell(event)

    def took(self, number: int) -> None:
        """Forget a call, and fetch the next value."""
        self._calls.pop(number, None)
        if number in self._fetched:
            self._fetched.discard(number)
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._fetching.release)

    def close(self) -> None:
        """Tell nothing more, and forget all calls."""
        self._ended.set()
        self._tell = lambda _event: None
        self._calls.clear()


def _call(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a Dask worker, whose threads stay free for other tasks."""
    from distributed import secede

    secede()  # type: ignore[no-untyped-call]
    return function(*args)
