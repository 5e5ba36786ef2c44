"""Tally: who has won, and what it brings: a game, or each of many games in numpy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine import CITY, SUPPORTS, VALUES, Rules, Seat, State, outcome
from engine.scoring import WinType

DRAW: Final = -1
"""The winner of a game that nobody has won."""


def find_end(state: State) -> tuple[int, WinType]:
    """Return the winner of a game that is over, a seat or DRAW, and the win type."""
    winner, win_type, _ = outcome(state.piles, state.rules)
    return DRAW if winner is None else winner, win_type


def find_reward(winner: int, seat: Seat) -> float:
    """Return what a winner, or DRAW, means to a seat.

    >>> find_reward(1, 1), find_reward(1, 0), find_reward(DRAW, 0)
    (1.0, -1.0, 0.0)
    """
    if winner == DRAW:
        return 0.0
    return 1.0 if winner == seat else -1.0


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
    return np.where(lead > 0, 0, np.where(lead < 0, 1, DRAW))
