"""Name what the games of a run are counted into: win types, and totals of pairs and of faults."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

WIN_TYPES: Final = ("city", "points", "tiebreak", "draw", "forfeit")
RESULTS: Final = 3
"""Won, lost and drawn, in this order: how a game went for the pairing's first bot."""

MISSING: Final = RESULTS * len(WIN_TYPES)
"""Stands for the ending of a game that a pair does not have."""

Anchors: TypeAlias = Mapping[str, tuple[float, float]]
"""The Elo of some bots by label, and half of its 95 % interval, 0 where it is taken as exact."""

NO_ANCHORS: Final[Anchors] = MappingProxyType({})

ScoreCounts: TypeAlias = tuple[int, ...]
"""The pairs of a pairing by the score of its first bot in them: 0, 1/2, 1, 3/2 and 2."""


class PairTotals(NamedTuple):
    """The pairs of the pairing with this number: how many, and its first bot's scores in them.

    `total` and `squares` are the sums of the scores and of their squares, and `by_score` are
    the pairs by score, where they have been counted.
    """

    pairing: int
    pairs: int
    total: float
    squares: float
    by_score: ScoreCounts = (0, 0, 0, 0, 0)


class Faults(NamedTuple):
    """Games of the pairing with this number that were forfeited for the same kind of fault.

    `loser` is 0 for its first bot, 1 for the opponent; the kind may also be `BY_RULE`.
    """

    pairing: int
    loser: int
    kind: str
    games: int


class SeatTotals(NamedTuple):
    """The scores of seat 0 in the pairs of a run whose games were both played to their end.

    `total` and `squares` are the sums of its scores in a pair, 0 to 2, and of their squares.
    """

    pairs: int
    total: float
    squares: float
