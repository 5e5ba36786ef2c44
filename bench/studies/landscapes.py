"""Landscapes: how strong a bot is by its parameters, recorded from real games on common deals.

`python -m bench.studies.landscapes record [NAME ...]` plays and keeps them in results/landscapes/;
`python -m bench.studies.landscapes facts [NAME ...]` says what they look like. A landscape of one
or two parameters is a table: every setting of a lattice has played the same deals. One of four or
six is a model of such a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Final, Protocol, TypeAlias

import numpy as np

from arena.statistics.distributions import Floats
from bench.studies.families import FAMILIES, Recorded
from bench.studies.surfaces import Surface
from bench.studies.tables import Table

FOLDER: Final = Path(__file__).parents[2] / "results" / "landscapes"


class Landscape(Protocol):
    """How strong settings are; parameters are coordinates in the unit cube.

    `steps` has the number of lattice points of each coordinate, 0 if it is continuous.
    """

    @property
    def name(self) -> str:
        """What was recorded."""
        ...

    @property
    def dims(self) -> int:
        """The number of parameters."""
        ...

    @property
    def steps(self) -> tuple[int, ...]:
        """The number of lattice points of each parameter, 0 if it is continuous."""
        ...

    def play(self, settings: Floats, deals: int, rng: np.random.Generator) -> Floats:
        """Return the scores of pairs per game, 0 to 1, a row for each setting.

        All settings meet the same deals, new ones in each call, and a panel in turn.
        """
        ...

    def regret(self, setting: Floats) -> float:
        """Return the Elo points by which a setting is below the best."""
        ...


Search: TypeAlias = Callable[[Landscape, int, np.random.Generator], Floats]
"""From a landscape, a budget in pairs and luck to the setting that is recommended."""


def record(name: str) -> None:
    """Play a landscape's games, and keep their scores."""
    start = perf_counter()
    found = FAMILIES[name].record()
    took = perf_counter() - start
    FOLDER.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(_path(name), **found._asdict())
    games = 2 * found.quarters.size
    print(f"{name}: {games:,} games in {took:.0f} s, {games / took:,.0f} games/s", flush=True)


def load(name: str) -> Landscape:
    """Return a landscape; it is recorded first if it has not been."""
    if not _path(name).exists():
        record(name)
    with np.load(_path(name)) as kept:
        found = Recorded(**kept)
    family = FAMILIES[name]
    steps = tuple(parameter.points for parameter in family.parameters)
    if family.settings:
        return Surface.fit(name, found)
    return Table(name, steps, found.places, found.quarters)


def _path(name: str) -> Path:
    return FOLDER / f"{name}.npz"


def main() -> None:
    """Record or describe the named landscapes, or all."""
    command, *names = sys.argv[1:] or [""]
    if command not in ("record", "facts") or {*names} - {*FAMILIES}:
        sys.exit(f"usage: record|facts [{'|'.join(FAMILIES)}] ...")
    for name in names or FAMILIES:
        if command == "record":
            record(name)
        else:
            from bench.studies.facts import facts

            print("\n".join(facts(name)), flush=True)


if __name__ == "__main__":
    main()
