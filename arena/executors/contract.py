"""Define what an executor does, and open the one of a venue."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from msgspec.structs import replace

from arena.addons import hook
from arena.executors.local import LocalExecutor
from arena.executors.log import RunLog
from arena.lanes.cleanup import count_cores
from arena.tournament.keys import EXECUTORS, ExecutorChoice, Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament


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
    the executor cannot be reached, or is no executor.
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
