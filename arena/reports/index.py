"""Renew the list of runs that lies beside their folders: index.html, a row for each report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from arena.entries.file import open_file
from arena.errors import ArenaError, escape
from arena.reports.blocks import read_sentence
from arena.store.folder import MANIFEST, REPORT_HTML, REPORT_MARKDOWN, write_text
from arena.store.html_page import render

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
