"""Make tables and Vega-Lite charts, plain data, from the rows of DataFrames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from arena.errors import name_some
from arena.insight.table_columns import Column, TableColumns
from arena.reports.blocks import Cell, Table

if TYPE_CHECKING:
    import pandas as pd

Spec: TypeAlias = dict[str, Any]

WIN_COLOURS: Mapping[str, str] = {
    "City": "#b37400",
    "points": "#004d80",
    "tie-break": "#3793cc",
    "forfeit": "#7b8590",
}
"""The colour of each win type.

All colours of charts have a contrast of 3 at least on white, and are told apart without telling red
from green (after Okabe and Ito 2008). In the dark the page takes others (`charts.js`).
"""

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6f7882"
STEP = 24
"""Pixels of a row."""

MOST_BOTS = 40
"""Bots in a chart, the first ones of the standings: more rows cannot be told apart."""

ALL = "all bots "
"""Stands for all bots together in tables and choices; a label does not end with a space."""

_LABEL = 120

MOST_ROWS = 1_000
"""Rows of a table on the page: those of 40 bots against each other. A file has all of them."""


def chart(values: Sequence[Mapping[str, Any]], **parts: Any) -> Spec:
    """Return a specification with its rows, as wide as the page unless `parts` say otherwise."""
    base: Spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "data": {"values": [*values]},
    }
    return base | parts


def row_of_bots(labels: Sequence[str], field: str = "bot") -> Spec:
    """Return the vertical axis with a row for each bot, in this order."""
    return nominal(field, sort=[*labels], title=None, axis={"labelLimit": _LABEL})


def nominal(field: str, **more: Any) -> Spec:
    """Return a channel of names."""
    return {"field": field, "type": "nominal", **more}


def quantity(field: str, title: str | None, **more: Any) -> Spec:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def choice(name: str, title: str, options: Sequence[str]) -> Spec:
    """Return a parameter that the reader chooses from some names; the first one is chosen."""
    bind = {"input": "select", "options": [*options], "name": title}
    return {"name": name, "value": options[0], "bind": bind}


def colours(of: Mapping[str, str]) -> Spec:
    """Return the scale of some names and their colours."""
    return {"domain": [*of], "range": [*of.values()]}


def plain_rows(frame: pd.DataFrame, columns: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the rows of some columns as plain values; an empty cell is None."""
    return list(zip(*(_values(frame[name]) for name in columns), strict=True))


def _values(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column; `isna` would take as long as all else of a small report."""
    values, kind = column.tolist(), column.dtype.kind
    if kind in "iub" and isinstance(column.dtype, np.dtype):
        return values
    if kind == "f":
        return [None if value != value else value for value in values]
    return [None if no else value for value, no in zip(values, column.isna(), strict=True)]


def plain_dicts(frame: pd.DataFrame, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows as plain data for a chart; `columns` are the new names by the old ones."""
    names = [*columns.values()]
    return [dict(zip(names, row, strict=True)) for row in plain_rows(frame, columns)]


def frame_table(
    table: TableColumns,
    caption: str,
    frame: pd.DataFrame,
    columns: Sequence[Column] | None = None,
    *,
    folded: bool = False,
) -> Table:
    """Return a table of a frame's rows, which has the name of its file; `columns` are those shown.

    Rows that are too many are in the file.
    """
    shown = columns or table.shown
    rows = plain_rows(frame.iloc[:MOST_ROWS], [column.name for column in shown])
    name, note = table.file.removesuffix(".csv"), note_of(len(frame), table.file)
    return Table(name, caption, shown, rows, note=note, folded=folded)


def cut_table(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    file: str = "the chart",
    *,
    folded: bool = False,
) -> Table:
    """Return a table of the first rows, with a note where there are more: the file has them."""
    note = note_of(len(rows), file)
    return Table(name, caption, columns, rows[:MOST_ROWS], note=note, folded=folded)


def note_of(rows: int, file: str) -> str:
    """Return what is said below a table that has more rows than a page shows."""
    if rows <= MOST_ROWS:
        return ""
    return f"The first {MOST_ROWS:,} of {rows:,} rows; {file} has all of them."


def interval_layers(x: Spec, mark: Mapping[str, Any] | None = None) -> list[Spec]:
    """Return the layers of numbers, each on the bar of its 95 % interval.

    The fields of a row are `value`, `low` and `high`; one without ends has a bar of no length.
    `mark` is what stands for the number: a point unless it says otherwise.
    """
    point = {"type": "point", "filled": True, "size": 80, "opacity": 1, "color": BLUE}
    return [
        {
            "transform": [_end_or_value("low"), _end_or_value("high")],
            "mark": {"type": "rule", "strokeWidth": 2, "color": BLUE},
            "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}},
        },
        {"mark": point | dict(mark or {}), "encoding": {"x": x | {"field": "value"}}},
    ]


def _end_or_value(end: str) -> Spec:
    """Return the transform that gives a bar this end, also where no row of a chart has it."""
    known = "isValid(datum.low) && isValid(datum.high)"
    return {"calculate": f"{known} ? datum.{end} : datum.value", "as": end}


def tips(*fields: tuple[str, str], form: str = "") -> list[Spec]:
    """Return what is shown of a row at the pointer: fields and titles; numbers have a format."""
    more = {"type": "quantitative"} | ({"format": form} if form else {})
    return [{"field": field, "title": title} | (more if form else {}) for field, title in fields]


def zero_line() -> Spec:
    """Return the layer of a vertical line at 0."""
    return {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": GREY},
        "encoding": {"x": quantity("zero", "")},
    }


_SQUEEZED = 3  # times as wide an axis would be with the outliers as without
_SEEN = 0.04  # of an axis: a wider interval can be seen
_OUT = 4  # of so many rows one can be an outlier, at most
_ROOM = 0.04  # of the axis, beyond its rows


class Window(NamedTuple):
    """The part of an axis that a chart shows, and the rows that reach beyond it."""

    scale: Spec
    beyond: Sequence[Mapping[str, Any]]

    def layers(self, x: Spec) -> list[Spec]:
        """Return the layers of the arrows that stand where rows reach beyond the axis."""
        mark = {"type": "point", "filled": True, "size": 90, "opacity": 1, "color": ORANGE}
        return [
            {
                "transform": [{"filter": f"datum.side == '{side}'"}],
                "mark": mark | {"shape": f"triangle-{side}"},
                "encoding": {"x": x | {"field": "edge"}},
            }
            for side in sorted({row["side"] for row in self.beyond})
        ]

    def describe(self, name: str) -> str:
        """Return the sentence on the rows that reach beyond the axis, none where none does."""
        if not self.beyond:
            return ""
        named = name_some([str(row[name]) for row in self.beyond])
        return f" Beyond the axis, marked by an arrow: {named}."


def find_window(rows: Sequence[dict[str, Any]], *, zero: bool = False) -> Window:
    """Return the part of the axis that shows the rows, without those that would squeeze it.

    The fields of a row are `value`, and `low` and `high` where it has them. A row that reaches
    beyond gets the ends of the axis instead, and no value that is not on it, and the fields `edge`
    and `side`, where its arrow stands. They are a quarter of the rows at most, and only where the
    axis would be three times as wide with them, and intervals hard to see. With `zero` it is shown,
    too.

    >>> rows = [{"value": v, "low": v - 20, "high": v + 20} for v in (60, 40, 10, -2900)]
    >>> window = find_window(rows)
    >>> window.scale["domain"], window.beyond == [rows[-1]], rows[-1]["value"], rows[-1]["side"]
    ([-14, 84], True, None, 'left')
    """
    kept = left = [*rows]
    for _ in range(len(rows) // _OUT):
        left = min(([*left[:n], *left[n + 1 :]] for n in range(len(left))), key=_width)
        if _width(kept) >= _SQUEEZED * _width(left) > 0:
            kept = left
    if len(kept) == len(rows) or _typical(rows) > _SEEN * _width(rows):
        return Window({"zero": zero}, [])
    ends = [*_ends(kept), *([0.0] if zero else [])]
    room = _ROOM * (max(ends) - min(ends))
    low, high = math.floor(min(ends) - room), math.ceil(max(ends) + room)
    beyond = [row for row in rows if min(_ends([row])) < low or max(_ends([row])) > high]
    for row in beyond:
        row["side"] = "left" if min(_ends([row])) < low else "right"
        row["edge"] = low if row["side"] == "left" else high
        row["value"] = row["value"] if low <= row["value"] <= high else None
        for field in {"low", "high"} & row.keys():
            row[field] = min(max(row[field], low), high)
    return Window({"domain": [low, high], "nice": False}, beyond)


_FIELDS = {"value", "low", "high"}


def _typical(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the median width of the intervals."""
    return sorted(_width([row]) for row in rows)[len(rows) // 2]


def _ends(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    return [row[field] for row in rows for field in sorted(_FIELDS & row.keys())]


def _width(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return how wide an axis has to be for some rows."""
    ends = _ends(rows)
    return max(ends) - min(ends) if ends else 0.0
