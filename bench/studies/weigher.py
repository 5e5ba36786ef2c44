"""A bot with six weights, for the landscapes of many parameters; only the bench uses it.

It judges a take by four parts of what the taker's lead gains: majorities, sets, cities, and all
else, whose weight is 1. The other weights say what waiting, the opponent's next take and its own
next take count.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np

from arena.statistics.distributions import Floats
from bench.studies.branching import Indices
from bots.majority import CITY_WORTH
from engine import (
    CITY,
    STANDARD,
    SUPPORTS,
    TAKE,
    Action,
    Pack,
    Seat,
    Setup,
    View,
    count,
    pack_of,
    size,
)
from engine.scoring import deals

WEIGHTS: Final = ("majorities", "sets", "cities", "patience", "denial", "own")
_NONE: Final = (0.0, 0.0, 0.0, 0.0)

Parts = tuple[float, float, float, float]
"""What majorities, sets, cities and all else give a lead, in points."""


@cache
def _pile_parts(pile: Pack) -> Parts:
    supports = [count(pile, kind) for kind in SUPPORTS]
    whole = min(supports)
    begun = sum([n > whole for n in supports])
    cities = min(3, count(pile, CITY))
    won = CITY_WORTH[3] if cities == 3 else 0.0
    sets = STANDARD.set_bonus * (whole + begun * begun / 16)
    return 0.0, sets, CITY_WORTH[cities] - won, sum(deals(pile)) + won


@cache
def _majorities(first: Pack, second: Pack) -> float:
    lead = 0.0
    for kind in SUPPORTS:
        mine, theirs = count(first, kind), count(second, kind)
        left = max(0, STANDARD.copies[kind] - mine - theirs)
        share = (mine - theirs) / (left + 1)
        lead += STANDARD.majority_values[kind] * max(-1.0, min(1.0, share))
    return lead


def _gain(view: View, seat: Seat, row: bytes) -> Parts:
    """Return the parts of what a take from this row gives the seat."""
    mine, theirs = view.piles[seat], view.piles[1 - seat]
    more = mine + pack_of(row[-STANDARD.take_size :])
    if more == mine:
        return _NONE
    new, old = _pile_parts(more), _pile_parts(mine)
    majorities = _majorities(more, theirs) - _majorities(mine, theirs)
    return majorities, new[1] - old[1], new[2] - old[2], new[3] - old[3]


class Weighers:
    """Many settings of the bot; `weights` has a row for each, in the order of WEIGHTS."""

    def __init__(self, weights: Floats) -> None:
        self.weights = weights

    def __len__(self) -> int:
        return len(self.weights)

    def choose(self, view: View, group: Indices, /) -> Sequence[Action]:
        """Return the action of each setting of the group, the first among equals."""
        weights = self.weights[group]
        rows = [
            view.row if action == TAKE else view.row + bytes((action,)) for action in view.legal
        ]
        mine = _weighed(weights, [_gain(view, view.seat, row) for row in rows])
        wait, denial, own = (weights[:, number, None] for number in (3, 4, 5))
        if view.taken[view.opponent]:
            worth = mine
        else:
            left = [
                row[: -STANDARD.take_size] if action == TAKE else row
                for action, row in zip(view.legal, rows, strict=True)
            ]
            theirs = _weighed(weights, [_gain(view, view.opponent, row) for row in left])
            plays = 0.0 if view.taken[view.seat] else own
            takes = np.array([action == TAKE for action in view.legal])
            worth = np.where(takes, mine, plays * mine) - denial * theirs
        if view.legal[-1] == TAKE:
            worth[:, -1] -= wait[:, 0] * size(view.hand)
        best: Sequence[int] = np.argmax(worth, axis=1).tolist()
        return [view.legal[number] for number in best]

    def forget(self) -> None:
        """Forget what was worked out for one deal."""
        _majorities.cache_clear()


def _weighed(weights: Floats, parts: Sequence[Parts]) -> Floats:
    """Return the sums of the parts, a row for each setting; the same for any group."""
    table = np.array(parts)
    total = table[:, 3] + weights[:, 0, None] * table[:, 0]
    total = total + weights[:, 1, None] * table[:, 1]
    return np.asarray(total + weights[:, 2, None] * table[:, 2])


class Weigher:
    """One setting of the bot as a strategy."""

    def __init__(self, setup: Setup, **weights: float) -> None:
        del setup
        self._one = Weighers(np.array([[weights[name] for name in WEIGHTS]]))

    def choose(self, view: View, /) -> Action:
        """Return the action of the highest worth, the first among equals."""
        return self._one.choose(view, np.array([0]))[0]


bot = Weigher
