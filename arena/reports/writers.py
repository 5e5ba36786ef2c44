"""Write reports into a run's folder or to a path, without overwriting files of somebody else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import InputError
from arena.insight.run_files import Files
from arena.records.html_page import GENERATOR
from arena.reports.blocks import Report
from arena.reports.html import find_lack, to_html
from arena.reports.markdown import to_markdown
from arena.reports.run_report import make_report
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, Writer, replacing
from arena.store.store import Store
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

_BEGINNING = 4096  # bytes, in which a report says whose it is


def report_writers(
    tournament: Tournament, store: Store, files: Files, timings: pd.DataFrame | None = None
) -> Mapping[str, Writer]:
    """Return a writer for each report of a run, by its name; none for a page without its charts."""

    @cache
    def report() -> Report:
        return make_report(tournament, store, files, timings)

    writers: dict[str, Writer] = {
        REPORT_HTML: lambda file: file.write(to_html(report())),
        REPORT_MARKDOWN: lambda file: file.write(to_markdown(report())),
    }
    if find_lack():
        del writers[REPORT_HTML]
    return writers


def check_place(path: Path) -> None:
    """Raise InputError where there is something else than a report."""
    try:
        if not path.exists():
            return
        if not path.is_file():
            raise InputError(f"{path}: not a regular file")
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{path}: not the name of a file: {error}") from None
    if beginning and GENERATOR.encode() not in beginning:
        raise InputError(f"{path}: holds something else than a report; it is kept")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically, and its folder; raises InputError, which names the file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
