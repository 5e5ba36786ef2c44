"""Ladder: bots whose ratings are known, among which a new bot is placed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

LADDER = "ladder"
"""In place of the bots of the ladder."""

ELO = {
    "uniform": 1028,
    "greedy": 1239,
    "city_hunter": 1370,
    "majority": 1430,
    "denier": 1486,
    "timing": 1529,
    "ismcts": 1748,
    "champion": 1837,
}
"""The Elo ratings of bots in `bots/`, in ascending order, from `configs/ladder.yaml`."""


def place(elo: float) -> str:
    """Return between which two bots of the ladder a rating lies.

    >>> place(1600), place(1000), place(2000)
    ('between timing and ismcts', 'below uniform', 'above champion')
    """
    below = [name for name, known in ELO.items() if known <= elo]
    above = [name for name, known in ELO.items() if known > elo]
    if not below:
        return f"below {above[0]}"
    return f"between {below[-1]} and {above[0]}" if above else f"above {below[-1]}"


def expand_ladder(against: Iterable[Any], without: Collection[Any]) -> list[Any]:
    """Return opponents with the ladder's bots in place of its name, less those compared.

    >>> expand_ladder(["mine", "ladder"], without=["greedy", "denier", "champion"])
    ['mine', 'uniform', 'city_hunter', 'majority', 'timing', 'ismcts']
    """
    opponents = []
    for bot in against:
        opponents += [name for name in ELO if name not in without] if bot == LADDER else [bot]
    return opponents
