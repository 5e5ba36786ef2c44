"""Choice: the executor that somebody has asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from arena.executors.contract import Executor
from arena.executors.local import LocalExecutor, count_cores
from arena.tournament.executor_choice import ExecutorChoice


@contextmanager
def open_executor(
    choice: ExecutorChoice, workers: int | None = None, default: int | None = None
) -> Iterator[Executor]:
    """Yield an executor of so many workers; without a number, of `default` or of all cores.

    On a cluster the number is that of each site. Raises InputError if it cannot be reached.
    """
    if choice.kind == "local":
        yield LocalExecutor(workers or default or count_cores())
        return
    if choice.kind == "mpi":
        from arena.executors.mpi import mpi_executor

        with mpi_executor(workers, choice.patience) as of_ranks:
            yield of_ranks
        return
    from arena.executors.dask import dask_executor

    with dask_executor(
        choice.scheduler, choice.scheduler_file, workers, choice.patience
    ) as of_cluster:
        yield of_cluster
