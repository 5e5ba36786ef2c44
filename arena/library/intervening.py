"""Intervening: what cards are worth, from the arguments of a call."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.errors import InputError, naming
from arena.executors.local import LocalExecutor, count_cores
from arena.runs.intervene import intervene
from arena.store.store import Store
from arena.tournament.keys import MOST_SEED, MOST_SWAPS, MOST_WORKERS, SWAPS
from arena.tournament.tournament import Tournament
from engine.errors import show

if TYPE_CHECKING:
    import pandas as pd

_CALLER = 3  # frames from a warning to the program that called the library


@dataclass(frozen=True)
class Experiment:
    """How cards are swapped; the fields are arguments of `Results.worth`."""

    swaps: int | None
    seed: int
    workers: int | None
    progress: bool

    def __post_init__(self) -> None:
        """Raise InputError for a number out of its bounds."""
        for name, least, most in (
            ("swaps", 1, MOST_SWAPS),
            ("seed", 0, MOST_SEED),
            ("workers", 1, MOST_WORKERS),
        ):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or not least <= value <= most):
                raise InputError(f"{name}: {show(value)} is not a number from {least} to {most:,}")

    def add_to(
        self, cards: pd.DataFrame, tournament: Tournament, store: Store, name: str
    ) -> pd.DataFrame:
        """Return the effects of cards beside what they add; `name` is that of the run."""
        from arena.insight.effects import add_effects, make_effects

        executor = LocalExecutor(self.workers or count_cores())
        swaps = SWAPS if self.swaps is None else self.swaps
        with naming(name):
            made = intervene(
                tournament, store, executor, swaps=swaps, seed=self.seed, progress=self.progress
            )
        if note := made.note():
            warnings.warn(note, stacklevel=_CALLER)
        return add_effects(cards, make_effects(tournament.labels, made.swapped))
