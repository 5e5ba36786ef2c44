"""Draw the lead of one bot over another, and the parts that it is made of.

Places are in percent of a picture's width, so that it is as wide as the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from arena.differences.lead_parts import ALL, Part
from arena.statistics.intervals import Estimate
from arena.statistics.wording import signed, write_ends

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_MOST_LINES = 6
_MARGIN = 0.04  # of the width, left and right of all that is shown


class Scale:
    """A horizontal axis that holds some values, in percent of its width.

    >>> scale = Scale([1500, 1600])
    >>> scale.step, [scale.place(value) for value in (1500, 1600)]
    (20, [3.7, 96.3])
    """

    def __init__(self, values: Sequence[float]) -> None:
        known = [value for value in values if math.isfinite(value)]
        low, high = min(known, default=0), max(known, default=0)
        margin = max(high - low, 1) * _MARGIN
        self.low, self.high = low - margin, high + margin
        width = self.high - self.low
        self.step = next((one for one in _STEPS if width / one <= _MOST_LINES), _STEPS[-1])

    def place(self, value: float) -> float:
        """Return the place of a value; one beyond the axis is at its end."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)

    def round_values(self) -> list[int]:
        """Return the multiples of the step on the axis."""
        first, last = math.ceil(self.low / self.step), math.floor(self.high / self.step)
        return [number * self.step for number in range(first, last + 1)]


@dataclass(frozen=True)
class Lead:
    """The lead of a bot over another in Elo, drawn: the `verdict` on both, and the axis.

    `ticks` are places with their labels; `zero`, `dot`, `low` and `high` are places.
    """

    new: str
    old: str
    verdict: str
    ticks: Sequence[tuple[float, str]]
    zero: float
    dot: float
    low: float
    high: float
    text: str
    described: str


def draw_lead(new: str, old: str, elo: Estimate, verdict: str) -> Lead:
    """Return the picture of a lead."""
    scale = Scale([0.0, *elo[:3]])
    ticks = [(scale.place(value), _label(value)) for value in scale.round_values()]
    return Lead(
        new,
        old,
        verdict,
        ticks,
        scale.place(0.0),
        scale.place(elo.value),
        scale.place(elo.low),
        scale.place(elo.high),
        f"{elo.value:+.0f} Elo",
        f"Lead of {new}: {elo.value:+.0f} Elo, 95 %: {write_ends(*elo.cells[1:])}",
    )


def _label(value: int) -> str:
    return f"{value:+,} Elo" if value else "even"


class Bar(NamedTuple):
    """A part of a lead as a row: its name, a note, and a bar with the interval of its end.

    `kind` is the class of its colour, `value` its number as text. A row that is not `sure` is
    drawn paler; the `whole` is the sum of the rows above.
    """

    name: str
    note: str
    kind: str
    start: float
    width: float
    low: float
    high: float
    value: str
    described: str
    sure: bool
    whole: bool = False


@dataclass(frozen=True)
class Bars:
    """Bars of the parts of a lead; `stacked` ones begin where the one above ends.

    `meaning` explains them, and `unit` is that of their numbers; a table beside them has the
    numbers with their intervals.
    """

    title: str
    meaning: str
    unit: str
    zero: float
    bars: Sequence[Bar]
    stacked: bool = False


def draw_parts(
    title: str,
    meaning: str,
    unit: str,
    parts: Sequence[tuple[Part, str, str, str]],
    factor: float,
    *,
    stacked: bool = False,
) -> Bars:
    """Return the bars of the parts of a split: each with its name, its note and its colour.

    Numbers are multiplied by `factor`, and `unit` says what they are then.
    """
    ends = [*_ends([part for part, *_ in parts], stacked=stacked)]
    scale = Scale([0.0, *(factor * end for four in ends for end in four)])
    bars = []
    for (part, name, note, kind), (start, end, low, high) in zip(parts, ends, strict=True):
        first, last, left, right = (scale.place(factor * one) for one in (start, end, low, high))
        lead = part.lead.scaled(factor)
        value, is_sum = signed(lead.value, "+.1f"), part.part == ALL
        bars.append(
            Bar(
                name,
                note,
                kind,
                min(first, last),
                round(abs(last - first), 2),
                left,
                right,
                value,
                f"{name}: {value} {unit}, 95 %: {write_ends(lead.low, lead.high, '+.1f')}",
                part.lead.excludes_zero if is_sum else bool(part.sure),
                is_sum,
            )
        )
    return Bars(title, meaning, unit, scale.place(0.0), bars, stacked)


def _ends(parts: Sequence[Part], *, stacked: bool) -> Iterator[tuple[float, float, float, float]]:
    """Yield where each bar starts and ends, and its interval around the end."""
    start = 0.0
    for part in parts:
        if part.part == ALL or not stacked:
            start = 0.0
        value, low, high, _ = part.lead
        yield start, start + value, start + low, start + high
        start += value


class Column(NamedTuple):
    """How often both bots did something: heights in percent of the highest, and in words."""

    name: str
    new: float
    old: float
    described: str


class Figure(NamedTuple):
    """Columns beside each other, the new bot's upwards and the old one's downwards."""

    title: str
    columns: Sequence[Column]


@dataclass(frozen=True)
class Mirrors:
    """Some figures of the same two bots; `meaning` explains them."""

    meaning: str
    new: str
    old: str
    figures: Sequence[Figure]


def draw_mirrors(
    meaning: str, two: tuple[str, str], shares: Mapping[str, Sequence[tuple[str, float, float]]]
) -> Mirrors:
    """Return the figures of shares: by their titles, the name and both shares of each column.

    >>> draw_mirrors("", ("new", "old"), {"round 1": [("at 1", 0.5, 0.25)]}).figures[0].columns[0]
    Column(name='at 1', new=100.0, old=50.0, described='at 1: new 50 %, old 25 %')
    """
    most = max((max(row[1:]) for rows in shares.values() for row in rows), default=0) or 1
    figures = []
    for title, rows in shares.items():
        columns = []
        for name, *both in rows:
            heights = [round(100 * share / most, 1) for share in both]
            said = [f"{label} {share:.0%}" for label, share in zip(two, both, strict=True)]
            described = f"{name}: {', '.join(said)}".replace("%", " %")
            columns.append(Column(name, heights[0], heights[1], described))
        figures.append(Figure(title, columns))
    return Mirrors(meaning, *two, figures)


_TALL, _WIDE = 96, 320  # units of a card's picture


@dataclass(frozen=True)
class MarginLine:
    """How the margin of a bot went in a game: points of a line, takes, and where it is even.

    `takes` have places, and whether the take was the bot's own. `grid` are the places and the
    values of round margins.
    """

    points: str
    takes: Sequence[tuple[float, float, bool]]
    grid: Sequence[tuple[float, str]]
    described: str


def draw_margin(frames: Sequence[Mapping[str, Any]], seat: int) -> MarginLine:
    """Return the line of a seat's margin over a game, given the frames of its timeline."""
    margins = [
        frame["points"][seat]["total"] - frame["points"][1 - seat]["total"] for frame in frames
    ]
    scale = Scale([-1, 1, *margins])
    across = _WIDE / max(1, len(margins) - 1)
    places = [(round(n * across, 1), _down(scale, margin)) for n, margin in enumerate(margins)]
    takes = [
        (*place, frame["action"]["seat"] == seat)
        for place, frame in zip(places, frames, strict=True)
        if frame["action"] and frame["action"]["char"] == "T"
    ]
    ends = f"from {min(margins):+} to {max(margins):+}, at the end {margins[-1]:+}"
    return MarginLine(
        " ".join(f"{x},{y}" for x, y in places),
        takes,
        [(_down(scale, value), f"{value:+}" if value else "0") for value in scale.round_values()],
        f"Margin after each action: {ends}",
    )


def _down(scale: Scale, margin: float) -> float:
    return round(_TALL * (1 - scale.place(margin) / 100), 1)
