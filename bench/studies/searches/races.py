"""Searches that compare settings on common deals: a grid, successive halving, and a race."""

from __future__ import annotations

from typing import Final

import numpy as np

from arena.statistics.distributions import Floats
from bench.studies.landscapes import Landscape
from bench.studies.searches.space import finalists, lattice, nearest, spread

_SIDES: Final = {1: 20, 2: 8, 4: 4, 6: 3}
_STARTERS: Final = {1: 32, 2: 64, 4: 128, 6: 256}
_BLOCK: Final = 6  # deals between two tests of a race
_WORSE: Final = 2.0  # standard errors of a difference
_ELITES: Final = 3
_RACES: Final = 4
_LAST: Final = 0.3  # share of the budget for the best of the last race
_WIDTH: Final = 0.1  # of what is drawn around an elite
_NARROWER: Final = 0.6


def grid(landscape: Landscape, budget: int, rng: np.random.Generator) -> Floats:
    """Play a grid of settings on the same deals."""
    return finalists(landscape, lattice(landscape, _SIDES[landscape.dims]), budget, rng)


def halve(landscape: Landscape, budget: int, rng: np.random.Generator) -> Floats:
    """Drop the worse half of the settings again and again; each round has the same budget.

    Source: Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, 2013.
    """
    settings = spread(landscape, _STARTERS[landscape.dims], rng)
    rounds = int(np.ceil(np.log2(len(settings))))
    total, played = np.zeros(len(settings)), 0
    for _ in range(rounds):
        deals = max(1, budget // rounds // len(settings))
        total += landscape.play(settings, deals, rng).sum(1)
        played += deals
        kept = np.argsort(-total, kind="stable")[: (len(settings) + 1) // 2]
        settings, total = settings[kept], total[kept]
    return np.asarray(settings[0])


def race(landscape: Landscape, budget: int, rng: np.random.Generator) -> Floats:
    """Race settings on common deals, then others drawn around those that survive.

    A setting leaves a race when a paired test finds it worse than the leader. Source: Birattari and
    others, F-Race and iterated F-Race, 2010.
    """
    each = int((1 - _LAST) * budget / _RACES)
    many = max(8, each // (3 * _BLOCK))
    settings = _run(landscape, spread(landscape, many, rng), each, rng)
    for number in range(1, _RACES):
        elites = settings[:_ELITES]
        parents = elites[rng.integers(len(elites), size=many // 2)]
        width = _WIDTH * _NARROWER ** (number - 1)
        drawn = nearest(landscape, parents + rng.normal(0, width, parents.shape))
        others = np.unique(np.concatenate([elites, drawn]), axis=0)
        settings = _run(landscape, rng.permutation(others), each, rng)
    return finalists(landscape, settings[: 2 * _ELITES], int(_LAST * budget), rng)


def _run(landscape: Landscape, settings: Floats, budget: int, rng: np.random.Generator) -> Floats:
    """Return the settings that survive a race, the best first."""
    scores = np.empty((len(settings), 0))
    while budget >= len(settings) * _BLOCK:
        budget -= len(settings) * _BLOCK
        scores = np.hstack([scores, landscape.play(settings, _BLOCK, rng)])
        leader = scores.mean(1).argmax()
        behind = scores[leader] - scores
        error = behind.std(1, ddof=1) / np.sqrt(scores.shape[1])
        alive = behind.mean(1) <= _WORSE * error + 1e-12
        settings, scores = settings[alive], scores[alive]
        if len(settings) == 1:
            break
    order = np.argsort(-scores.mean(1), kind="stable") if scores.size else np.arange(len(settings))
    return np.asarray(settings[order])
