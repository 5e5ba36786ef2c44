"""Counting: all that a run's games are counted into, in one reading of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from arena.lanes.faults import BY_RULE
from arena.statistics.counts import (
    MISSING,
    RESULTS,
    WIN_TYPES,
    Counts,
    Endings,
    Faults,
    PairTotals,
    SeatTotals,
    Tally,
)

Code: TypeAlias = tuple[int, int, int]
"""A game as three numbers: its pairing, its place there, and its ending with its margin."""

FAULT: Final = MISSING + 1
"""Added to the ending of a game that a fault has ended; twice to one that was not played."""

CODES: Final = 3 * FAULT
"""Endings without a fault, with one, and by rule: the margin is counted in these."""

_TYPES = " ".join(f"WHEN '{name}' THEN {RESULTS * n}" for n, name in enumerate(WIN_TYPES))
GAMES: Final = f"""
SELECT pairing, 2 * pair + seat, {CODES} * (points - opponent_points)
    + {FAULT} * ((fault <> '') + (fault = '{BY_RULE}'))
    + CASE win_type {_TYPES} END + ifnull(winner, {RESULTS - 1})
FROM games ORDER BY pairing, pair, seat
"""
"""Every game as a Code, in order."""

FAULTS: Final = """
SELECT pairing, 1 - winner, fault, count(*) FROM games
WHERE fault <> '' AND winner IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
"""Forfeits by pairing, loser and kind of fault."""


_BY_RULE = 2


class _Game(NamedTuple):
    """How a game ended, as the first bot of the pairing sees it, in this seat.

    `forfeit` is 0 without a fault, 1 with one, and 2 where it was not played.
    """

    seat: int
    winner: int | None
    win_type: str
    forfeit: int
    margin: int

    @property
    def score(self) -> float:
        return 0.5 if self.winner is None else 1.0 - self.winner


def count(games: Iterable[Code], faults: Iterable[tuple[int, int, str, int]]) -> Counts:
    """Return what games are counted into, from the rows of GAMES and of FAULTS."""
    from arena.store.endings import add_up

    endings, leads = add_up(games)
    tallies: Counter[tuple[int, int, int, str]] = Counter()
    margins: Counter[tuple[int, int, int, str]] = Counter()
    scores: Counter[tuple[int, float]] = Counter()
    played: Counter[tuple[int, float]] = Counter()
    seats: Counter[float] = Counter()
    for pairing, pairs, both in _read(endings):
        for game in both:
            key = pairing, game.seat, _place(game.winner), game.win_type
            tallies[key] += pairs
            margins[key] += game.margin
        score = sum(game.score for game in both)
        scores[pairing, score] += pairs
        if all(game.forfeit < _BY_RULE for game in both):
            played[pairing, score] += pairs
        if len(both) == 2 and not any(game.forfeit for game in both):
            seats[sum(abs(game.seat - game.score) for game in both)] += pairs
    return Counts(
        [
            Tally(*key[:2], None if key[2] < 0 else key[2], key[3], number, margins[key])
            for key, number in sorted(tallies.items())
        ],
        [*_totals(scores)],
        [Faults(*row) for row in faults],
        SeatTotals(*_sums(seats)),
        endings,
        leads,
        [*_totals(played)],
    )


def _read(endings: Endings) -> Iterator[tuple[int, int, list[_Game]]]:
    """Yield a pairing, pairs whose games ended alike, and these games with sums of margins."""
    columns = (column.tolist() for column in endings[:5])
    for pairing, both, forfeits, pairs, margins in zip(*columns, strict=True):
        games = []
        for seat in (0, 1):
            if both[seat] != MISSING:
                win_type, result = divmod(both[seat], RESULTS)
                winner = None if result == RESULTS - 1 else result
                of_seat = forfeits[seat], margins[seat]
                games.append(_Game(seat, winner, WIN_TYPES[win_type], *of_seat))
        yield pairing, pairs, games


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
