"""Writers: the reports that a run writes into its folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from arena.insight.run_files import Files
from arena.reports.document import Report
from arena.reports.html import to_html
from arena.reports.markdown import to_markdown
from arena.reports.run_report import make_report
from arena.reports.scripts import find_lack
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, Writer
from arena.store.store import Store
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd


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
