"""Write a report as one HTML page that works offline, with the charts' scripts in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from markupsafe import Markup, escape

from arena.errors import InputError, not_installed
from arena.insight.table_columns import Kind
from arena.records.html_page import SCRIPTS, STYLES, frame, render
from arena.reports.blocks import Cell, Report, Table, write_cell
from arena.reports.markdown import to_markdown
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, replacing, write_text

_PACKAGE = "vl-convert-python"
_SCRIPTS = ("arena.reports/report.js", "arena.reports/profiles.js")
_NAME, _CUT = 60, 24  # characters of the longest label, and of a name that is always shown whole
_STYLES = (*STYLES, "arena.reports/report.css", "arena.reports/profiles.css")


def to_frame(report: Report, height: str) -> str:
    """Return a frame for a notebook with the report in it, which can run its own scripts only.

    Raises InputError where the library of its charts is not installed.
    """
    return frame(to_html(report), report.title, height)


def to_html(report: Report) -> str:
    """Return a report as one HTML file, with its charts, its tables and its replays in it."""
    replays = {replay.id: replay.data for replay in report.replays()}
    scripts = (*SCRIPTS, *_SCRIPTS) if replays else _SCRIPTS
    return render(
        "arena.reports/report.html",
        scripts=scripts,
        styles=_STYLES,
        libraries=[chart_bundle()] if any(report.charts()) else [],
        title=report.title,
        report=report,
        kind_of=lambda block: type(block).__name__,
        rows_of=_rows,
        key_of=_key,
        replays=replays,
    )


def write_reports(path: Path, report: Report) -> None:
    """Write report.html and report.md into a folder.

    Where the library of the charts is missing, a page of other games is removed.
    """
    page, text = path / REPORT_HTML, path / REPORT_MARKDOWN
    facts = to_markdown(report)
    if not find_lack():
        write_text(page, to_html(report))
    elif text.is_file() and text.read_text(encoding="utf-8") != facts:
        page.unlink(missing_ok=True)
    write_text(text, facts)


def _key(table: Table) -> int:
    """Return the number of the column that names a row: the first one with text."""
    return next((n for n, column in enumerate(table.columns) if column.kind == "text"), 0)


def _rows(table: Table) -> Markup:
    """Return the rows of a table, made by columns: a template takes three times as long."""
    if not table.rows:
        return Markup()
    key = _key(table)
    columns = [
        _cells(column.kind, values, is_key=number == key)
        for number, (column, values) in enumerate(
            zip(table.columns, zip(*table.rows, strict=True), strict=True)
        )
    ]
    for number, link in enumerate(table.links):
        if link:
            tag, _, text = columns[key][number].partition(">")
            address = link if link.startswith("./") else f"#{link}"
            columns[key][number] = f'{tag}><a href="{escape(address)}">{text}</a>'
    return Markup("\n".join([f"<tr>{''.join(cells)}" for cells in zip(*columns, strict=True)]))


def _cells(kind: Kind, values: Sequence[Cell], *, is_key: bool) -> list[str]:
    """Return the cells of a column; those that are rounded have the exact number, too."""
    texts = [_escaped(value, kind) for value in values]
    rows = [*zip(values, texts, strict=True)]
    if is_key:
        return [f'<th scope="row"{_title(value)}>{text}' for value, text in rows]
    if kind == "count":
        return [f"<td>{text}" for text in texts]
    if kind == "text":
        return [f"<td class={_shape(value)}{_title(value)}>{text}" for value, text in rows]
    if kind == "code":
        return [f"<td class=mono><code>{text}</code>" if text else "<td>" for text in texts]
    return [
        f'<td data-v="{value}">{text}' if isinstance(value, int | float) else f"<td>{text}"
        for value, text in rows
    ]


def _shape(value: Cell) -> str:
    """Return whether a text is a name, on one line, or prose, which is wrapped."""
    return "prose" if isinstance(value, str) and len(value) > _NAME else "words"


def _title(value: Cell) -> str:
    """Return the attribute that shows the whole of a name that may be cut."""
    is_long = isinstance(value, str) and _CUT < len(value) <= _NAME
    return f' title="{escape(value)}"' if is_long else ""


def _escaped(value: Cell, kind: Kind) -> str:
    """Return a cell as HTML; numbers have nothing to escape, and are most of the cells."""
    text = write_cell(value, kind)
    return str(escape(text)) if isinstance(value, str) else text


def find_lack() -> str:
    """Return what is missing for charts and the command that brings it, nothing if nothing is."""
    return "" if find_spec("vl_convert") else not_installed(_PACKAGE, "report")


@cache
def chart_bundle() -> str:
    """Return the script that binds `vegaEmbed`, of 0.9 MB.

    Making it takes 2 s, so it is kept in the user's cache folder. Raises InputError where
    vl-convert is not installed.
    """
    if lack := find_lack():
        raise InputError(f"a page with charts: {lack}")
    kept = _cache_folder() / f"charts-{version(_PACKAGE)}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    import vl_convert

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed")
    with suppress(OSError):  # then it is made again next time
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replacing(kept) as part:
            part.write_text(bundle, encoding="utf-8")
    return bundle


def _cache_folder() -> Path:
    """Return where this user's caches are (the XDG base directory specification)."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path("~/.cache").expanduser()
    return base / "district-noir-arena"
