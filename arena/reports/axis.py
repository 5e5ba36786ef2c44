"""Draw what first screens and charts share: an axis, a row of marks with intervals, a lead.

Places are in percent of the width, and the texts of labels are HTML beside the picture. A label
touches no other one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from markupsafe import escape as escape_html

from arena.statistics.intervals import Estimate
from arena.statistics.number_texts import write_ends

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_MARGIN = 0.04  # of the width, left and right of all that is shown
_ROOM = 22  # digits of a wide font beside each other in the narrowest picture of a chart
_LITTLE_ROOM = 12  # and in that of a first screen
_MOST_LINES = 6
_EDGE = 4  # percent: a label that is nearer to an end begins or ends there

_EVEN = "even"
_LEAD_TALL = 48  # pixels

SHAPES: Final[Mapping[str, str]] = {
    "round-2": "square",
    "round-3": "diamond",
    "round-4": "square",
    "leans": "diamond",
    "city": "square",
}
"""The shapes of signs; all others are circles. Their colours are those of their classes."""


class Scale:
    """A horizontal axis that holds some values, in percent of its width.

    >>> scale = Scale([1500, 1600])
    >>> scale.step, [scale.place(value) for value in (1500, 1600)]
    (20, [3.7, 96.3])
    """

    def __init__(self, values: Sequence[float], most: int = _MOST_LINES) -> None:
        known = [value for value in values if math.isfinite(value)]
        low, high = min(known, default=0), max(known, default=0)
        margin = max(high - low, 1) * _MARGIN
        self.low, self.high = low - margin, high + margin
        width = self.high - self.low
        self.step = next((one for one in _STEPS if width / one <= most), _STEPS[-1])

    def place(self, value: float) -> float:
        """Return the place of a value; one beyond the axis is at its end."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)

    def round_values(self) -> list[int]:
        """Return the multiples of the step on the axis."""
        first, last = math.ceil(self.low / self.step), math.floor(self.high / self.step)
        return [number * self.step for number in range(first, last + 1)]


def write_lines(places: Sequence[tuple[float, bool]]) -> str:
    """Return vertical lines as a style, once for all rows; one of zero is darker."""
    drawn = (
        f"linear-gradient(var(--{'soft' if is_zero else 'grid'}) 0 0) {place}% 0/1px 100% no-repeat"
        for place, is_zero in places
    )
    return f"--lines:{','.join(drawn) or 'none'}"


def write_ticks(ticks: Sequence[tuple[float, str]]) -> Markup:
    """Return the labels of a horizontal axis, as many as never touch one another.

    Those at its ends begin or end there. A label is "more" if only a chart has room for it.
    """
    little = _choose_labels(ticks, _LITTLE_ROOM)
    shown = {*_choose_labels(ticks, _ROOM, little)}
    texts = (
        f'<span class="tick{_side(place)}{"" if (place, label) in little else " more"}" '
        f'style="left:{place}%">{escape_html(label)}</span>'
        for place, label in ticks
        if (place, label) in shown
    )
    return Markup(f'<span class="ticks">{"".join(texts)}</span>')


def _choose_labels(
    ticks: Sequence[tuple[float, str]], room: int, kept: Sequence[tuple[float, str]] = ()
) -> Sequence[tuple[float, str]]:
    """Return the labels for which a picture as wide as `room` digits has room beside those kept.

    A label without a number is that of zero; it is chosen first, and then those next to it.
    """
    zero = next((place for place, label in ticks if not re.search("[1-9]", label)), 0.0)
    for tick in sorted(ticks, key=lambda one: abs(one[0] - zero)):
        low, high = _reach(*tick, room)
        if all(high <= start or end <= low for start, end in (_reach(*one, room) for one in kept)):
            kept = [*kept, tick]
    return kept


def _reach(place: float, label: str, room: int) -> tuple[float, float]:
    """Return from where to where a label and half a digit on both sides reach, in percent."""
    wide = 100 * (len(label) + 1) / room
    low = place - wide * {" first": 0.0, "": 0.5, " last": 1.0}[_side(place)]
    return low, low + wide


def _side(place: float) -> str:
    return " first" if place < _EDGE else " last" if place > 100 - _EDGE else ""


def strip(
    tall: int,
    said: str,
    *,
    lines: Sequence[tuple[float, str]] = (),
    bars: Sequence[tuple[float, float, str]] = (),
    dots: Sequence[tuple[float, float | None, float, str]] = (),
    above: Sequence[tuple[float, str]] = (),
) -> Markup:
    """Return the picture of a row, with places in percent of its width.

    `lines` have a place and a class, and lie below all else; `bars` have a start, a width and a
    class; `dots` have the low end, the value, None if it is a guess, the high end, and a class.
    `above` are lines above all else.
    """
    parts = [_line(place, kind, 0, tall) for place, kind in lines]
    thick = round(tall * 0.45)
    parts += [
        f'<rect class="{kind}" x="{start}%" y="{(tall - thick) / 2:g}" '
        f'width="{width}%" height="{thick}"/>'
        for start, width, kind in bars
    ]
    for low, value, high, kind in dots:
        parts.append(draw_span(low, high, tall / 2))
        parts += [sign(kind, f"{value}%", f"{tall / 2:g}")] * (value is not None)
    parts += [_line(place, kind, 8, tall - 8) for place, kind in above]
    return picture(tall, said, parts)


def sign(kind: str, x: str, y: str, said: str = "") -> str:
    """Return a sign at a place, with words for a pointer."""
    title = add_title(said)
    shape = next((SHAPES[one] for one in kind.split() if one in SHAPES), "")
    if not shape:
        return f'<circle class="sign {kind}" cx="{x}" cy="{y}" r="5">{title}</circle>'
    return f'<rect class="sign {kind} {shape}" x="{x}" y="{y}" width="9" height="9">{title}</rect>'


def add_title(said: str) -> str:
    """Return the words of a picture, which a pointer shows."""
    return f"<title>{escape_html(said)}</title>" if said else ""


def swatch(kind: str) -> Markup:
    """Return a sign for the words that explain it."""
    return Markup(
        f'<svg class="mark" width="14" height="14" aria-hidden="true">{sign(kind, "7", "7")}</svg>'
    )


def picture(tall: int, said: str, parts: Sequence[str]) -> Markup:
    """Return a picture as wide as there is room, in words too."""
    return Markup(
        f'<svg class="plot" width="100%" height="{tall}" role="img">{add_title(said)}'
        f"{''.join(parts)}</svg>"
    )


def _line(place: float, kind: str, top: int, bottom: int) -> str:
    return f'<line class="{kind}" x1="{place}%" x2="{place}%" y1="{top}" y2="{bottom}"/>'


def draw_span(low: float, high: float, y: float) -> str:
    """Return an interval: a line with a rim of the paper, which is seen on any bar."""
    ends = f'x1="{low}%" x2="{high}%" y1="{y:g}" y2="{y:g}"'
    return f'<line class="rim" {ends}/><line class="span" {ends}/>'


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
        return strip(_LEAD_TALL, self.described, lines=grid, dots=[dot])


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
