"""Score games, one or many at once in numpy: points and winners (R11-R18).

It is the only place beside `engine` that knows these rules. Arrays have a column for each game.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine import CITY, SUPPORTS, VALUES, Rules, Seat, State, outcome
from engine.scoring import WinType

DRAW: Final = -1
"""The entry of a drawn game among winners."""


def find_end(state: State) -> tuple[int, WinType]:
    """Return the winner of a game that is over, a seat or DRAW, and the win type."""
    winner, win_type, _ = outcome(state.piles, state.rules)
    return DRAW if winner is None else winner, win_type


def find_reward(winner: int, seat: Seat) -> float:
    """Return the reward of a seat, given the winner or DRAW.

    >>> find_reward(1, 1), find_reward(1, 0), find_reward(DRAW, 0)
    (1.0, -1.0, 0.0)
    """
    if winner == DRAW:
        return 0.0
    return 1.0 if winner == seat else -1.0


_TIES = {"supports": SUPPORTS[::-1], "cities": (*SUPPORTS[::-1], CITY)}
_DEALS = [kind for kind, value in enumerate(VALUES) if value]


def find_majorities(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the points of majorities (..., seat, support, game) in piles of signed numbers (R12).

    The piles are (..., seat, kind, game), here and below.
    """
    supports = piles[..., : len(SUPPORTS), :]
    values = np.array(rules.majority_values, piles.dtype)[:, None]
    majorities: npt.NDArray[Any] = values * (supports > supports[..., ::-1, :, :])
    return majorities


def count_sets(piles: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the numbers of sets 5-6-7-8 in piles (..., seat, game) (R13)."""
    sets: npt.NDArray[Any] = piles[..., : len(SUPPORTS), :].min(axis=-2)
    return sets


def find_points(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the points (..., seat, game) of piles of signed numbers (R12-R15)."""
    points = rules.set_bonus * count_sets(piles)
    for kind in SUPPORTS:  # takes a third of the time of `sum` over a short axis
        held = piles[..., kind, :]
        points += rules.majority_values[kind] * (held > held[..., ::-1, :])
    for kind in _DEALS:
        points += VALUES[kind] * piles[..., kind, :]
    return points


def find_sources(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the points by source: 5, 6, 7, 8, sets, alliances, betrayals, and their sum.

    They are (..., seat, source, game), of piles of signed numbers (R12-R15).
    """
    sets = rules.set_bonus * count_sets(piles)[..., None, :]
    deals = np.zeros((*piles.shape[:-2], 2, piles.shape[-1]), piles.dtype)
    for kind in _DEALS:
        deals[..., int(VALUES[kind] < 0), :] += VALUES[kind] * piles[..., kind, :]
    parts = np.concatenate([find_majorities(piles, rules), sets, deals], axis=-2)
    return np.concatenate([parts, parts.sum(axis=-2, keepdims=True)], axis=-2)


def find_winners(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the winning seat for each game, or DRAW (R11, R16-R18)."""
    score = find_points(piles, rules)
    lead = np.sign(score[0] - score[1])
    for kind in _TIES[rules.tiebreak]:
        lead = np.where(lead, lead, np.sign(piles[0, kind] - piles[1, kind]))
    cities = piles[:, CITY] >= rules.cities_needed
    lead = np.where(cities[0] ^ cities[1], np.where(cities[0], 1, -1), lead)
    return np.where(lead > 0, 0, np.where(lead < 0, 1, DRAW))
