"""Ablation: what games are like under some rules, and what a change of the rules changes.

The pair (one deal played twice, seats swapped) is the statistical unit, and the pairings are
strata. Every measure is a ratio of two counts, summed over all pairs. The change is the
difference of two such ratios; its error comes from the differences by pair, so that the luck
of a deal that is common to both rules does not count. This holds however strongly two games with
the same number depend on each other, hence also where they have different deals.
Source: Cochran, Sampling Techniques, 1977, chapter 6 (ratios, also in strata).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.games.match import GameResult
from arena.statistics.ratings import Z95

Integers: TypeAlias = npt.NDArray[np.int64]

SPREAD: Final = "spread"
_BATCH = 10_000  # games that are in memory at once
_FEWEST_GAMES = 10  # of fewer, intervals held the truth in 80 % (bench/STUDIES.md has the rest)
_RULE_OF_THREE = 3  # Hanley and Lippman-Hand 1983: never seen in n, so less often than 3 / n


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


class Estimate(NamedTuple):
    """A number with its 95 % interval; None is what cannot be said."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


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

    def ratio(self, measure: Measure, contest: Contest | None) -> Integers | None:
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
    """Return a measure of a run's games."""
    numbers = counted.ratio(measure, contest)
    if numbers is None or (ratio := _ratio(numbers)) is None:
        return Estimate()
    return _bounded(ratio[0], _half_width(numbers, [ratio], measure), measure, least=0)


def difference(
    base: Counted, changed: Counted, measure: Measure, contest: Contest | None
) -> Estimate:
    """Return by how much a measure is larger in the second run than in the first one.

    Both have the same pairings and pairs.
    """
    sides = [counted.ratio(measure, contest) for counted in (changed, base)]
    present = [side for side in sides if side is not None]
    ratios = [ratio for side in present if (ratio := _ratio(side)) is not None]
    if len(ratios) < 2:
        return Estimate()
    numbers = np.concatenate(present, axis=2)
    half = _half_width(numbers, ratios, measure)
    return _bounded(ratios[0][0] - ratios[1][0], half, measure, least=-1)


def _ratio(numbers: Integers) -> tuple[Fraction, int] | None:
    """Return the ratio of the sums, and the sum of the weights; None if nothing has a weight."""
    count, weight = numbers.sum(axis=(0, 1)).tolist()
    return (Fraction(count, weight), weight) if weight else None


def _half_width(
    numbers: Integers, ratios: Sequence[tuple[Fraction, int]], measure: Measure
) -> float | None:
    """Return half the width of the interval of a ratio, or of the first less the second.

    Of a share it is at least 3/n, n being the pairs that count: what was never seen may still
    be so frequent. Of other measures nothing is known from fewer than ten games under either
    rules, or where no pair differs from another one. With one pair nothing is known of any.
    """
    contrast: list[Fraction] = []
    for sign, (ratio, weight) in zip((1, -1), ratios, strict=False):
        contrast += [Fraction(sign, weight), -sign * ratio / weight]
    variance = _variance(numbers, contrast)
    if variance is None:
        return None
    half = Z95 * math.sqrt(variance)
    fewest = min(weight for _, weight in ratios)
    if measure.is_share:
        return max(half, _RULE_OF_THREE * measure.scale / fewest)
    return half if variance and fewest >= _FEWEST_GAMES else None


def _variance(numbers: Integers, contrast: Sequence[Fraction]) -> Fraction | None:
    """Return the variance of a weighted sum over all pairs, stratified by pairing.

    The moments are whole numbers, so that no bit depends on the order of the pairs.
    """
    pairs: int = numbers.shape[1]
    if pairs < 2:
        return None
    total = Fraction(0)
    for stratum in numbers:
        sums: list[int] = stratum.sum(axis=0).tolist()
        products: list[list[int]] = (stratum.T @ stratum).tolist()
        for i, one in enumerate(contrast):
            for j, other in enumerate(contrast):
                total += one * other * (pairs * products[i][j] - sums[i] * sums[j])
    return total / (pairs - 1)


def _bounded(value: Fraction, half: float | None, measure: Measure, least: int) -> Estimate:
    """Return the estimate, rounded; a share ends at 1, and at `least`."""
    middle = float(value)
    if half is None:
        return Estimate(_rounded(middle, measure))
    low, high = middle - half, middle + half
    if measure.is_share:
        low, high = max(float(least), low), min(1.0, high)
    return Estimate(*(_rounded(number, measure) for number in (middle, low, high)))


def _rounded(number: float, measure: Measure) -> float:
    """Return a number with the digits of its measure, and no negative zero."""
    return round(number, measure.digits) + 0.0
