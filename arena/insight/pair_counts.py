"""Count how the games of each pair ended, and define the measures that comparisons share.

A measure is a weighted sum of these counts, or the ratio of two: so the report of several runs and
the ablation of rules measure the same games by one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from arena.games.match import GameResult
from arena.insight.table_columns import WIN_TYPES
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Ints

_WON, _DRAWN, _LOST = 2, 1, 0  # half points of a pairing's first bot
_ENDINGS: Final = (
    *((_WON, win_type) for win_type in WIN_TYPES),
    *((_LOST, win_type) for win_type in WIN_TYPES),
    (_DRAWN, "draw"),
)
"""The half points of the first bot, and how it has won or lost."""

COLUMNS: Final = [(seat, *ending) for seat in (0, 1) for ending in _ENDINGS]
"""What is counted: games by the seat of the first bot, its half points, and the win type."""

_PLACES: Final = {column: place for place, column in enumerate(COLUMNS)}
TURNED: Final = [_PLACES[1 - seat, 2 - half, win_type] for seat, half, win_type in COLUMNS]
"""The columns as the opponent sees them."""

_MARGIN, _PLIES = len(COLUMNS), len(COLUMNS) + 1  # of games that were not forfeited
_BATCH: Final = 10_000  # games that are in memory at once


def column_of(game: GameResult) -> int:
    """Return the number of the column in which a game counts."""
    half = _DRAWN if game.winner is None else 2 - 2 * game.winner
    return _PLACES[game.seat, half, game.win_type]


def count_pairs(pairings: int, pairs: int, games: Iterable[tuple[int, GameResult]]) -> Ints:
    """Return the counts of a run with this many pairs in every pairing (pairings x pairs x counts).

    `games` have the number of their pairing. Behind the columns are the sum of the winners' leads
    in the games that points decided, and the sum of the plies.
    """
    counts = np.zeros((pairings, pairs, len(COLUMNS) + 2), dtype=np.int64)
    rest = ((number, game.pair, column_of(game), *_measures(game)) for number, game in games)
    while batch := [*islice(rest, _BATCH)]:
        number, pair, column, margin, plies = np.array(batch, dtype=np.int64).T
        np.add.at(counts, (number, pair, column), 1)
        np.add.at(counts, (number, pair, _MARGIN), margin)
        np.add.at(counts, (number, pair, _PLIES), plies)
    return counts


def _measures(game: GameResult) -> tuple[int, int]:
    """Return the winner's lead, where points decided, and the plies; 0 of a forfeit."""
    if game.win_type == "forfeit":
        return 0, 0
    return abs(game.points - game.opponent_points) * (game.win_type != "city"), game.plies


def _weigh(of: Callable[[int, int, str], int]) -> Ints:
    """Return the weight of each count, by seat, half points and win type; 0 of the sums."""
    return np.array([*(of(*column) for column in COLUMNS), 0, 0], dtype=np.int64)


def _sum(column: int) -> Ints:
    """Return the weights that take one of the sums."""
    return np.asarray(np.eye(len(COLUMNS) + 2, dtype=np.int64)[column])


def _score(_seat: int, half: int, _win_type: str) -> int:
    return half


def _score_of_seat_0(seat: int, half: int, _win_type: str) -> int:
    return 2 - half if seat else half


def _part(weights: Ints, whole: int) -> Floats:
    """Return the weights of a measure from 0 to 1; a pair of `whole` is 1."""
    return weights[: len(COLUMNS)] / whole


def _count_part(half: Iterable[int], win_type: str) -> Floats:
    """Return the weights of the share of the games that ended so."""
    return _part(_weigh(lambda _, points, how: int(how == win_type and points in half)), 2)


SCORE: Final = _part(_weigh(_score), 4)
BOT_PARTS: Final[Mapping[str, Floats]] = {
    "score": SCORE,
    **{f"won by {name}": _count_part([_WON], how) for how, name in WIN_TYPES.items()},
    **{f"lost by {name}": _count_part([_LOST], how) for how, name in WIN_TYPES.items()},
    "drawn": _count_part([_DRAWN], "draw"),
}
"""What is counted of a bot's pairs, and the weights of it."""

ALL_PARTS: Final[Mapping[str, Floats]] = {
    **{f"won by {name}": _count_part([_WON, _LOST], how) for how, name in WIN_TYPES.items()},
    "drawn": _count_part([_DRAWN], "draw"),
    "score of seat 0": _part(_weigh(_score_of_seat_0), 4),
}
"""What is counted of all pairs, whoever won."""


class Measure(NamedTuple):
    """One weighted sum of counts over another one, which is `scale` in a pair that counts in full.

    Forfeited games count in neither. A share is between 0 and 1.
    """

    name: str
    counted: Ints
    weight: Ints
    scale: int
    is_share: bool

    @property
    def whole(self) -> int | None:
        """The weight of a pair that counts in full, None where this is not a share."""
        return self.scale if self.is_share else None

    @property
    def digits(self) -> int:
        """To how many digits an estimate is rounded."""
        return 4 if self.is_share else 3

    def sums(self, counts: Ints) -> Ints:
        """Return count and weight of every pair (pairings x pairs x 2)."""
        return np.stack([counts @ self.counted, counts @ self.weight], axis=2)


def _count_of(*win_types: str) -> Ints:
    """Return the weights that count the games of these win types."""
    return _weigh(lambda _seat, _half, how: int(how in win_types))


SPREAD: Final = "spread"
_GAMES: Final = _count_of("city", "points", "tiebreak", "draw")
_SCORED: Final = _count_of("points", "tiebreak", "draw")
MEASURES: Final = (
    Measure("city", _count_of("city"), _GAMES, 2, is_share=True),
    Measure("draws", _count_of("draw"), _GAMES, 2, is_share=True),
    Measure("tiebreaks", _count_of("tiebreak"), _GAMES, 2, is_share=True),
    Measure("seat_0", _GAMES * _weigh(_score_of_seat_0), 2 * _GAMES, 4, is_share=True),
    Measure("margin", _sum(_MARGIN), _SCORED, 2, is_share=False),
    Measure(SPREAD, _GAMES * _weigh(_score), 2 * _GAMES, 4, is_share=True),
    Measure("plies", _sum(_PLIES), _GAMES, 2, is_share=False),
)
"""City wins, draws and tie-breaks as shares of the games, the score of seat 0, the winner's mean
lead in the games that were scored, the score of the strongest bot against the weakest, length."""
