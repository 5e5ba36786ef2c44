"""Write a report as one HTML page that works offline, and the list of runs beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup
from markupsafe import escape as escape_html

from arena.errors import ArenaError, escape
from arena.files import open_file
from arena.replays.html_page import SCRIPTS, STYLES, frame, render
from arena.reports.axis import swatch, write_ticks
from arena.reports.blocks import Cell, Report, Section, Table, read_sentence, write_cell
from arena.reports.charts import Chart, draw
from arena.store.column_titles import Column, Kind
from arena.store.folder import MANIFEST, REPORT_HTML, REPORT_MARKDOWN, write_text
from arena.tables.standings_text import Names

INDEX: Final = "index.html"
_HOME: Final = "results"  # a folder of this name gets a list by itself
_TITLE: Final = "Runs of District Noir Arena"
_MOST: Final = 500  # rows
_BEGINNING: Final = 1 << 14  # bytes of a file that are read
_RUNS: Final = (
    Column("run", "Run"),
    Column("written", "Written (UTC)", "code"),
    Column("sentence", "Its first sentence"),
)


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
            rows = {link: row for link, *row in _list_rows(folder)}
            table = Table("runs", "Runs", _RUNS, [*rows.values()], [*rows])
            section = Section("runs", "The last written first", [table])
            write_text(page, to_html(Report(_TITLE, [_TITLE], [section])))


def _list_rows(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield the link and the cells of each folder with a report, the last written first."""
    written = {path: _find_time(path) for path in folder.iterdir() if not path.is_symlink()}
    found = [path for path, time in written.items() if time and path.name[:1] != "."]
    for path in sorted(found, key=lambda path: (-written[path], path.name))[:_MOST]:
        page = REPORT_HTML if os.path.isfile(path / REPORT_HTML) else REPORT_MARKDOWN
        with suppress(OSError, ArenaError):
            sentence = read_sentence(_read(path / REPORT_MARKDOWN))
            when = f"{datetime.fromtimestamp(written[path], UTC):%Y-%m-%d %H:%M}"
            link = f"./{quote(os.fsencode(path.name))}/{page}"
            yield link, escape(path.name), when, escape(sentence)


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


_NAME, _WRAPPED = 60, 24  # characters of the longest label, and of a name that is one line
_WHOLE = {"bots", "runs"}  # tables that say which bots there are


def write_rows(table: Table, names: Names) -> Markup:
    """Return the rows, built column by column: a template takes three times as long.

    Labels have short names, but in the tables that say which bots there are.
    """
    if not table.rows:
        return Markup()
    short: dict[Cell, str] = {}
    if table.name not in _WHOLE:
        short |= {label: name for label, name in names.short.items() if name != label}
    columns = [
        _cells(column, values, short, is_key=number == table.key)
        for number, (column, values) in enumerate(
            zip(table.columns, zip(*table.rows, strict=True), strict=True)
        )
    ]
    cells = columns[table.key]
    for number, link in enumerate(table.links):
        if link:
            tag, _, text = cells[number].partition(">")
            address = link if link.startswith("./") else f"#{link}"
            cells[number] = f'{tag}><a href="{escape_html(address)}">{text}</a>'
    return Markup("\n".join([f"<tr>{''.join(cells)}" for cells in zip(*columns, strict=True)]))


def _cells(
    column: Column, values: Sequence[Cell], short: Mapping[Cell, str], *, is_key: bool
) -> list[str]:
    """Return the cells of a column; rounded and short ones have the exact value as an attribute."""
    shown = [short.get(value, value) for value in values] if column.kind == "text" else values
    texts = [_escape_cell(value, column.kind) for value in shown]
    rows = [*zip(values, texts, strict=True)]
    if is_key:
        return [f'<th scope="row"{_title(value, short)}>{text}' for value, text in rows]
    if column.kind == "count":
        return [f"<td>{text}" for text in texts]
    if column.kind == "text":
        return [f"<td class={_shape(value)}{_title(value, short)}>{text}" for value, text in rows]
    if column.kind == "code":
        return [f"<td class=mono><code>{text}</code>" if text else "<td>" for text in texts]
    return [
        f'<td data-v="{value}">{text}' if isinstance(value, int | float) else f"<td>{text}"
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


_SCRIPTS = ("arena.reports/report.js",)
_STYLES = tuple(f"arena.reports/{name}.css" for name in ("report", "charts", "first_screen"))


def to_html(report: Report) -> str:
    """Return a report as one HTML file, which contains its charts, tables and replays."""
    replays = {replay.id: replay.data for replay in report.replays()}
    shown = [section for section in report.sections if is_shown(section)]
    tables = [*_find_tables(report, folded=True)]
    return render(
        "arena.reports/report.html",
        scripts=(*SCRIPTS, *_SCRIPTS) if replays else _SCRIPTS,
        styles=(*STYLES, *_STYLES) if replays else _STYLES,
        sections=[section for section in shown if not section.folded],
        tables=tables,
        links={table.name for table in (*tables, *_find_tables(report, folded=False))},
        folded=[section for section in shown if section.folded],
        kind_of=_name_kind,
        replays=replays,
        **_data(report),
    )


def is_shown(section: Section) -> bool:
    """Return whether a page shows a section where it is: not if it has only folded tables."""
    blocks = section.blocks
    return any(section.folded or not isinstance(b, Table) or not b.folded for b in blocks)


def _find_tables(report: Report, *, folded: bool) -> Iterator[Table]:
    """Yield the tables of a page that are behind "All tables", or those in their places."""
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table) and not block.apart:
                is_folded = block.folded and not section.folded
                yield from [block] * (is_folded == folded)


def _name_kind(block: object) -> str:
    return "Chart" if isinstance(block, Chart) else type(block).__name__


def _data(report: Report) -> dict[str, Any]:
    """Return what the templates of a report use."""
    names = report.names
    return {
        "title": report.title,
        "report": report,
        "names": names,
        "rows_of": partial(write_rows, names=names),
        "draw": partial(draw, names=names),
        "swatch": swatch,
        "write_ticks": write_ticks,
    }


MOST_BYTES: Final = 100_000
"""The most bytes of a cell in the notebook's file."""

_MOST_ROWS = 20
_HEIGHT = "640px"


def to_frame(report: Report) -> str:
    """Return a frame of 100 kB at most, with the beginning of a report and without scripts."""
    opening = report.opening
    if opening and (ladder := opening.ladder):
        left = ladder.left + max(0, len(ladder.rungs) - _MOST_ROWS)
        ladder = replace(ladder, rungs=ladder.rungs[:_MOST_ROWS], left=left)
        report = replace(report, opening=replace(opening, ladder=ladder))
    for table in (_first_rows(report), None):
        shown = frame_of(report, table=table)
        if len(shown.encode()) <= MOST_BYTES:
            break
    return shown


def frame_of(report: Report, table: Table | None = None, chart: Chart | None = None) -> str:
    """Return a frame with the first screen of a report and a table, or only with a chart."""
    return frame(brief_page(report, table, chart), report.title, _HEIGHT)


def brief_page(report: Report, table: Table | None = None, chart: Chart | None = None) -> str:
    """Return a page without scripts: the first screen and a table, or only a chart."""
    data = _data(report)
    return render(
        "arena.reports/brief.html", styles=_STYLES, table=table, chart=chart, links=(), **data
    )


def _first_rows(report: Report) -> Table | None:
    """Return the first table that is not folded, with its first rows only."""
    table = next((one for one in report.tables() if not one.folded), None)
    if table is None:
        return None
    more = len(table.rows) > _MOST_ROWS
    note = f"The first {_MOST_ROWS} of {len(table.rows):,} rows." if more else ""
    return replace(table, rows=table.rows[:_MOST_ROWS], links=(), note=note)
