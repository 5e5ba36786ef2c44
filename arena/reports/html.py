"""Write a report as one HTML page that works offline, with the charts' scripts in it."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from arena.errors import InputError, not_installed
from arena.records.html_page import SCRIPTS, STYLES, render, static
from arena.reports.blocks import Chart, Report
from arena.reports.markdown import to_markdown
from arena.reports.table_rows import find_rest, write_rows
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, replacing, write_text

_TALL = 600  # pixels of a chart
_PACKAGE = "vl-convert-python"
_SCRIPTS = tuple(
    f"arena.reports/{name}.js" for name in ("copying", "tables", "charts", "report", "profiles")
)
_STYLES = (*STYLES, "arena.reports/report.css", "arena.reports/profiles.css")


def to_html(report: Report) -> str:
    """Return a report as one HTML file, which contains its charts, tables and replays."""
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
        rows_of=write_rows,
        rest_of=find_rest,
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
    """Write report.html and report.md into a folder.

    If the library of the charts is missing, a page of other games is removed.
    """
    page, text = path / REPORT_HTML, path / REPORT_MARKDOWN
    facts = to_markdown(report)
    if not find_lack():
        write_text(page, to_html(report))
    elif text.is_file() and text.read_text(encoding="utf-8") != facts:
        page.unlink(missing_ok=True)
    write_text(text, facts)


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
    """Return this user's cache folder (XDG Base Directory Specification)."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path("~/.cache").expanduser()
    return base / "district-noir-arena"
