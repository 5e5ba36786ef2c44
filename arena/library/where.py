"""Where: the executor of a call, which a program may have made itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.errors import InputError
from arena.executors.choice import open_executor
from arena.executors.contract import Executor
from arena.tournament.config import Config
from arena.tournament.executor_choice import choose_executor
from engine.errors import show

if TYPE_CHECKING:
    from distributed import Client

Where: TypeAlias = "str | Mapping[str, Any] | Client"
"""The name of an executor, a mapping as in a config, or a client of a Dask cluster."""


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
    from arena.executors.dask import DaskExecutor, import_distributed

    if not isinstance(where, import_distributed().Client):
        raise InputError(f"executor: {show(where)} is neither a name, a mapping nor a Dask client")
    yield DaskExecutor(where, settings.workers)
