"""The search of `arena tune`, with a landscape in place of games."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.addons.studies.settings import Parameter, design
from arena.addons.studies.tuning import Candidate, count_starters, halve
from arena.statistics.distributions import Floats
from bench.studies.landscapes import Landscape


def own(landscape: Landscape, budget: int, rng: np.random.Generator) -> Floats:
    """Return the setting that `arena tune` finds in so many pairs."""
    parameters = [
        Parameter(f"p{n}", tuple(np.linspace(0, 1, points or 201).tolist()), is_range=True)
        for n, points in enumerate(landscape.steps)
    ]
    settings = design(parameters, count_starters(parameters, budget), int(rng.integers(2**32)))
    candidates = [Candidate(f"{n}", setting) for n, setting in enumerate(settings)]

    def play(_number: int, left: Sequence[Candidate], deals: int) -> None:
        places = np.array([[*one.setting.values()] for one in left])
        for one, scores in zip(left, landscape.play(places, deals, rng), strict=True):
            one.rungs, one.games = one.rungs + 1, one.games + 2 * deals
            one.points += 2 * float(scores.sum())

    halve(candidates, budget, play)
    best = max(candidates, key=lambda one: (one.rungs, one.score))
    return np.array([*best.setting.values()])
