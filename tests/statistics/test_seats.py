"""The advantage of seat 0, counted by hand from games."""

from __future__ import annotations

import math

import pytest

from arena.lanes.faults import Fault
from arena.statistics.intervals import score_interval, seat_advantage
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played


def game(pair: int, seat: int, winner: int | None, fault: Fault | None = None) -> GameResult:
    win_type = "forfeit" if fault else "draw" if winner is None else "points"
    return GameResult(pair, seat, winner, win_type, 1, 0, 10, fault, "")


GAMES = [
    *(game(0, 0, 0), game(0, 1, 1)),  # seat 0 wins both
    *(game(1, 0, 0), game(1, 1, 0)),  # the first bot wins both: one each
    *(game(2, 0, None), game(2, 1, 1)),  # a draw, and a win of seat 0
    *(game(3, 0, 1), game(3, 1, None)),  # a loss of seat 0, and a draw
    *(game(4, 0, 0, Fault("illegal", "no")), game(4, 1, 1)),  # not both were played to their end
]


def test_the_scores_of_seat_0_are_counted_by_pairs() -> None:
    """2, 1, 3/2 and 1/2 in the four pairs without a forfeit."""
    store = Store(None)
    store.add(Played(Chunk(0, 0, 5), GAMES, {}, 0.0))
    assert store.count().seats == (4, 5.0, 4 + 1 + 2.25 + 0.25)


def test_the_advantage_is_a_share_and_elo_points() -> None:
    """Of 40 pairs seat 0 scores 50 points: 62.5 %, 400 log10(5/3) Elo; the pair is the unit."""
    found = seat_advantage(40, 50.0, 75.0)
    assert found
    low, high = score_interval(40, 50.0, 75.0)
    assert (found.pairs, found.share) == (40, 0.625)
    assert (found.low, found.high) == (round(low, 4), round(high, 4))
    assert found.elo == pytest.approx(400 * math.log10(5 / 3), abs=0.05)
    assert found.elo_low == pytest.approx(400 * math.log10(low / (1 - low)), abs=0.05)
    assert found.elo_high == pytest.approx(400 * math.log10(high / (1 - high)), abs=0.05)


def test_what_cannot_be_said_is_none() -> None:
    """No pair; and all games won by seat 0, which no Elo explains."""
    assert seat_advantage(0, 0.0, 0.0) is None
    found = seat_advantage(3, 6.0, 12.0)
    assert found
    assert (found.share, found.high) == (1.0, 1.0)
    assert (found.elo, found.elo_high) == (None, None)
    assert found.elo_low is not None
    assert found.elo_low < 150
