"""Make tables and Vega-Lite charts, plain data, from the rows of tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from arena.errors import name_some
from arena.reports.blocks import Cell, Table
from arena.store.columns import Columns, is_known
from arena.store.folder import home_of
from arena.tables.summary import Names, names_on_page
from arena.tables.table_columns import Column, TableColumns

if TYPE_CHECKING:
    import pandas as pd

Spec: TypeAlias = dict[str, Any]

WIN_COLOURS: Mapping[str, str] = {
    "City": "#b86e00",
    "points": "#0b4f86",
    "tie-break": "#3a93cb",
    "forfeit": "#6f7882",
}
"""The colour of each win type.

All colours of charts have a contrast of at least 3 on white, and can be distinguished by readers
with red-green blindness (after Okabe and Ito 2008). The dark theme uses others (`charts.js`).
"""

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6f7882"
ELO_AXIS = {"format": "d", "tickMinStep": 1}
"""The axis of an Elo: whole numbers, 1700 and not 1,700, as in tables."""

STEP = 24
"""The height of a row in pixels."""

MOST_BOTS = 40
"""The most bots in a chart, the first of the standings: more rows would be illegible."""

_SELDOM = {"draws", "forfeit_wins", "forfeits"}

ALL = "all bots "
"""The name of all bots together in tables and choices; no label ends with a space."""

_COUPLE = 34  # letters of a name that has the names of two bots
_MOST = 260  # pixels; no name has so many

MOST_ROWS = 1_000
"""The most rows of a table on the page, enough for 40 bots against each other."""


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
    return nominal(field, sort=[*labels], title=None)


def nominal(field: str, **more: Any) -> Spec:
    """Return an encoding channel of nominal type."""
    return {"field": field, "type": "nominal", **more}


def quantity(field: str, title: str | None, **more: Any) -> Spec:
    """Return an encoding channel of quantitative type."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def choice(name: str, title: str, options: Sequence[str]) -> Spec:
    """Return a parameter that the reader selects from `options`; it begins with the first."""
    bind = {"input": "select", "options": [*options], "name": title}
    return {"name": name, "value": options[0], "bind": bind}


def with_names(spec: Spec, names: Names) -> Spec:
    """Return a specification whose axes and choices show the short names of bots.

    Its rows keep the labels, so that a tooltip has them whole. A specification without labels that
    have another name is returned as it is.
    """
    shown = _find_shown(_find_texts(spec), names)
    if not shown:
        return spec
    pairs = {"whole_names": [*shown], "short_names": [*shown.values()]}
    own = [*spec.get("params", []), *({"name": key, "value": of} for key, of in pairs.items())]
    made: Spec = _rename(spec | {"params": own}, shown)
    return made


_NAMED = "indexof(whole_names, {0}) < 0 ? {0} : short_names[indexof(whole_names, {0})]"


def _find_texts(part: Any) -> Iterator[str]:
    """Yield the texts of axes and choices."""
    if isinstance(part, list):
        for one in part:
            yield from _find_texts(one)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key in ("sort", "options") and isinstance(value, list):
                yield from map(str, value)
            elif key != "data":
                yield from _find_texts(value)


def _find_shown(texts: Iterable[str], names: Names) -> dict[str, str]:
    """Return the texts that have another name: labels, and those of several in a row."""
    made = {text: " - ".join(map(names.of, text.split(" - "))) for text in texts}
    made |= {text: names.of(text) for text in made if text in names.short}
    made = {text: name for text, name in made.items() if name != text}
    fitted = names_on_page(made.values(), _COUPLE)
    return {text: fitted.of(name) for text, name in made.items()}


def _rename(part: Any, shown: Mapping[str, str]) -> Any:
    if isinstance(part, list):
        return [_rename(one, shown) for one in part]
    if not isinstance(part, dict):
        return part
    made = {key: of if key == "data" else _rename(of, shown) for key, of in part.items()}
    if isinstance(sort := part.get("sort"), list) and not shown.keys().isdisjoint(sort):
        more = {"labelExpr": _NAMED.format("datum.value"), "labelLimit": _MOST}
        made["axis"] = made.get("axis", {}) | more
    if part.get("input") == "select":
        made["labels"] = [shown.get(text, text) for text in part["options"]]
    if part.get("text") == nominal("bot"):
        made["text"] = {"value": {"expr": _NAMED.format("datum.bot")}}
    return made


def colours(of: Mapping[str, str]) -> Spec:
    """Return the scale that maps names to colours."""
    return {"domain": [*of], "range": [*of.values()]}


def plain_rows(table: Columns | pd.DataFrame, columns: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the rows of some columns as plain values; an empty cell is None."""
    return Columns.of(table).rows(columns)


def with_all(table: Columns) -> Columns:
    """Return a table in which the rows of all bots together have their name."""
    return table.put(bot=np.where(is_known(table["bot"]), table["bot"], ALL))


def frame_table(
    table: TableColumns,
    caption: str,
    frame: Columns | pd.DataFrame,
    columns: Sequence[Column] | None = None,
    *,
    folded: bool = False,
) -> Table:
    """Return a table of these rows, named as its file; `columns` are the columns shown.

    Rows beyond the page's limit are only in the file, as are columns of draws and forfeits where
    there were none.
    """
    whole = Columns.of(frame)
    shown = [
        column
        for column in columns or table.shown
        if column.name not in _SELDOM or whole[column.name].any()
    ]
    rows = whole.where(slice(MOST_ROWS)).rows([column.name for column in shown])
    name, note = table.file.removesuffix(".csv"), note_of(len(whole), table.file)
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
    """Return a table of the first rows; if there are more, a note names the file with all."""
    note = note_of(len(rows), file)
    return Table(name, caption, columns, rows[:MOST_ROWS], note=note, folded=folded)


def note_of(rows: int, file: str) -> str:
    """Return the note below a table that has more rows than a page shows."""
    if rows <= MOST_ROWS:
        return ""
    where = home_of(Path(), file).as_posix()
    return f"The first {MOST_ROWS:,} of {rows:,} rows; {where} has all of them."


def interval_layers(x: Spec, mark: Mapping[str, Any] | None = None) -> list[Spec]:
    """Return the layers that draw numbers, each on the bar of its 95 % interval.

    The fields of a row are `value`, `low` and `high`; the bar of a row without ends has no length.
    `mark` is the mark of the number, by default a point.
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
    """Return the transform that gives a bar this end, even if no row of the chart has it."""
    known = "isValid(datum.low) && isValid(datum.high)"
    return {"calculate": f"{known} ? datum.{end} : datum.value", "as": end}


def tips(*fields: tuple[str, str], form: str = "") -> list[Spec]:
    """Return the tooltip of a row from pairs of field and title; numbers have a format."""
    more = {"type": "quantitative"} | ({"format": form} if form else {})
    return [{"field": field, "title": title} | (more if form else {}) for field, title in fields]


def zero_line() -> Spec:
    """Return the layer of a vertical line at 0."""
    return {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": GREY},
        "encoding": {"x": quantity("zero", "")},
    }


_SQUEEZED = 3  # how many times as wide the axis is with the outliers
_SEEN = 0.04  # of an axis: wider intervals are visible
_OUT = 4  # at most one row in this many is an outlier
_ROOM = 0.04  # of the axis, beyond its rows


class Window(NamedTuple):
    """The range of an axis that a chart shows, and the rows that extend beyond it."""

    scale: Spec
    beyond: Sequence[Mapping[str, Any]]

    def layers(self, x: Spec) -> list[Spec]:
        """Return the layers with the arrows of rows that extend beyond the axis."""
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
        """Return the sentence on the rows that extend beyond the axis, or "" without any."""
        if not self.beyond:
            return ""
        named = name_some([str(row[name]) for row in self.beyond])
        return f" Beyond the axis, marked by an arrow: {named}."


def find_window(rows: Sequence[dict[str, Any]], *, zero: bool = False) -> Window:
    """Return the range of the axis for the rows, without outliers that would squeeze it.

    The fields of a row are `value`, and optionally `low` and `high`. In a row that extends beyond
    the axis, ends are clipped to the axis, a value off the axis is removed, and the fields `edge`
    and `side` are set to the place of its arrow. At most a quarter of the rows are treated so, and
    only if they would make the axis three times as wide, and intervals hard to see. So is a row
    without an end (None), which has no limit. With `zero` the axis includes 0.

    >>> rows = [{"value": v, "low": v - 20, "high": v + 20} for v in (60, 40, 10, -2900)]
    >>> window = find_window(rows)
    >>> window.scale["domain"], window.beyond == [rows[-1]], rows[-1]["value"], rows[-1]["side"]
    ([-14, 84], True, None, 'left')
    >>> rows = [{"value": 90, "low": 70, "high": None}, {"value": 10, "low": 0, "high": 20}]
    >>> find_window(rows).scale["domain"], rows[0]["high"], rows[0]["side"]
    ([-4, 94], 94, 'right')
    """
    kept: Sequence[dict[str, Any]] = rows
    left = [*rows]
    for _ in range(len(rows) // _OUT):
        left = min(([*left[:n], *left[n + 1 :]] for n in range(len(left))), key=_width)
        if _width(kept) >= _SQUEEZED * _width(left) > 0:
            kept = left
    if len(kept) == len(rows) or _typical(rows) > _SEEN * _width(rows):
        kept = rows
        if all(row.get(field, 0) is not None for row in rows for field in _FIELDS):
            return Window({"zero": zero}, [])
    ends = [*_ends(kept), *([0.0] if zero else [])]
    room = _ROOM * (max(ends) - min(ends) or 1)
    low, high = math.floor(min(ends) - room), math.ceil(max(ends) + room)
    beyond = []
    for row in rows:
        least, most = _reach(row)
        if low <= least and most <= high:
            continue
        beyond.append(row)
        row["side"] = "left" if least < low else "right"
        row["edge"] = low if row["side"] == "left" else high
        row["value"] = row["value"] if low <= row["value"] <= high else None
        for field, end in {"low": least, "high": most}.items():
            if field in row:
                row[field] = min(max(end, low), high)
    return Window({"domain": [low, high], "nice": False}, beyond)


_FIELDS = {"value", "low", "high"}


def _typical(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the median width of the intervals."""
    return sorted(_width([row]) for row in rows)[len(rows) // 2]


def _ends(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    known = (row[field] for row in rows for field in sorted(_FIELDS & row.keys()))
    return [end for end in known if end is not None]


def _reach(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of a row; an unknown one is infinite."""
    least = -math.inf if row.get("low", 0) is None else min(_ends([row]))
    return least, math.inf if row.get("high", 0) is None else max(_ends([row]))


def _width(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the width of the axis that shows all of some rows."""
    ends = _ends(rows)
    return max(ends) - min(ends) if ends else 0.0
