"""Make tables and Vega-Lite charts, plain data, from the rows of DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from arena.insight.table_columns import Column, TableColumns
from arena.reports.blocks import Table

if TYPE_CHECKING:
    import pandas as pd

Spec: TypeAlias = dict[str, Any]

WIN_COLOURS: Mapping[str, str] = {
    "City": "#e69f00",
    "points": "#0072b2",
    "tie-break": "#56b4e9",
    "forfeit": "#8c959f",
}
"""The colour of each win type, as in the pages' styles (Okabe and Ito 2008)."""

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#808890"
STEP = 24
"""Pixels of a row."""

MOST_BOTS = 40
"""Bots in a chart, the first ones of the standings: more rows cannot be told apart."""

ALL = "all bots "
"""Stands for all bots together in tables and choices; a label does not end with a space."""

_LABEL = 120

MOST_ROWS = 1_600
"""Rows of a table on the page: those of 40 bots against each other. A file has all of them."""

MOST_FOLDED = 300
"""Rows of a folded table, which a chart shows, too: with more a page of 40 bots has over 3 MB."""


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
    shown, most = columns or table.shown, MOST_FOLDED if folded else MOST_ROWS
    rows = plain_rows(frame.iloc[:most], [column.name for column in shown])
    name, note = table.file.removesuffix(".csv"), note_of(len(frame), table.file, most)
    return Table(name, caption, shown, rows, note=note, folded=folded)


def note_of(rows: int, file: str, most: int = MOST_ROWS) -> str:
    """Return what is said below a table that has more rows than a page shows."""
    return f"The first {most:,} of {rows:,} rows; {file} has all of them." if rows > most else ""


def interval_layers(x: Spec, mark: Mapping[str, Any] | None = None) -> list[Spec]:
    """Return the layers of numbers, each on the bar of its 95 % interval.

    The fields of a row are `value`, `low` and `high`; one without ends has a bar of no length.
    `mark` is what stands for the number: a point unless it says otherwise.
    """
    point = {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": BLUE}
    return [
        {
            "transform": [_end_or_value("low"), _end_or_value("high")],
            "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55, "color": BLUE},
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
