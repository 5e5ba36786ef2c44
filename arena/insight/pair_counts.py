"""Count how the games of each pair ended, and define the measures that comparisons share.

A measure is a weighted sum of these counts, or the ratio of two: so the report of several runs and
the ablation of rules measure the same games by one table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice, product
from typing import Final, NamedTuple

import numpy as np

from arena.batch.replay import Bools
from arena.games.match import GameResult
from arena.insight.table_columns import WIN_TYPES
from arena.statistics.counts import RESULTS
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Ints

_SHAPE = 2, len(ENDINGS), RESULTS
_SEAT, _ENDING, _RESULT = np.indices(_SHAPE).reshape(3, -1)
COLUMNS: Final = [*product((0, 1), ENDINGS, range(RESULTS))]
"""What is counted: games by the seat of the pairing's first bot, the win type, and the result."""

TURNED: Final[Ints] = np.arange(len(COLUMNS)).reshape(_SHAPE)[::-1, :, [1, 0, 2]].ravel()
"""The columns as the opponent sees them."""

_MARGIN, _PLIES = len(COLUMNS), len(COLUMNS) + 1  # of games that were not forfeited
_BATCH: Final = 10_000  # games that are in memory at once


def column_of(game: GameResult) -> int:
    """Return the number of the column in which a game counts."""
    result = RESULTS - 1 if game.winner is None else game.winner
    return (game.seat * len(ENDINGS) + ENDINGS.index(game.win_type)) * RESULTS + result


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


_WON, _LOST, _DRAWN = range(RESULTS)
_HALVES: Final[Ints] = np.array([2, 0, 1])[_RESULT]
_HALVES_OF_SEAT_0: Final[Ints] = np.where(_SEAT, 2 - _HALVES, _HALVES)


def _ended(*win_types: str) -> Bools:
    """Return which columns count games of these win types."""
    return np.isin(_ENDING, [ENDINGS.index(one) for one in win_types])


def _share(win_type: str, *results: int) -> Floats:
    """Return the weights of the share of the games that ended so; a pair of two is 1."""
    return (_ended(win_type) & np.isin(_RESULT, results)) / 2


SCORE: Final[Floats] = _HALVES / 4
BOT_PARTS: Final[Mapping[str, Floats]] = {
    "score": SCORE,
    **{f"won by {name}": _share(how, _WON) for how, name in WIN_TYPES.items()},
    **{f"lost by {name}": _share(how, _LOST) for how, name in WIN_TYPES.items()},
    "drawn": _share("draw", _DRAWN),
}
"""What is counted of a bot's pairs, and the weights of it."""

ALL_PARTS: Final[Mapping[str, Floats]] = {
    **{f"won by {name}": _share(how, _WON, _LOST) for how, name in WIN_TYPES.items()},
    "drawn": _share("draw", _DRAWN),
    "score of seat 0": _HALVES_OF_SEAT_0 / 4,
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


def _with_sums(weights: Ints | Bools, margin: int = 0, plies: int = 0) -> Ints:
    """Return the weights of all counts, those of the sums last."""
    return np.append(weights, [margin, plies])


SPREAD: Final = "spread"
_NOTHING: Final = np.zeros(len(COLUMNS), np.int64)
_GAMES: Final = _with_sums(_ended("city", "points", "tiebreak", "draw"))
_SCORED: Final = _with_sums(_ended("points", "tiebreak", "draw"))
_OF_SEAT_0: Final = _GAMES * _with_sums(_HALVES_OF_SEAT_0)
MEASURES: Final = (
    Measure("city", _with_sums(_ended("city")), _GAMES, 2, is_share=True),
    Measure("draws", _with_sums(_ended("draw")), _GAMES, 2, is_share=True),
    Measure("tiebreaks", _with_sums(_ended("tiebreak")), _GAMES, 2, is_share=True),
    Measure("seat_0", _OF_SEAT_0, 2 * _GAMES, 4, is_share=True),
    Measure("margin", _with_sums(_NOTHING, margin=1), _SCORED, 2, is_share=False),
    Measure(SPREAD, _GAMES * _with_sums(_HALVES), 2 * _GAMES, 4, is_share=True),
    Measure("plies", _with_sums(_NOTHING, plies=1), _GAMES, 2, is_share=False),
)
"""City wins, draws and tie-breaks as shares of the games, the score of seat 0, the winner's mean
lead in the games that were scored, the score of the strongest bot against the weakest, length."""
