"""Counting: all that a run's games are counted into, in one reading of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from arena.statistics.rows import Counts, Faults, PairTotals, SeatTotals, Tally

PAIRS = """
SELECT zero.pairing, zero.winner, zero.win_type, zero.fault, one.winner, one.win_type, one.fault,
    count(*), sum(zero.points - zero.opponent_points), sum(one.points - one.opponent_points)
FROM games AS zero LEFT JOIN games AS one
    ON one.pairing = zero.pairing AND one.pair = zero.pair AND one.seat = 1
WHERE zero.seat = 0 GROUP BY 1, 2, 3, 4, 5, 6, 7
UNION ALL
SELECT pairing, NULL, NULL, NULL, winner, win_type, fault,
    count(*), NULL, sum(points - opponent_points)
FROM games AS one
WHERE seat = 1 AND NOT EXISTS (
    SELECT 1 FROM games WHERE pairing = one.pairing AND pair = one.pair AND seat = 0
) GROUP BY 1, 5, 6, 7
"""
"""Pairs whose two games ended alike: pairing, both games, how many pairs, sums of margins.

A game that has no second one is a pair of its own.
"""


class _Game(NamedTuple):
    """How a game ended, as the first bot of the pairing sees it, in this seat."""

    seat: int
    winner: int | None
    win_type: str
    fault: str
    margin: int

    @property
    def score(self) -> float:
        return 0.5 if self.winner is None else 1.0 - self.winner


def count(rows: Iterable[tuple[Any, ...]]) -> Counts:
    """Return what pairs are counted into, from the rows of PAIRS."""
    games: Counter[tuple[int, int, int, str]] = Counter()
    margins: Counter[tuple[int, int, int, str]] = Counter()
    faults: Counter[tuple[int, int, str]] = Counter()
    scores: Counter[tuple[int, float]] = Counter()
    seats: Counter[float] = Counter()
    for row in rows:
        pairing, pairs, both = row[0], row[7], [*_games(row)]
        for game in both:
            key = pairing, game.seat, _place(game.winner), game.win_type
            games[key] += pairs
            margins[key] += game.margin
            if game.fault and game.winner is not None:
                faults[pairing, 1 - game.winner, game.fault] += pairs
        scores[pairing, sum(game.score for game in both)] += pairs
        if len(both) == 2 and not any(game.fault for game in both):
            seats[sum(abs(game.seat - game.score) for game in both)] += pairs
    tallies = [
        Tally(*key[:2], None if key[2] < 0 else key[2], key[3], number, margins[key])
        for key, number in sorted(games.items())
    ]
    of_faults = [Faults(*key, number) for key, number in sorted(faults.items())]
    return Counts(tallies, [*_totals(scores)], of_faults, SeatTotals(*_sums(seats)))


def _games(row: tuple[Any, ...]) -> Iterator[_Game]:
    for seat in (0, 1):
        winner, win_type, fault = row[1 + 3 * seat : 4 + 3 * seat]
        if win_type is not None:
            yield _Game(seat, winner, win_type, fault, row[8 + seat])


def _place(winner: int | None) -> int:
    """Return a winner's place in the order of tallies: draws are first."""
    return -1 if winner is None else winner


def _totals(scores: Counter[tuple[int, float]]) -> Iterator[PairTotals]:
    of_pairings: dict[int, Counter[float]] = {}
    for (pairing, score), pairs in scores.items():
        of_pairings.setdefault(pairing, Counter())[score] += pairs
    for pairing in sorted(of_pairings):
        by_score = of_pairings[pairing]
        five = tuple(by_score[half / 2] for half in range(5))
        yield PairTotals(pairing, *_sums(by_score), five)


def _sums(pairs: Counter[float]) -> tuple[int, float, float]:
    """Return how many pairs there are, and the sums of their scores and of their squares.

    The scores are multiples of 1/2, so that the sums are exact in any order.
    """
    total = sum(score * number for score, number in pairs.items())
    squares = sum(score * score * number for score, number in pairs.items())
    return pairs.total(), float(total), float(squares)
