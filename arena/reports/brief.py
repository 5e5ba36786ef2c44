"""Show the beginning of a report in a notebook: the summary, two charts, and the standings.

The whole page has at least 1.4 MB, which a notebook would store in its file for each cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from markupsafe import Markup

from arena.records.html_page import frame, render
from arena.reports.blocks import Chart, Report, Table
from arena.reports.charts import STEP, Spec
from arena.reports.html import find_lack
from arena.reports.table_rows import write_rows

MOST_BYTES: Final = 100_000
"""The most bytes of a cell in the notebook's file."""

_MOST_CHARTS, _MOST_ROWS = 2, 20
_FOR_CHARTS = 0.75  # of the bytes; the rest is the table and the text
_WIDE = 520  # pixels of a chart that is as wide as the page
_HEIGHT = "640px"
_INK = {"labelColor": "currentColor", "titleColor": "currentColor"}
_LINES = {"tickColor": "currentColor", "domainColor": "currentColor", "gridOpacity": 0.3}
_CONFIG: Final[Spec] = {
    "background": None,
    "view": {"stroke": None},
    "axis": {**_INK, **_LINES},
    "axisQuantitative": {"labelOverlap": "greedy", "labelSeparation": 8},
    "legend": _INK,
    "text": {"color": "currentColor"},
}


def to_frame(report: Report) -> str:
    """Return a frame of 100 kB at most, with the beginning of a report and without scripts.

    It has charts only if their library is installed.
    """
    charts = [*_drawn(report)] if not find_lack() else []
    for most in range(len(charts), -1, -1):
        page = render(
            "arena.reports/brief.html",
            styles=["arena.reports/report.css"],
            title=report.title,
            report=report,
            charts=charts[:most],
            table=_first_rows(report),
            rows_of=write_rows,
        )
        shown = frame(page, report.title, _HEIGHT)
        if len(shown.encode()) <= MOST_BYTES:
            break
    return shown


def _first_rows(report: Report) -> Table | None:
    """Return the first table that is not folded, with its first rows and main columns only."""
    table = next((one for one in report.tables() if not one.folded), None)
    if table is None:
        return None
    rows = table.rows[:_MOST_ROWS]
    more = len(table.rows) - len(rows)
    note = f"The first {_MOST_ROWS} of {len(table.rows):,} rows." if more else ""
    return replace(table, rows=rows, links=(), more=(), note=note)


def _first_of(spec: Spec) -> Spec:
    """Return a chart that has a row for each value with its first rows only, others unchanged."""
    values, place = spec["data"]["values"], spec.get("encoding", {}).get("y", {})
    if len(values) <= _MOST_ROWS or spec.get("height") != STEP * len(values) or not place:
        return spec
    first = {**spec, "data": {"values": values[:_MOST_ROWS]}, "height": STEP * _MOST_ROWS}
    encoding = {**spec["encoding"], "y": {**place, "sort": place["sort"][:_MOST_ROWS]}}
    return {**first, "encoding": encoding}


def _drawn(report: Report) -> Iterator[tuple[Chart, Markup]]:
    """Yield the first charts as pictures, without those that are too large."""
    import vl_convert

    left = _FOR_CHARTS * MOST_BYTES
    for chart in [*report.charts()][:_MOST_CHARTS]:
        spec: dict[str, Any] = {**_first_of(chart.spec), "config": _CONFIG}
        if spec["width"] == "container":
            spec["width"] = _WIDE
        picture = vl_convert.vegalite_to_svg(spec)
        left -= len(picture)
        if left > 0:
            yield chart, Markup(picture)
