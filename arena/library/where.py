"""Where: the executor of a call, which a program may have made itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.errors import InputError
from arena.executors.contract import Executor, open_executor
from arena.tournament.config import Config
from arena.tournament.keys import choose_executor
from engine.errors import show

if TYPE_CHECKING:
    from distributed import Client

Where: TypeAlias = "str | Mapping[str, Any] | futures.Executor | Client"
"""The name of an executor, a mapping as in a config, an executor, or a Dask client."""


def of_config(where: Where | None) -> Any:
    """Return what of an executor can stand in a config, None for a client."""
    return where if isinstance(where, str | Mapping) else None


@contextmanager
def open_where(
    where: Where | None, settings: Config, default: int | None = None
) -> Iterator[Executor]:
    """Yield an executor of so many workers as a config says, or of `default`.

    Raises InputError if it cannot be reached, or is none.
    """
    if where is None or isinstance(where, str | Mapping):
        choice = choose_executor(settings.executor)
        with open_executor(choice, settings.workers, default) as executor:
            yield executor
        return
    if isinstance(where, futures.Executor):
        from arena.executors.pool import PoolExecutor

        yield PoolExecutor(where, settings.workers or 1)
        return
    from arena.executors.dask import DaskExecutor, import_distributed

    if not isinstance(where, import_distributed().Client):
        known = "a name, a mapping, an executor of concurrent.futures nor a Dask client"
        raise InputError(f"executor: {show(where)} is neither {known}")
    yield DaskExecutor(where, settings.workers)
