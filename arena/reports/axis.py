"""Lay out the axis of a chart: its scale, its lines, and labels of which none touches another one.

Places are in percent of the width, and the texts of labels are HTML beside the picture.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from markupsafe import Markup
from markupsafe import escape as escape_html

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_MARGIN = 0.04  # of the width, left and right of all that is shown
_ROOM = 22  # digits of a wide font beside each other in the narrowest picture of a chart
_LITTLE_ROOM = 12  # and in that of a first screen
_MOST_LINES = 6
_EDGE = 4  # percent: a label that is nearer to an end begins or ends there


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
