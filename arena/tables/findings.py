"""Describe what a run shows beside its standings, as lines of text and as plain data.

Examples are the advantage of seat 0, pairings whose score the ratings do not explain, and bots that
beat one another in a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from arena.errors import counted, name_some, wrapped
from arena.statistics.counts import Anchors
from arena.statistics.intervals import Estimate, SeatAdvantage
from arena.statistics.model import Spread
from arena.statistics.wording import write_ends, write_estimate
from arena.tournament.tournament import first_anchor

_WIDTH = 80
_MOST_NAMED = 4  # groups in a line


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
    whether the intervals include it.
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
                f"{len(self.misfits)} of {counted(self.tested, 'pairing')} "
                f"{'is' if len(self.misfits) == 1 else 'are'} not as the Elo says, most "
                f"of all {worst.bot} - {worst.opponent}: "
                f"{100 * worst.score:.1f} %, and it says {100 * worst.expected:.1f} %"
            )
        if self.cycle:
            beats = " beats ".join(self.cycle)
            yield f"a cycle: {beats}"

    def warnings(self) -> list[str]:
        """Return reasons for caution about the ratings, a line each."""
        left = "" if len(self.unanchored) < len(self.anchors) else "; the mean is 1500"
        found = [f"anchor: {label} is not rated{left}" for label in self.unanchored]
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
        """Return it as data for JSON, without the warnings."""
        return {
            "anchor": msgspec.to_builtins(first_anchor(self.anchors)),
            "seat_advantage": self.seat._asdict() if self.seat else None,
            "misfits": [misfit._asdict() for misfit in self.misfits],
            "cycle": [*self.cycle],
            "unbounded": [one._asdict() for one in self.unbounded],
            "spread": self._spread(),
        }

    def _spread(self) -> dict[str, Any] | None:
        """Return the spread as data; None if it was not measured."""
        if not self.spread or not self.spread.is_measured:
            return None
        elo, low, high = (round(value, 1) for value in self.spread[:3])
        return {"elo": elo, "low": low, "high": high}


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
        yield (
            f"intervals allow for results that differ from Elo by ±{spread.elo:.0f} points "
            "(not measured here)"
        )


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
