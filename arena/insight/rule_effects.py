"""Estimate what games are like under some rules, and what a change of the rules changes.

Every measure is a ratio of two counts, summed over all pairs of games (`arena.statistics`).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from arena.games.match import GameResult
from arena.statistics.difference import compare_ratios, estimate_ratio
from arena.statistics.intervals import Estimate, Ints

SPREAD: Final = "spread"
_BATCH = 10_000  # games that are in memory at once


class Measure(NamedTuple):
    """One sum of counts divided by another one, which is `scale` in a pair that counts in full.

    A share is between 0 and 1.
    """

    name: str
    counted: str
    weight: str
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


MEASURES: Final = (
    Measure("city", "city", "games", 2, is_share=True),
    Measure("draws", "draws", "games", 2, is_share=True),
    Measure("tiebreaks", "tiebreaks", "games", 2, is_share=True),
    Measure("seat_0", "seat_0", "half_points", 4, is_share=True),
    Measure("margin", "margin", "scored", 2, is_share=False),
    Measure(SPREAD, "first", "half_points", 4, is_share=True),
    Measure("plies", "plies", "games", 2, is_share=False),
)
"""City wins, draws and tie-breaks as shares of the games, the score of seat 0, the winner's mean
lead in the games that were scored, the score of the strongest bot against the weakest, length."""


class Contest(NamedTuple):
    """The pairing of the strongest bot and the weakest; `first` says that the stronger is first."""

    pairing: int
    first: bool


class PairSums(NamedTuple):
    """What the games of one pair add up to; games that were forfeited are in no sum.

    `games` are those that count, `scored` those of them that were not won by City, and `margin`
    the sum of their winners' leads in points. `first` and `seat_0` are scores in half points, of
    the pairing's first bot and of seat 0.
    """

    pairing: int
    pair: int
    games: int
    city: int
    tiebreaks: int
    draws: int
    first: int
    seat_0: int
    scored: int
    margin: int
    plies: int


def sum_game(pairing: int, game: GameResult) -> PairSums:
    """Return what one game adds to the sums of its pair."""
    number, seat, winner, win_type, points, opponent_points, plies = game[:7]
    if win_type == "forfeit":
        return PairSums(pairing, number, *[0] * 9)
    first = 1 if winner is None else 2 - 2 * winner
    city = win_type == "city"
    return PairSums(
        pairing,
        number,
        games=1,
        city=city,
        tiebreaks=win_type == "tiebreak",
        draws=win_type == "draw",
        first=first,
        seat_0=first if seat == 0 else 2 - first,
        scored=not city,
        margin=0 if city else abs(points - opponent_points),
        plies=plies,
    )


class Counted:
    """The sums of all pairs of a run: a row for each, zeros where both games were forfeited."""

    def __init__(self, pairings: int, pairs: int, sums: Iterable[PairSums]) -> None:
        """Add up the sums of a run with this many pairs in every pairing."""
        size = len(PairSums._fields)
        self._table = np.zeros((pairings, pairs, size + 1), dtype=np.int64)
        rest = iter(sums)
        while batch := [*islice(rest, _BATCH)]:
            rows = np.array(batch, dtype=np.int64)
            np.add.at(self._table[:, :, :size], (rows[:, 0], rows[:, 1]), rows)
        self._table[:, :, -1] = 2 * self._table[:, :, _COLUMNS["games"]]

    def ratio(self, measure: Measure, contest: Contest | None) -> Ints | None:
        """Return count and weight of a measure, by pairing and pair; None if no pairing has it."""
        both = self._table[:, :, [_COLUMNS[measure.counted], _COLUMNS[measure.weight]]]
        if measure.name != SPREAD:
            return both
        if contest is None:
            return None
        of_two = both[contest.pairing : contest.pairing + 1].copy()
        if not contest.first:
            of_two[:, :, 0] = of_two[:, :, 1] - of_two[:, :, 0]
        return of_two


_COLUMNS: Final = {name: n for n, name in enumerate([*PairSums._fields, "half_points"])}


def estimate(counted: Counted, measure: Measure, contest: Contest | None) -> Estimate:
    """Return a measure of a run's games; nan where nothing can be said."""
    sums = counted.ratio(measure, contest)
    found = Estimate() if sums is None else estimate_ratio(sums, measure.whole)
    return found.scaled(1, measure.digits)


def difference(
    base: Counted, changed: Counted, measure: Measure, contest: Contest | None
) -> Estimate:
    """Return by how much a measure is larger in the second run than in the first one.

    Both have the same pairings and pairs.
    """
    sums = base.ratio(measure, contest), changed.ratio(measure, contest)
    return compare_ratios(*sums, measure.whole).scaled(1, measure.digits)
