"""Seats: the advantage of seat 0, which begins the game."""

from __future__ import annotations

from typing import NamedTuple

from arena.statistics.ratings import score_interval
from arena.statistics.sprt import elo_of


class SeatAdvantage(NamedTuple):
    """The share of seat 0 in the pairs of a run, with its 95 % interval, and the same in Elo.

    An Elo is None where the share is 0 or 1.
    """

    pairs: int
    share: float
    low: float
    high: float
    elo: float | None
    elo_low: float | None
    elo_high: float | None


def seat_advantage(pairs: int, total: float, squares: float) -> SeatAdvantage | None:
    """Return the advantage of seat 0, from its scores in some pairs; None for no pairs.

    In a pair each bot sits once in seat 0, so the strength of the bots cancels out. The score
    of the seat is the sum of its scores in both games, 0 to 2; `total` and `squares` are the
    sums over the pairs.

    >>> seat_advantage(50, 60.0, 90.0)[:2]
    (50, 0.6)
    """
    if not pairs:
        return None
    shares = total / (2 * pairs), *score_interval(pairs, total, squares)
    return SeatAdvantage(pairs, *(round(s, 4) for s in shares), *map(share_to_elo, shares))


def share_to_elo(share: float) -> float | None:
    """Return the Elo points that a share of the points is worth, to tenths; None at 0 and 1.

    >>> share_to_elo(0.75)
    190.8
    """
    return round(elo_of(share), 1) if 0 < share < 1 else None
