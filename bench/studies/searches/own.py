"""The search of `arena tune`, with a landscape in place of games."""

from __future__ import annotations

import numpy as np

from arena.addons.studies.search import Search, make_space
from arena.statistics.distributions import Floats
from bench.studies.landscapes import Landscape


def own(landscape: Landscape, budget: int, rng: np.random.Generator) -> Floats:
    """Return the setting that `arena tune` finds in so many pairs."""
    ranges = [
        f"p{n}=0..{points - 1}" if points else f"p{n}=0.0..1.0"
        for n, points in enumerate(landscape.steps)
    ]
    search = Search(make_space(ranges), budget, 1, int(rng.integers(2**32)))
    while batch := search.next():
        scores = landscape.play(np.array(batch.points), batch.deals, rng)
        search.tell(batch, scores[:, None, :])
    return np.array(search.best())
