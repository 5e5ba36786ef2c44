"""Define what an executor does, and open the one that a config names."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Protocol

from arena.executors.local import LocalExecutor, count_cores
from arena.executors.log import RunLog
from arena.tournament.keys import ExecutorChoice
from arena.tournament.plan import Plan, Played
from arena.tournament.tournament import Tournament


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
def open_executor(choice: ExecutorChoice, workers: int | None = None) -> Iterator[Executor]:
    """Yield an executor of so many workers, or of as many as there are cores.

    On a cluster the number is that of each site. Raises InputError if it cannot be reached.
    """
    if choice.kind == "local":
        yield LocalExecutor(workers or count_cores())
        return
    if choice.kind == "mpi":
        from arena.executors.pool import mpi_executor

        with mpi_executor(workers, choice.patience) as of_ranks:
            yield of_ranks
        return
    from arena.executors.dask import dask_executor

    with dask_executor(
        choice.scheduler, choice.scheduler_file, workers, choice.patience
    ) as of_cluster:
        yield of_cluster
