"""Rows: what the games of a run are counted into, before they become tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int64]

WIN_TYPES: Final = ("city", "points", "tiebreak", "draw", "forfeit")
RESULTS: Final = 3
"""Won, lost and drawn, in this order: how a game went for the pairing's first bot."""

MISSING: Final = RESULTS * len(WIN_TYPES)
"""Stands for the ending of a game that a pair does not have."""

ScoreCounts: TypeAlias = tuple[int, ...]
"""The pairs of a pairing by the score of its first bot in them: 0, 1/2, 1, 3/2 and 2."""


class Tally(NamedTuple):
    """Games of the pairing with this number that ended alike, as its first bot sees them.

    `winner` is 0 for that bot, 1 for its opponent; `margin` is the sum of its leads in points.
    """

    pairing: int
    seat: int
    winner: int | None
    win_type: str
    games: int
    margin: int


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


class Endings(NamedTuple):
    """Pairs of a pairing whose two games ended alike: arrays with a row for each two endings.

    `games` (rows x 2) has the ending of the game in which the first bot sat in seat 0, and of
    the other one: its win type's place in WIN_TYPES times RESULTS, plus its result, or MISSING.
    `forfeits` are 1 where a fault has ended it and 2 where it was not played. `pairs` counts.
    `margins` and `squares` are sums of the first bot's leads and of their squares (rows x 2),
    and `products` are those of both leads.
    """

    pairing: Ints
    games: Ints
    forfeits: Ints
    pairs: Ints
    margins: Ints
    squares: Ints
    products: Ints


class Counts(NamedTuple):
    """What all games of a run are counted into.

    `leads` are the games that points decided: arrays of their pairings, of the first bot's lead
    and of how many there are, in this order. `played` are the `pairs` without those of which a
    game was not played, because a bot had too many faults: these count for the Elo.
    """

    tallies: Sequence[Tally]
    pairs: Sequence[PairTotals]
    faults: Sequence[Faults]
    seats: SeatTotals
    endings: Endings
    leads: tuple[Ints, Ints, Ints]
    played: Sequence[PairTotals]

    @property
    def finished(self) -> Counter[int]:
        """How many games of each pairing have ended without a fault."""
        games: Counter[int] = Counter()
        for tally in self.tallies:
            games[tally.pairing] += tally.games if tally.win_type != "forfeit" else 0
        return games

    @property
    def games(self) -> int:
        """How many games there are."""
        return sum(tally.games for tally in self.tallies)
