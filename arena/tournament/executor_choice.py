"""Executor: where a run is to be played, as a config says it; it changes no game."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from arena.errors import InputError
from arena.tournament.bounds import ExecutorKind

PATIENCE: Final = 60.0
"""Seconds for which a cluster may have no site."""


class ExecutorChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """This machine, a Dask cluster or the ranks of MPI.

    A Dask scheduler has an address, or a file that says it; without both it is that of Dask's own
    config. `patience` is for how many seconds there may be no site.
    """

    kind: ExecutorKind = "local"
    scheduler: str | None = None
    scheduler_file: str | None = None
    patience: Annotated[float, Meta(gt=0)] = PATIENCE

    def __post_init__(self) -> None:
        if self.scheduler and self.scheduler_file:
            raise ValueError("a scheduler and a scheduler file: choose one of them")
        if (self.scheduler or self.scheduler_file) and self.kind != "dask":
            raise ValueError(f"only dask has a scheduler, and not {self.kind}")


def choose_executor(
    of_config: ExecutorKind | ExecutorChoice | None,
    kind: ExecutorKind | None = None,
    scheduler: str | None = None,
    scheduler_file: str | None = None,
) -> ExecutorChoice:
    """Return a config's choice, which options override; a scheduler is one of Dask.

    Raises InputError for options that do not go together.

    >>> choose_executor("mpi", scheduler="tcp://10.0.0.1:8786").kind
    'dask'
    """
    choice = of_config if isinstance(of_config, ExecutorChoice) else None
    if choice is None:
        choice = ExecutorChoice(of_config if isinstance(of_config, str) else "local")
    named = scheduler or scheduler_file
    if not (kind or named):
        return choice
    try:
        if named or kind != choice.kind:
            return ExecutorChoice(
                kind or "dask", scheduler, scheduler_file, patience=choice.patience
            )
    except ValueError as error:
        raise InputError(f"--executor: {error}") from None
    return choice
