"""Describe what a run shows beside its standings, as lines of text and as plain data.

Examples are the advantage of seat 0, the share of City in the wins, and bots that beat one
another in a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from arena.errors import counted, name_some, wrapped
from arena.statistics.bradley_terry import Spread
from arena.statistics.counts import MISSING, RESULTS, Anchors
from arena.statistics.cycles import Field
from arena.statistics.intervals import Estimate, Ints, score_interval
from arena.statistics.number_texts import write_ends, write_estimate
from arena.statistics.sequential_test import elo_of
from arena.statistics.two_bots import compare_ratios, estimate_ratio
from arena.store.counting import Counts
from arena.tables.game_arrays import CITY_WIN, FORFEIT, place_bots
from arena.tables.standings_table import LOST, WON
from arena.tournament.config_keys import first_anchor
from arena.tournament.schedule import Pairing

REAL: Final = 0.05
"""The share of City from which it is called a real way to win."""


class CityShare(NamedTuple):
    """City's share of the wins: how many wins there are, and how many of them by City.

    `top` is the share in the wins of the strongest third of the field, and `gap` that less the
    weakest third's; they have no value where nobody there has won. Forfeits are left out.
    """

    wins: int
    by_city: int
    top: Estimate
    gap: Estimate


def share_of_city(pairings: Sequence[Pairing], order: Sequence[str], counts: Counts) -> CityShare:
    """Return City's share of the wins; `order` has the bots, the strongest first.

    The pair is the unit: wins of both bots in it count together, if both are of the third.
    """
    third = len(order) // 3
    place = place_bots(pairings, order)[counts.pairing]
    wins = _count_wins(counts.games)
    is_top, is_weak = place < third, (place >= len(order) - third) & (place < len(order))
    top, weak = ((wins * one[:, :, None]).sum(axis=1)[None] for one in (is_top, is_weak))
    by_city, total = (wins.sum(axis=1) * counts.pairs[:, None]).sum(axis=0).tolist()
    share, gap = estimate_ratio(top, 2, counts.pairs), compare_ratios(weak, top, 2, counts.pairs)
    return CityShare(total, by_city, share, gap)


def _count_wins(games: Ints) -> Ints:
    """Return how many games of each pair both bots won by City, and in any way but by forfeit.

    They are (pair, bot, 2).
    """
    win_type, result = np.divmod(games, RESULTS)
    is_decided = (games != MISSING) & (win_type != FORFEIT)
    won = np.stack([is_decided & (result == one) for one in (WON, LOST)], axis=1)
    by_city = won & (win_type == CITY_WIN)[:, None]
    return np.stack([by_city.sum(axis=2), won.sum(axis=2)], axis=2)


def describe_city(found: CityShare, labels: Sequence[str]) -> str:
    """Return whether City is a real way to win, as far as the intervals say.

    `labels` are three or more bots, the strongest first.
    """
    top, gap = found.top, found.gap
    real = "Whether City is a real way to win is open"
    if top.cells[0] is None:
        return f"{real}: the strongest bots have won no game"
    if top.low >= REAL:
        real = "City is a real way to win"
    elif top.high < REAL:
        real = "City is a rare way to win"
    if not found.by_city:
        return f"{real}: it made none of {counted(found.wins, 'win')}"
    third = len(labels) // 3
    strong, weak = labels[0], labels[-1]
    if third > 1:
        strong, weak = f"the strongest {third:,}", f"the weakest {third:,}"
    said = f"{real}: it made {_percent(top.value)} of the wins of {strong}"
    if gap.cells[1] is None:
        return said
    if gap.low <= 0 <= gap.high:
        return f"{said}; the share of {weak} is not told apart from that"
    size = "larger" if gap.low > 0 else "smaller"
    return f"{said}, surely a {size} share than of those of {weak}"


def _percent(share: float) -> str:
    """Return a share in per cent; one below 1 % has a decimal."""
    return f"{100 * share:.{int(0 < share < 0.01)}f} %"


_WIDTH = 80
_MOST_NAMED = 4  # groups in a line


class SeatAdvantage(NamedTuple):
    """The share of seat 0 in the pairs of a run, with its 95 % interval, and the same in Elo.

    An Elo is None if its share is 0 or 1.
    """

    pairs: int
    share: float
    low: float
    high: float
    elo: float | None
    elo_low: float | None
    elo_high: float | None


def seat_advantage(pairs: int, total: float, squares: float) -> SeatAdvantage | None:
    """Return the advantage of seat 0, from its scores in some pairs; None without pairs.

    In a pair each bot sits once in seat 0, so the strength of the bots cancels out. The score
    of the seat is the sum of its scores in both games, 0 to 2; `total` and `squares` are the
    sums over the pairs.

    >>> seat_advantage(50, 60.0, 90.0)[:2]
    (50, 0.6)
    """
    if not pairs:
        return None
    shares = total / (2 * pairs), *score_interval(pairs, total, squares)
    elos = (round(elo_of(share), 1) if 0 < share < 1 else None for share in shares)
    return SeatAdvantage(pairs, *(round(share, 4) for share in shares), *elos)


class Misfit(NamedTuple):
    """A pairing whose score differs significantly from the expected one; shares are 0 to 1."""

    bot: str
    opponent: str
    score: float
    expected: float


class Unbounded(NamedTuple):
    """A bot whose Elo interval lacks an end, as it is unbeaten or winless, or its group is.

    `record` says which.
    """

    bot: str
    record: str
    elo_low: float | None
    elo_high: float | None

    def describe(self) -> str:
        """Return it in words.

        >>> Unbounded("champion", "unbeaten", 2040.4, None).describe()
        'champion is unbeaten: its Elo is at least 2040'
        """
        return f"{self.bot} is {self.record}: its Elo is {write_ends(self.elo_low, self.elo_high)}"


@dataclass(frozen=True)
class Findings:
    """What a run shows beside the ratings: warnings, misfits, cycles and the spread.

    `anchors` are the anchors requested, and `unanchored` those of them that are not rated. `groups`
    are the labels of the rated bots by connected component of the graph of games. `misfits` were
    found among `tested` pairings; in `cycle` each bot beats the next; `idle` bots have no game,
    because they had the bye in every round; `unbounded` are the bots whose Elo interval lacks an
    end. `spread` is the standard deviation of results about the Elo, and `spread_counts` says
    whether the intervals include it. `dependence` says how results depend on time, if they do.
    """

    anchors: Anchors
    unanchored: Sequence[str]
    seat: SeatAdvantage | None
    groups: Sequence[Sequence[str]]
    tested: int
    misfits: Sequence[Misfit]
    cycle: Sequence[str]
    idle: Sequence[str] = ()
    unbounded: Sequence[Unbounded] = ()
    spread: Spread | None = None
    spread_counts: bool = False
    dependence: str = ""

    def describe_misfits(self) -> str:
        """Return how many pairings are misfits."""
        return f"Elo does not explain {len(self.misfits):,} of {counted(self.tested, 'pairing')}"

    def lines(self) -> Iterator[str]:
        """Yield what is printed below the standings, at most 80 columns wide."""
        for text in self._texts():
            yield from wrapped(text)

    def _texts(self) -> Iterator[str]:
        if self.seat:
            yield describe_seat(self.seat)
        for one in self.unbounded[:_MOST_NAMED]:
            yield one.describe()
        if more := len(self.unbounded[_MOST_NAMED:]):
            yield f"and {more:,} more bots of which one end of the interval is known at most"
        if self.spread:
            yield from describe_spread(self.spread, counts=self.spread_counts)
        if self.misfits:
            worst = self.misfits[0]
            yield (
                f"{self.describe_misfits()}, least of all {worst.bot} - {worst.opponent}: "
                f"{100 * worst.score:.1f} %, where it expects {100 * worst.expected:.1f} %"
            )
        if self.cycle:
            beats = " beats ".join(self.cycle)
            yield f"a cycle: {beats}"

    def warnings(self) -> list[str]:
        """Return reasons for caution about the ratings, a line each."""
        left = "" if len(self.unanchored) < len(self.anchors) else "; the mean is 1500"
        found = [f"anchor: {label} is not rated{left}" for label in self.unanchored]
        found += [self.dependence] * bool(self.dependence)
        if self.idle:
            named = name_some(self.idle)
            found.append(f"not in the tables, because they have played no game: {named}")
        if len(self.groups) > 1:
            named = name_some([group[0] for group in self.groups])
            found.append(
                f"{len(self.groups)} groups of bots never met, so their ratings cannot be "
                f"compared: those of {named}"
            )
        return found

    def document(self) -> dict[str, Any]:
        """Return it as data for JSON, without the warnings, and a spread only if it is measured."""
        spread = self.spread if self.spread and self.spread.is_measured else ()
        rounded = (round(value, 1) for value in spread[:3])
        return {
            "anchor": msgspec.to_builtins(first_anchor(self.anchors)),
            "seat_advantage": self.seat._asdict() if self.seat else None,
            "misfits": [misfit._asdict() for misfit in self.misfits],
            "cycle": [*self.cycle],
            "unbounded": [one._asdict() for one in self.unbounded],
            "spread": dict(zip(("elo", "low", "high"), rounded, strict=False)) or None,
        }


def describe_spread(spread: Spread, *, counts: bool) -> Iterator[str]:
    """Yield lines on the spread of results about the Elo and whether intervals include it.

    >>> [*describe_spread(Spread(37.6, 24.0, 52.0, 0.05, 21), counts=False)]
    ['results differ from Elo by about ±38 points (24..52)']
    >>> [*describe_spread(Spread(38.0, 0.0, 85.0, 0.05, 0), counts=True)]
    ['intervals allow for results that differ from Elo by ±38 points (not measured here)']
    """
    if spread.is_measured:
        allowed = ", which the intervals allow for" if counts else ""
        about = write_estimate(Estimate(*spread[:3]), unit=" points")
        yield f"results differ from Elo by about ±{about}{allowed}"
    elif counts:
        said = f"intervals allow for results that differ from Elo by ±{spread.elo:.0f} points"
        yield f"{said} (not measured here)"


def describe_dependence(field: Field) -> str:
    """Return in a sentence how the results of a field depend on time; "" if they do not."""
    _, bot, rise = field.dependence or (None, None, 0.0)
    if bot is None:
        return ""
    said = f"pairs played one after another are alike, most of all those of {field.labels[bot]}"
    if rise:
        said = f"{field.labels[bot]} became {'stronger' if rise > 0 else 'weaker'} during its games"
    return f"{said}: the intervals are wider for it"


def describe_seat(seat: SeatAdvantage, *, level: bool = False) -> str:
    """Return the advantage of seat 0, which begins, with its interval and, if asked for, its level.

    >>> describe_seat(SeatAdvantage(80, 0.47, 0.407, 0.534, -20.9, -65.4, 23.7))
    'seat 0 scores 47.0 % (40.7..53.4): -21 Elo (-65..24)'
    """
    text = f"seat 0 scores {write_estimate(Estimate(*seat[1:4]), '.1%', level=level)}"
    if seat.elo is None or seat.elo_low is None or seat.elo_high is None:
        return text
    elo = Estimate(seat.elo, seat.elo_low, seat.elo_high)
    return f"{text}: {write_estimate(elo, '+.0f', ' Elo')}"
