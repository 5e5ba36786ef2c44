"""The settings of a landscape: those of a lattice, or places that fill the unit cube."""

from __future__ import annotations

import numpy as np
import scipy

from arena.statistics.distributions import Floats
from bench.studies.landscapes import Landscape


def nearest(landscape: Landscape, settings: Floats) -> Floats:
    """Return the nearest settings that the landscape has."""
    inside = np.clip(settings, 0, 1)
    most = np.array(landscape.steps) - 1
    return np.where(most > 0, np.rint(inside * most) / np.maximum(most, 1), inside)


def spread(landscape: Landscape, number: int, rng: np.random.Generator) -> Floats:
    """Return about so many settings that fill the space evenly, all of them different."""
    power = int(np.ceil(np.log2(number)))
    places = scipy.stats.qmc.Sobol(landscape.dims, rng=rng).random_base2(power)[:number]
    return np.unique(nearest(landscape, np.asarray(places)), axis=0)


def lattice(landscape: Landscape, side: int) -> Floats:
    """Return a grid of so many values of each parameter, none at an edge of its range."""
    axis = (np.arange(side) + 0.5) / side
    grid = np.stack(np.meshgrid(*[axis] * landscape.dims, indexing="ij"), axis=-1)
    return np.unique(nearest(landscape, grid.reshape(-1, landscape.dims)), axis=0)


def finalists(
    landscape: Landscape, settings: Floats, budget: int, rng: np.random.Generator
) -> Floats:
    """Return the best of some settings when they share a budget on common deals."""
    deals = max(1, budget // len(settings))
    return np.asarray(settings[landscape.play(settings, deals, rng).mean(1).argmax()])
