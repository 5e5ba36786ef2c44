"""Searches for good parameters: how often each ends near the best of a recorded landscape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Final

import numpy as np

from arena.addons.studies.settings import MOST_PARAMETERS
from arena.statistics.distributions import Floats
from bench.studies.families import FAMILIES
from bench.studies.landscapes import Landscape, Search, load
from bench.studies.searches.libraries import optuna, scikit_optimize
from bench.studies.searches.own import own
from bench.studies.searches.quadratic import sample
from bench.studies.searches.races import grid, halve, race
from bench.studies.searches.spsa import SPSAS

SEED: Final = 3031
RUNS: Final = 200
BUDGETS: Final[Mapping[int, int]] = {1: 1600, 2: 3200, 4: 6400, 6: 12800}
NEAR: Final = 5.0  # Elo points
_SLOW: Final = {"scikit-optimize": 20}  # runs of what takes seconds

SEARCHES: dict[str, Search] = {
    "arena tune": own,
    "grid": grid,
    "halving": halve,
    "race": race,
    **SPSAS,
    "quadratic": sample,
}
"""The searches by name."""

_LIBRARIES: Final[Mapping[str, tuple[str, Search]]] = {
    "Optuna": ("optuna", optuna),
    "scikit-optimize": ("skopt", scikit_optimize),
}


def searches(dims: int) -> Mapping[str, Search]:
    """Return all searches of so many parameters, those of installed libraries among them."""
    found = {name: one for name, (module, one) in _LIBRARIES.items() if find_spec(module)}
    left_out = () if dims <= MOST_PARAMETERS else ("arena tune",)
    return {name: one for name, one in (SEARCHES | found).items() if name not in left_out}


def regrets(landscape: Landscape, name: str, search: Search, runs: int) -> Floats:
    """Return by how many Elo points each run of a search ended below the best.

    Raises ValueError if one plays more than its budget.
    """
    budget = BUDGETS[landscape.dims]
    found = []
    for run in range(runs):
        rng = np.random.default_rng([SEED, run, *name.encode()])
        counted = _Counted(landscape)
        found.append(landscape.regret(search(counted, budget, rng)))
        if counted.pairs > budget:
            raise ValueError(f"{name} played {counted.pairs} pairs of {budget}")
    return np.array(found)


class _Counted:
    """A landscape that counts the pairs that are played, and does not say what is best."""

    def __init__(self, landscape: Landscape) -> None:
        self.name, self.dims, self.steps = landscape.name, landscape.dims, landscape.steps
        self.pairs = 0
        self._play: Callable[[Floats, int, np.random.Generator], Floats] = landscape.play

    def play(self, settings: Floats, deals: int, rng: np.random.Generator) -> Floats:
        """Return the scores of pairs per game, a row for each setting."""
        self.pairs += len(settings) * deals
        return self._play(settings, deals, rng)

    def regret(self, setting: Floats) -> float:
        """Raise an error: a search may not ask."""
        raise PermissionError(setting)


def lines(runs: int = RUNS, names: Sequence[str] = tuple(FAMILIES)) -> Iterator[str]:
    """Yield the tables of the section, each row as soon as its runs have ended."""
    yield "Landscapes of our own bots, recorded from real games on common deals: how often a search"
    yield f"recommends a setting within {NEAR:g} Elo points of the best, and its regret in points."
    yield "`python -m bench.studies.landscapes facts` says what they look like."
    for name in names:
        landscape = load(name)
        budget = BUDGETS[landscape.dims]
        yield f"\n`{name}`, parameters: {landscape.dims}, pairs: {budget:,}\n"
        yield "| search | runs | near the best | median regret | 90 % quantile |"
        yield "|---|---|---|---|---|"
        for title, search in searches(landscape.dims).items():
            number = min(runs, _SLOW.get(title, runs))
            found = regrets(landscape, title, search, number)
            median, high = np.quantile(found, [0.5, 0.9])
            share = (found <= NEAR).mean()
            yield f"| {title} | {number} | {share:.0%} | {median:.1f} | {high:.1f} |"
