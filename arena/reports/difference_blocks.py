"""Make the tables and charts of differences, for comparisons and for ablations of rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arena.differences.claims import Shown
from arena.errors import name_some
from arena.reports.blocks import (
    Cell,
    Chart,
    Table,
    write_cell,
    write_interval,
)
from arena.reports.charts import (
    BLUE,
    GREY,
    STEP,
    Spec,
    chart,
    cut_table,
    find_window,
    interval_layers,
    nominal,
    plain_rows,
    quantity,
    tips,
    zero_line,
)
from arena.tables.table_columns import Kind, TableColumns

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 40
"""Rows of a chart; more cannot be told apart."""

SIGNIFICANT, NOT_SIGNIFICANT, NOT_TESTED = "significant", "not significant", "not tested"
"""What is said of a difference, by whether it is significant: True, False, None."""

_SHAPES = {SIGNIFICANT: "circle", NOT_SIGNIFICANT: "diamond", NOT_TESTED: "cross"}
_COLOURS = {SIGNIFICANT: BLUE, NOT_SIGNIFICANT: GREY, NOT_TESTED: GREY}
_ENDS = {"low": "difference_low", "high": "difference_high"}


def name_verdict(significant: bool | None) -> str:
    """Return what is said of a difference.

    >>> name_verdict(True), name_verdict(None)
    ('significant', 'not tested')
    """
    return NOT_TESTED if significant is None else SIGNIFICANT if significant else NOT_SIGNIFICANT


def name_significant(points: Sequence[Shown]) -> str:
    """Return which differences are significant, the first ones by their names.

    >>> from arena.statistics.intervals import Estimate
    >>> name_significant([Shown("a", Estimate(1, 0.5, 1.5), True), Shown("b", Estimate(0, -1, 1))])
    'significant: a'
    """
    names = [point.name for point in points if point.significant]
    return f"significant: {name_some(names)}" if names else "none is significant"


def difference_chart(
    points: Sequence[Shown], table: Table, named: tuple[str, str, str], what: str
) -> Iterator[Chart]:
    """Yield the chart of some differences; without one, nothing.

    `named` are its name, its title and the title of its axis; `what` says what is less what.
    """
    if not points:
        return
    name, title, axis = named
    cut = f" The {MOST_POINTS} clearest." if len(points) == MOST_POINTS else ""
    description = f"{what}, with 95 % intervals; {name_significant(points)}.{cut}"
    yield Chart(name, title, description, point_chart(points, axis, "change"), table.name)


def difference_table(
    named: tuple[str, str], of: TableColumns, frame: pd.DataFrame, factor: float
) -> Table:
    """Return a table of differences, times `factor`; `named` are its name and its caption."""
    frame = frame.rename(columns=_ENDS)
    for name in ("difference", *_ENDS.values()):
        frame[name] = (factor * frame[name]).round(2) + 0.0
    frame["sure"] = [name_verdict(sure) for sure in frame["sure"]]
    frame.loc[frame["difference"].isna(), "sure"] = None
    columns = [replace(column, name=_ENDS.get(column.name, column.name)) for column in of.shown]
    rows: list[Sequence[Cell]] = [*plain_rows(frame, [column.name for column in columns])]
    return cut_table(*named, columns, rows, of.file or "the table")


def point_chart(
    points: Sequence[Shown],
    title: str,
    kind: Kind,
    *,
    zero: bool = True,
) -> Spec:
    """Return a chart of points with their intervals, the first one on top.

    `title` is that of the axis. Differences have a line at `zero`; then the shape of a point says
    whether it is significant.
    """
    rows = [_row(point, kind) for point in points]
    window = find_window(rows, zero=zero)
    title = f"{title} (arrow: beyond the axis)" if window.beyond else title
    x = quantity("value", title, scale={"nice": True} | window.scale)
    layers = interval_layers(x)
    if not any("low" in row for row in rows):
        del layers[0]
    shown = [name for name in _SHAPES if any(row["verdict"] == name for row in rows)]
    if zero:
        for layer in layers:
            layer["encoding"]["color"] = _make_legend(shown, _COLOURS)
        layers[-1]["encoding"]["shape"] = _make_legend(shown, _SHAPES)
    layers += window.layers(x)
    order = [point.name for point in points]
    for layer in layers:
        layer["encoding"] |= {
            "y": nominal("name", sort=order, title=None, axis={"labelLimit": 170}),
            "tooltip": _TIPS if zero else _TIPS[:3],
        }
    layers = [zero_line(), *layers] if zero else layers
    return chart(rows, height=STEP * max(2, len(rows)), layer=layers)


def _row(point: Shown, kind: Kind) -> dict[str, Any]:
    value, low, high = point.estimate.cells
    row = {"name": point.name, "value": value, "text": write_cell(value, kind)}
    row["verdict"] = name_verdict(point.significant)
    if low is not None and high is not None:
        row |= {"low": low, "high": high, "interval": write_interval(low, high, kind)}
    return row


def _make_legend(shown: Sequence[str], by_name: Mapping[str, str]) -> Spec:
    """Return the channel of the verdicts that occur, with a legend for colour and shape at once."""
    scale = {"domain": [*shown], "range": [by_name[name] for name in shown]}
    return nominal("verdict", title=None, scale=scale, legend=_LEGEND)


_LEGEND: Spec = {"orient": "top", "direction": "vertical", "labelLimit": 240}
"""One below the other: beside each other they are wider than a telephone."""

_TIPS: list[Spec] = tips(
    ("name", "What"), ("text", "Value"), ("interval", "95 % interval"), ("verdict", "Verdict")
)
