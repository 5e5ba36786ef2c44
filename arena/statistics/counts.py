"""The counts of a run's games: win types, and totals by pairing of pairs and of faults."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

WIN_TYPES: Final = ("city", "points", "tiebreak", "draw", "forfeit")
RESULTS: Final = 3
"""Won, lost and drawn, in this order: the result for the pairing's first bot."""
MISSING: Final = RESULTS * len(WIN_TYPES)
"""The ending of a game that is missing from its pair."""
BY_RULE: Final = "max_faults"
"""Stands for a kind if the game was not played because the bot had too many faults."""
Anchors: TypeAlias = Mapping[str, tuple[float, float]]
"""The Elo of some bots by label, with half the width of its 95 % interval, 0 if exact."""
NO_ANCHORS: Final[Anchors] = MappingProxyType({})
ScoreCounts: TypeAlias = tuple[int, ...]
"""The pairs of a pairing by the score of its first bot in them: 0, 1/2, 1, 3/2 and 2."""


class PairTotals(NamedTuple):
    """The number of pairs of a pairing, and the sums of its first bot's scores in them.

    `total` and `squares` are the sums of the scores and of their squares, and `by_score` counts the
    pairs by score, if they have been counted.
    """

    pairing: int
    pairs: int
    total: float
    squares: float
    by_score: ScoreCounts = (0, 0, 0, 0, 0)


class Faults(NamedTuple):
    """The games of a pairing that were forfeited for one kind of fault.

    `loser` is 0 for its first bot, 1 for its opponent; the kind may also be `BY_RULE`.
    """

    pairing: int
    loser: int
    kind: str
    games: int


class SeatTotals(NamedTuple):
    """The scores of seat 0 in the pairs of a run of which both games were played to their end.

    `total` and `squares` are the sums of its scores in a pair, 0 to 2, and of their squares.
    """

    pairs: int
    total: float
    squares: float
