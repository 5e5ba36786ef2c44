"""Write a report as one HTML page that works offline, and the list of runs beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import starmap
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from markupsafe import Markup
from markupsafe import escape as escape_html

from arena.entries.file import open_file
from arena.errors import ArenaError, InputError, escape, not_installed
from arena.reports.blocks import Cell, Chart, Report, Table, read_sentence, to_markdown, write_cell
from arena.reports.charts import STEP, Spec, with_names
from arena.store.folder import MANIFEST, REPORT_HTML, REPORT_MARKDOWN, write_text
from arena.store.html_page import SCRIPTS, STYLES, cache_folder, frame, render, static
from arena.tables.summary import Names
from arena.tables.table_columns import Column, Kind

INDEX: Final = "index.html"
_HOME: Final = "results"  # a folder of this name gets a list by itself
_TITLE: Final = "Runs of District Noir Arena"
_MOST: Final = 500  # rows
_BEGINNING: Final = 1 << 14  # bytes of a file that are read


class Row(NamedTuple):
    """A run: when it was written, its folder's name, the sentence of its report, and its page."""

    written: str
    name: str
    sentence: str
    link: str


def renew_index(run: Path) -> None:
    """List the runs beside this one in a page of the folder in which it is.

    Only a folder called `results` gets such a page, or one that has it already. Another file
    of that name is not touched, and nothing that goes wrong is said: the run has its own report.
    """
    folder = Path(os.path.realpath(run)).parent
    page = folder / INDEX
    with suppress(OSError, ArenaError):
        is_new = folder.name == _HOME and not os.path.lexists(page)
        if is_new or f"<title>{_TITLE}</title>" in _read(page):
            rows = [*_list_rows(folder)]
            write_text(page, render("arena.reports/index.html", title=_TITLE, rows=rows))


def _list_rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of the folders with a report, the last written first."""
    written = {path: _find_time(path) for path in folder.iterdir() if not path.is_symlink()}
    found = [path for path, time in written.items() if time and path.name[:1] != "."]
    for path in sorted(found, key=lambda path: (-written[path], path.name))[:_MOST]:
        page = REPORT_HTML if os.path.isfile(path / REPORT_HTML) else REPORT_MARKDOWN
        with suppress(OSError, ArenaError):
            sentence = read_sentence(_read(path / REPORT_MARKDOWN))
            when = f"{datetime.fromtimestamp(written[path], UTC):%Y-%m-%d %H:%M}"
            link = f"./{quote(os.fsencode(path.name))}/{page}"
            yield Row(when, escape(path.name), escape(sentence), link)


def _find_time(path: Path) -> float:
    """Return when a run was written, 0 for a folder without a report."""
    if not os.path.isfile(path / REPORT_MARKDOWN):
        return 0.0
    is_run = os.path.isfile(path / MANIFEST)
    return os.path.getmtime(path / (MANIFEST if is_run else REPORT_MARKDOWN))


def _read(path: Path) -> str:
    """Return the beginning of a regular file; raises InputError for any other."""
    with open_file(path, links=False) as file:
        return file.read(_BEGINNING).decode("utf-8", "replace")


FIRST, FIRST_FOLDED = 50, 20
"""Rows that are written as HTML, of a table that is open and of one that is folded."""

_NAME, _WRAPPED = 60, 24  # characters of the longest label, and of a name that is one line
_WHOLE = {"bots", "runs"}  # tables that say which bots there are


def write_rows(table: Table, names: Names) -> Markup:
    """Return the first rows, built column by column: a template takes three times as long.

    Labels have short names, but in the tables that say which bots there are.
    """
    first = table.rows[: _count_first(table)]
    if not first:
        return Markup()
    columns = [
        _cells(column, values, _attributes(table, number), _find_short(table, names))
        for number, (column, values) in enumerate(
            zip(table.columns, zip(*first, strict=True), strict=True)
        )
    ]
    cells = columns[table.key]
    for number, link in enumerate(table.links[: len(first)]):
        if link:
            tag, _, text = cells[number].partition(">")
            cells[number] = f'{tag}><a href="{escape_html(_address(link))}">{text}</a>'
    return Markup("\n".join([f"<tr>{''.join(cells)}" for cells in zip(*columns, strict=True)]))


def find_rest(table: Table, names: Names) -> dict[str, Any]:
    """Return the remaining rows as their cells, and the data that belong to all rows.

    A cell is its text, or a short name and the label, or a rounded text and the exact number.
    `links` are the targets of the names, and `more` the texts that rows open to.
    """
    datum = partial(_datum, _find_short(table, names))
    kinds = [column.kind for column in table.columns]
    rest = table.rows[_count_first(table) :]
    found: dict[str, Any] = {
        "rows": [[*starmap(datum, zip(row, kinds, strict=True))] for row in rest],
        "links": [link and _address(link) for link in table.links],
        "more": [*table.more],
    }
    return {name: values for name, values in found.items() if values}


def _count_first(table: Table) -> int:
    return FIRST_FOLDED if table.folded else FIRST


def _address(link: str) -> str:
    return link if link.startswith("./") else f"#{link}"


def _find_short(table: Table, names: Names) -> Mapping[Cell, str]:
    """Return the short names of the labels that have another one in a table."""
    if table.name in _WHOLE:
        return {}
    return {label: name for label, name in names.short.items() if name != label}


def _datum(short: Mapping[Cell, str], value: Cell, kind: Kind) -> str | list[str | float]:
    if kind == "text" and value in short:
        return [short[value], str(value)]
    text = write_cell(value, kind)
    return [text, value] if isinstance(value, int | float) and kind != "count" else text


def _attributes(table: Table, number: int) -> str:
    """Return the attributes of a column's cells that do not depend on their contents."""
    is_extra = table.few and table.columns[number].name not in table.few
    shape = " class=extra" if is_extra else ""
    return f' scope="row"{shape}' if number == table.key else shape


def _cells(
    column: Column, values: Sequence[Cell], attributes: str, short: Mapping[Cell, str]
) -> list[str]:
    """Return the cells of a column; rounded and short ones have the exact value as an attribute."""
    shown = [short.get(value, value) for value in values] if column.kind == "text" else values
    texts = [_escape_cell(value, column.kind) for value in shown]
    rows = [*zip(values, texts, strict=True)]
    if "scope" in attributes:
        return [f"<th{attributes}{_title(value, short)}>{text}" for value, text in rows]
    if column.kind == "count":
        return [f"<td{attributes}>{text}" for text in texts]
    if column.kind == "text":
        extra = " extra" if attributes else ""
        return [
            f'<td class="{_shape(value)}{extra}"{_title(value, short)}>{text}'
            for value, text in rows
        ]
    if column.kind == "code":
        return [f"<td class=mono><code>{text}</code>" if text else "<td>" for text in texts]
    return [
        f'<td{attributes} data-v="{value}">{text}'
        if isinstance(value, int | float)
        else f"<td{attributes}>{text}"
        for value, text in rows
    ]


def _shape(value: Cell) -> str:
    """Return the class of a text: a name, on one line, or prose, which is wrapped."""
    return "prose" if isinstance(value, str) and len(value) > _NAME else "words"


def _title(value: Cell, short: Mapping[Cell, str]) -> str:
    """Return the attributes with the whole text of a name that is shortened, or may be wrapped."""
    if value in short:
        return f' title="{escape_html(value)}" data-v="{escape_html(value)}"'
    is_long = isinstance(value, str) and _WRAPPED < len(value) <= _NAME
    return f' title="{escape_html(value)}"' if is_long else ""


def _escape_cell(value: Cell, kind: Kind) -> str:
    """Return a cell as HTML; numbers, which are most cells, need no escaping but their sign."""
    text = write_cell(value, kind)
    return str(escape_html(text)) if isinstance(value, str) or kind == "chance" else text


_TALL = 600  # pixels of a chart
_PACKAGE = "vl-convert-python"
_SCRIPTS = tuple(f"arena.reports/{name}.js" for name in ("copying", "tables", "charts", "report"))
_STYLES = (
    *STYLES,
    "arena.reports/report.css",
    "arena.reports/ladder.css",
    "arena.reports/lead.css",
)


def to_html(report: Report) -> str:
    """Return a report as one HTML file, which contains its charts, tables and replays."""
    names = report.names
    replays = {replay.id: replay.data for replay in report.replays()}
    scripts = (*SCRIPTS, *_SCRIPTS) if replays else _SCRIPTS
    return render(
        "arena.reports/report.html",
        scripts=scripts,
        styles=_STYLES,
        libraries=[_with_notices(chart_bundle())] if any(report.charts()) else [],
        title=report.title,
        report=report,
        kind_of=lambda block: type(block).__name__,
        rows_of=partial(write_rows, names=names),
        rest_of=partial(find_rest, names=names),
        spec_of=lambda chart: with_names(chart.spec, names),
        names=names,
        is_tall=any(_is_tall(chart) for chart in report.charts()),
        replays=replays,
    )


def _with_notices(bundle: str) -> str:
    """Return the script with a comment that names its authors and licences."""
    return f"/*!\n{static('arena.reports/notices.txt')}*/\n{bundle}"


def _is_tall(chart: Chart) -> bool:
    """Return whether a chart is tall: on paper three of them are printed side by side."""
    height = chart.spec.get("height")
    return isinstance(height, int) and height > _TALL


def write_reports(path: Path, report: Report) -> None:
    """Write report.html and report.md into a folder, and renew the list of runs beside it.

    If the library of the charts is missing, a page of other games is removed.
    """
    page, text = path / REPORT_HTML, path / REPORT_MARKDOWN
    facts = to_markdown(report)
    if not find_lack():
        write_text(page, to_html(report))
    elif text.is_file() and text.read_text(encoding="utf-8") != facts:
        page.unlink(missing_ok=True)
    write_text(text, facts)
    renew_index(path)


def find_lack() -> str:
    """Return how to install the library of the charts, or "" if it is installed."""
    return "" if find_spec("vl_convert") else not_installed(_PACKAGE, "report")


@cache
def chart_bundle() -> str:
    """Return the script that defines `vegaEmbed`, 0.9 MB.

    Making it takes 2 s, so it is kept in the user's cache folder. Raises InputError if vl-convert
    is not installed.
    """
    if lack := find_lack():
        raise InputError(f"a page with charts: {lack}")
    kept = cache_folder() / f"charts-{version(_PACKAGE)}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed")
    with suppress(OSError, InputError):  # then it is made again next time
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(kept, bundle)
    return bundle


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
    charts = [*_draw_charts(report)] if not find_lack() else []
    for most in range(len(charts), -1, -1):
        page = render(
            "arena.reports/brief.html",
            styles=["arena.reports/report.css"],
            title=report.title,
            report=report,
            charts=charts[:most],
            table=_first_rows(report),
            rows_of=partial(write_rows, names=report.names),
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


def _draw_charts(report: Report) -> Iterator[tuple[Chart, Markup]]:
    """Yield the first charts as pictures, without those that are too large."""
    import vl_convert

    left = _FOR_CHARTS * MOST_BYTES
    for chart in [*report.charts()][:_MOST_CHARTS]:
        spec: Spec = {**with_names(_first_of(chart.spec), report.names), "config": _CONFIG}
        if spec["width"] == "container":
            spec["width"] = _WIDE
        picture = vl_convert.vegalite_to_svg(spec)
        left -= len(picture)
        if left > 0:
            yield chart, Markup(picture)
