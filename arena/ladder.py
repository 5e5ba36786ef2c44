"""Ladder: bots whose ratings are known, against which a new one is placed."""

from __future__ import annotations

ELO = {"uniform": 1245, "city_hunter": 1498, "greedy": 1526, "majority": 1731}
"""The Elo ratings of some bots in `bots/`, in ascending order, from `configs/ladder.yaml`."""


def between(elo: float) -> str:
    """Return between which two bots of the ladder a rating is.

    >>> between(1600), between(1000), between(2000)
    ('between greedy and majority', 'below uniform', 'above majority')
    """
    below = [name for name, known in ELO.items() if known <= elo]
    above = [name for name, known in ELO.items() if known > elo]
    if not below:
        return f"below {above[0]}"
    return f"between {below[-1]} and {above[0]}" if above else f"above {below[-1]}"
