"""Tally: who has won each of many games, in numpy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine import CITY, SUPPORTS, VALUES, Rules

DRAW: Final = -1
"""The winner of a game that nobody has won."""

_VALUES = np.array(VALUES)[:, None]
_TIES = {"supports": SUPPORTS[::-1], "cities": (*SUPPORTS[::-1], CITY)}


def find_points(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the points (seat, game) of piles (seat, kind, game) of signed numbers (R12-R15)."""
    supports = piles[:, : len(SUPPORTS)]
    majorities = np.array(rules.majority_values)[:, None] * (supports > supports[::-1])
    sets = rules.set_bonus * supports.min(axis=1)
    points: npt.NDArray[Any] = majorities.sum(axis=1) + sets + (_VALUES * piles).sum(axis=1)
    return points


def find_winners(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the winning seat for each game, DRAW for nobody (R11, R16-R18)."""
    score = find_points(piles, rules)
    lead = np.sign(score[0] - score[1])
    for kind in _TIES[rules.tiebreak]:
        lead = np.where(lead, lead, np.sign(piles[0, kind] - piles[1, kind]))
    cities = piles[:, CITY] >= rules.cities_needed
    lead = np.where(cities[0] ^ cities[1], np.where(cities[0], 1, -1), lead)
    winners: npt.NDArray[Any] = np.select([lead > 0, lead < 0], [0, 1], DRAW)
    return winners
