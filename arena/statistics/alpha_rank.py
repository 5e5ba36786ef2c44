"""Alpha-rank: how often evolution under strong selection plays each player.

Source: Omidshafiei and others 2019, for one population and a game of constant sum.
"""

from __future__ import annotations

import numpy as np

from arena.statistics.model import Floats

POPULATION = 50
INTENSITY = 10.0
"""Of selection: a mutant that scores 0.55 takes over in 40 of 100 trials."""


def alpha_rank(
    shares: Floats, intensity: float = INTENSITY, population: int = POPULATION
) -> Floats:
    """Return the part of the time in which all of a population play each player.

    `shares` are what the row scores against the column, 0 to 1, with 1/2 for a player and
    itself. Mutants take over with the probability of a birth-and-death process.

    >>> alpha_rank(np.array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    fixation = _fixation(shares.T - 0.5, intensity, population)  # row: those who are there
    np.fill_diagonal(fixation, 0.0)
    return _stationary(fixation / max(1, len(shares) - 1))


def _fixation(leads: Floats, intensity: float, population: int) -> Floats:
    """Return the probability with which one mutant of such a lead takes over a population."""
    advantage = intensity * population / (population - 1) * leads
    small = np.abs(advantage) < 1e-12
    safe = np.where(small, 1.0, advantage)
    return np.where(small, 1 / population, np.expm1(-safe) / np.expm1(-population * safe))


def _stationary(rates: Floats) -> Floats:
    """Return the distribution that a chain with these rates between its states keeps.

    States are removed one by one without a subtraction, so that rates of any size do not lose
    their digits. Source: Grassmann, Taksar and Heyman 1985.
    """
    rates = rates.copy()
    for last in range(len(rates) - 1, 0, -1):
        rates[:last, last] /= rates[last, :last].sum()
        rates[:last, :last] += np.outer(rates[:last, last], rates[last, :last])
    kept = np.ones(len(rates))
    for state in range(1, len(rates)):
        kept[state] = kept[:state] @ rates[:state, state]
    return np.asarray(kept / kept.sum())
