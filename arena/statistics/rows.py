"""Rows: what the games of a run are counted into, before they become tables."""

from __future__ import annotations

from typing import NamedTuple


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

    `total` and `squares` are the sums of the scores and of their squares.
    """

    pairing: int
    pairs: int
    total: float
    squares: float


class Faults(NamedTuple):
    """Games of the pairing with this number that were forfeited for the same kind of fault.

    `loser` is 0 for its first bot, 1 for the opponent; the kind may also be `BY_RULE`.
    """

    pairing: int
    loser: int
    kind: str
    games: int
