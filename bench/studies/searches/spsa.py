"""SPSA: steps along differences of two settings on common deals, as engines of chess are tuned.

Source: Spall, Implementation of the Simultaneous Perturbation Algorithm, 1998.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from arena.statistics.distributions import Floats
from bench.studies.landscapes import Landscape, Search
from bench.studies.searches.space import finalists, nearest, spread

_STARTS: Final = 16
_FIRST: Final = 0.2  # share of the budget that chooses the start
_STEPS: Final = 100  # of each run; a step plays two settings
_STABILITY: Final = 10.0  # Spall: a tenth of the steps


def _descend(
    landscape: Landscape, budget: int, rng: np.random.Generator, gain: float, width: float
) -> Floats:
    """Return where a run ends, the mean of its last fifth; it begins at the best of a few."""
    starts = spread(landscape, _STARTS, rng)
    place = finalists(landscape, starts, int(_FIRST * budget), rng)
    deals = int((1 - _FIRST) * budget / (2 * _STEPS))
    ends = []
    for step in range(_STEPS):
        reach = width / (step + 1) ** 0.101
        rate = gain / (step + 1 + _STABILITY) ** 0.602
        way = rng.choice([-1.0, 1.0], landscape.dims)
        both = np.clip([place + reach * way, place - reach * way], 0, 1)
        two = nearest(landscape, both)
        plus, minus = landscape.play(two, deals, rng).mean(1)
        place = np.clip(place + rate * (plus - minus) / (2 * reach) * way, 0, 1)
        if step >= 0.8 * _STEPS:
            ends.append(place)
    return np.asarray(nearest(landscape, np.mean(ends, axis=0)))


def _with(gain: float, width: float) -> Search:
    return lambda landscape, budget, rng: _descend(landscape, budget, rng, gain, width)


GAINS: Final = ((0.1, 0.05), (0.3, 0.05), (1.0, 0.05), (0.1, 0.15), (0.3, 0.15), (1.0, 0.15))
SPSAS: Mapping[str, Search] = {
    f"SPSA, gain {gain:g}, width {width:g}": _with(gain, width) for gain, width in GAINS
}
