"""Make the lead of one bot over another, and the charts of what it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from arena.differences.lead_parts import ALL, Part
from arena.reports.axis import Scale
from arena.reports.drawing import Lines, Mark, Row, Rows, Series, strip
from arena.statistics.intervals import Estimate
from arena.statistics.number_texts import signed, write_ends

SIDES = "new", "old"
_EVEN = "even"
_TALL = 48  # pixels


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

    def draw(self) -> Markup:
        """Return the picture of the lead and its interval."""
        grid = [(place, "zero" if label == _EVEN else "grid") for place, label in self.ticks]
        dot = self.low, self.dot, self.high, "new"
        return strip(_TALL, self.described, lines=grid, dots=[dot])


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


def _label(value: float) -> str:
    return f"{value:+,.0f}" if value else _EVEN


def draw_parts(
    chart: Rows,
    parts: Sequence[tuple[Part, str, str, str]],
    factor: float,
    *,
    stacked: bool = False,
) -> Rows:
    """Return a chart with a bar for each part of a split: with its name, its note and its colour.

    Numbers are multiplied by `factor`. A bar that is not sure is pale; stacked ones begin where the
    one above ends.
    """
    rows, start = list[Row](), 0.0
    for part, name, note, kind in parts:
        is_sum = part.part == ALL
        if is_sum or not stacked:
            start = 0.0
        lead = part.lead.scaled(factor)
        sure = part.lead.excludes_zero if is_sum else bool(part.sure)
        value, (low, high) = signed(lead.value, "+.1f"), lead.cells[1:]
        left, right = (None if end is None else start + end for end in (low, high))
        paint = kind if sure else f"{kind} unsure"
        mark = Mark(start + lead.value, left, right, paint, start)
        said = f"{value} {chart.unit}, 95 %: {write_ends(low, high, '+.1f')}"
        rows.append(Row(name, [mark], said, note, value, sure, is_sum))
        start += lead.value
    return replace(chart, rows=rows)


def draw_shares(
    meaning: str, two: tuple[str, str], shares: Mapping[str, Sequence[tuple[int, float, float]]]
) -> Iterator[Lines]:
    """Yield a chart for each title: at each place the shares of both bots.

    >>> chart, = draw_shares("", ("new", "old"), {"round 1": [(1, 0.5, 0.25)]})
    >>> chart.series[1].points, chart.series[1].said
    ([(1, 25.0)], ['old at 1: 25 %'])
    """
    for title, rows in shares.items():
        series = []
        for side, label in enumerate(two):
            points = [(row[0], round(100 * row[1 + side], 1)) for row in rows]
            said = [f"{label} at {place}: {share:.0f} %" for place, share in points]
            series.append(Series(SIDES[side], points, said))
        yield Lines(
            name=title.replace(" ", "-"),
            title=title,
            meaning=meaning,
            unit="takes out of 100",
            signs=dict(zip(SIDES, two, strict=True)),
            table="takes",
            size="quarter",
            series=series,
            across="action in the round",
            tall=120,
        )


def draw_margin(name: str, frames: Sequence[Mapping[str, Any]], seat: int) -> Lines:
    """Return the line of a seat's margin over a game, given the frames of its timeline."""
    margins = [
        frame["points"][seat]["total"] - frame["points"][1 - seat]["total"] for frame in frames
    ]
    series = [Series("ink", [*enumerate(margins)])]
    for kind in SIDES:
        takes = [
            (n, margins[n])
            for n, frame in enumerate(frames)
            if (action := frame["action"])
            and action["char"] == "T"
            and (action["seat"] == seat) == (kind == SIDES[0])
        ]
        series.append(Series(kind, takes, [f"{margin:+}" for _, margin in takes], is_line=False))
    ends = f"from {min(margins):+} to {max(margins):+}, at the end {margins[-1]:+}"
    return Lines(
        name=name,
        title="Margin after each action",
        meaning=ends,
        series=series,
        is_signed=True,
        tall=96,
    )
