"""Searches of other libraries, where they are installed; none is needed for the arena.

They know neither common deals nor the noise of a score. So they ask for settings one by one, and
the best of those that they asked for play the last third of the budget on common deals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from arena.statistics.distributions import Floats
from bench.studies.landscapes import Landscape
from bench.studies.searches.space import finalists, nearest

_ASKED: Final = {1: 40, 2: 60, 4: 80, 6: 120}  # settings that are tried
_LAST: Final = 1 / 3
_FINALISTS: Final = 8

Ask = Callable[[], Floats]
Tell = Callable[[Floats, float], None]


def optuna(landscape: Landscape, budget: int, rng: np.random.Generator) -> Floats:
    """Search with Optuna's tree of Parzen estimators."""
    import optuna as library

    library.logging.set_verbosity(library.logging.ERROR)
    sampler = library.samplers.TPESampler(
        seed=int(rng.integers(1 << 31)),
        multivariate=landscape.dims > 1,
    )
    study = library.create_study(direction="maximize", sampler=sampler)
    trials: list[Any] = []

    def ask() -> Floats:
        trials.append(study.ask())
        return np.array([trials[-1].suggest_float(str(n), 0, 1) for n in range(landscape.dims)])

    def tell(_: Floats, score: float) -> None:
        study.tell(trials[-1], score)

    return _search(landscape, budget, rng, ask, tell)


def scikit_optimize(landscape: Landscape, budget: int, rng: np.random.Generator) -> Floats:
    """Search with the Gaussian process of scikit-optimize."""
    from skopt import Optimizer

    optimizer = Optimizer(
        [(0.0, 1.0)] * landscape.dims,
        "GP",
        acq_func="EI",
        n_initial_points=10,
        random_state=int(rng.integers(1 << 31)),
    )
    return _search(
        landscape,
        budget,
        rng,
        lambda: np.array(optimizer.ask()),
        lambda place, score: optimizer.tell(place.tolist(), -score),
    )


def _search(
    landscape: Landscape, budget: int, rng: np.random.Generator, ask: Ask, tell: Tell
) -> Floats:
    """Return the best setting that was asked for, by a last round on common deals."""
    number = _ASKED[landscape.dims]
    deals = int((1 - _LAST) * budget / number)
    places, means = [], []
    for _ in range(number):
        place = ask()
        places.append(nearest(landscape, place))
        means.append(float(landscape.play(places[-1][None, :], deals, rng).mean()))
        tell(place, means[-1])
    best = np.array(places)[np.argsort(means)[::-1][:_FINALISTS]]
    return finalists(landscape, np.unique(best, axis=0), int(_LAST * budget), rng)
