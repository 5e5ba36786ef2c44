"""Dots: charts of differences, each a dot on the bar of its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.reports.charts import BLUE, GREY, STEP, Spec, chart, nominal, quantity
from arena.reports.document import Kind, write_cell

MOST_DOTS = 40
"""Rows of a chart; more cannot be told apart."""

SURE, UNSURE, UNTOUCHED = "beyond chance", "chance would do", "nothing but luck differs"
"""What is said of a difference, by `sure`: True, False, None."""

_SHAPES = {SURE: "circle", UNSURE: "diamond", UNTOUCHED: "cross"}
_COLOURS = {SURE: BLUE, UNSURE: GREY, UNTOUCHED: GREY}


class Dot(NamedTuple):
    """A number with its interval, empty where there is none, and whether it is beyond chance."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    sure: bool | None = False


def verdict_of(sure: bool | None) -> str:
    """Return what is said of a difference.

    >>> verdict_of(True), verdict_of(None)
    ('beyond chance', 'nothing but luck differs')
    """
    return UNTOUCHED if sure is None else SURE if sure else UNSURE


def name_sure(dots: Sequence[Dot]) -> str:
    """Return which differences are beyond chance, the first five by their names.

    >>> name_sure([Dot("a", 1.0, 0.5, 1.5, True), Dot("b", 0.0, -0.5, 0.5)])
    'beyond chance: a'
    """
    names = [dot.name for dot in dots if dot.sure]
    if not names:
        return "none is beyond chance"
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"beyond chance: {', '.join(names[:5])}{more}"


def dot_chart(
    dots: Sequence[Dot],
    title: str,
    kind: Kind,
    *,
    zero: bool = True,
    lines: Sequence[tuple[float, str]] = (),
) -> Spec:
    """Return a chart of dots with their intervals, the first one on top.

    `title` is that of the axis. Differences have a line at `zero`; then the shape of a dot says
    whether it is beyond chance. `lines` are values to compare with, and their names.
    """
    rows = [_row(dot, kind) for dot in dots]
    x = quantity("value", title, scale={"zero": zero, "nice": True})
    layers: list[Spec] = []
    if zero:
        layers.append(_ZERO)
    if any("low" in row for row in rows):
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55},
                "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}},
            }
        )
    layers.append(
        {
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": {"x": x},
        }
    )
    shown = [name for name in _SHAPES if any(row["verdict"] == name for row in rows)]
    for layer in layers[zero:]:
        layer["encoding"] |= {
            "y": nominal(
                "name", sort=[dot.name for dot in dots], title=None, axis={"labelLimit": 170}
            ),
            "tooltip": _TIPS if zero else _TIPS[:3],
            "color": _said("verdict", shown, _COLOURS) if zero else {"value": BLUE},
        }
        if zero and layer["mark"]["type"] == "point":
            layer["encoding"]["shape"] = _said("verdict", shown, _SHAPES)
    ends = [row[end] for row in rows for end in ("value", "low", "high") if end in row]
    layers += _reference(lines, x, ends)
    return chart(rows, height=STEP * max(2 + (len(lines) > 0), len(rows)), layer=layers)


def _reference(lines: Sequence[tuple[float, str]], x: Spec, shown: Sequence[float]) -> list[Spec]:
    """Return the layers of some vertical lines and their names, one below the other.

    A name stands on the side of its line that has more room, by what else is `shown`.
    """
    layers: list[Spec] = []
    ends = [*shown, *(value for value, _ in lines)]
    for number, (value, name) in enumerate(lines):
        data = {"values": [{"value": value, "name": name}]}
        left = 2 * value > min(ends) + max(ends)
        side = {"align": "right", "dx": -4} if left else {"align": "left", "dx": 4}
        text = {"type": "text", "fontSize": 12} | side
        rule = {"type": "rule", "strokeDash": [6, 4], "color": GREY, "strokeWidth": 2}
        place = {"y": {"value": 8 + 14 * number}, "text": {"field": "name", "type": "nominal"}}
        layers.append({"data": data, "mark": rule, "encoding": {"x": x}})
        layers.append({"data": data, "mark": text, "encoding": {"x": x} | place})
    return layers


def _row(dot: Dot, kind: Kind) -> dict[str, Any]:
    row = {"name": dot.name, "value": dot.value, "text": write_cell(dot.value, kind)}
    row["verdict"] = verdict_of(dot.sure)
    if dot.low is not None and dot.high is not None:
        ends = [write_cell(end, kind) for end in (dot.low, dot.high)]
        row |= {"low": dot.low, "high": dot.high, "interval": " to ".join(ends)}
    return row


def _said(field: str, shown: Sequence[str], by_name: dict[str, str]) -> Spec:
    """Return the channel of the verdicts that occur, with a legend for colour and shape at once."""
    scale = {"domain": [*shown], "range": [by_name[name] for name in shown]}
    return nominal(field, title=None, scale=scale, legend=_LEGEND)


_LEGEND: Spec = {"orient": "top", "direction": "vertical", "labelLimit": 240}
"""One below the other: beside each other they are wider than a telephone."""

_ZERO: Spec = {
    "data": {"values": [{"zero": 0}]},
    "mark": {"type": "rule", "strokeDash": [4, 3], "color": GREY},
    "encoding": {"x": quantity("zero", "")},
}
_TIPS: list[Spec] = [
    {"field": "name", "title": "What"},
    {"field": "text", "title": "Value"},
    {"field": "interval", "title": "95 % interval"},
    {"field": "verdict", "title": "Verdict"},
]
