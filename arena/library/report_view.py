"""Show the report of one or several runs in a notebook, and save it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.errors import InputError, not_installed
from arena.reports.blocks import Report
from arena.reports.run_report import check_place
from arena.runs.run_progress import Extent
from arena.store.folder import write_text
from arena.store.store import Store
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

_ENDINGS = (".html", ".md")


class RunReport:
    """A report; a notebook shows its beginning, and `save` writes the whole page.

    >>> import arena
    >>> results = arena.run(["greedy", "uniform"], pairs=2, seed=7, progress=False)
    >>> print(results.report().markdown().splitlines()[1])
    # run: greedy and uniform, seed 7
    """

    def __init__(self, document: Report) -> None:
        """Take the contents of the report."""
        self._document = document

    @cached_property
    def html(self) -> str:
        """The whole self-contained page.

        Raises InputError if the library of its charts is not installed.
        """
        from arena.reports.html import to_html

        return to_html(self._document)

    def markdown(self) -> str:
        """Return the report as Markdown without charts, for a pull request."""
        from arena.reports.markdown import to_markdown

        return to_markdown(self._document)

    @property
    def charts(self) -> Mapping[str, Any]:
        """The charts by name, each an `altair.Chart` that can be changed and saved.

        Raises InputError if Altair is not installed.
        """
        try:
            import altair
        except ImportError:
            raise InputError(f"charts: {not_installed('altair', 'report')}") from None
        made: dict[str, Any] = {}
        for chart in self._document.charts():
            spec = {"title": chart.title, **chart.spec}
            made[chart.name] = altair.Chart.from_dict(spec)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file that ends in .html, or the Markdown to one that ends in .md.

        Only an earlier report is overwritten. Raises InputError, which names the file.
        """
        file = Path(path)
        if file.suffix not in _ENDINGS:
            raise InputError(f"{file}: a report is a file that ends in .html or .md")
        check_place(file)
        write_text(file, self.html if file.suffix == ".html" else self.markdown())

    def _repr_html_(self) -> str:
        """Return a frame with the beginning of the report, at most 100 kB, without scripts."""
        from arena.reports.html import to_frame

        return to_frame(self._document)

    def __repr__(self) -> str:
        return f"<report: {self._document.title}>"


class ReportedRun(NamedTuple):
    """A run to be reported: its folder, if it has one, and the store of its games."""

    folder: Path | None
    tournament: Tournament
    store: Store
    extent: Extent

    @property
    def title(self) -> str:
        """The name of the run's folder, or its own name without one."""
        return self.folder.resolve().name if self.folder else self.tournament.name


def make_run_report(run: ReportedRun, timings: pd.DataFrame) -> RunReport:
    """Return the report of a run, as far as it has been played."""
    from arena.differences.run_files import make_files
    from arena.reports.run_report import make_report
    from arena.tables.losses import read_judged

    files = make_files(run.tournament, run.store)
    judged = read_judged(run.folder, run.tournament, run.store)
    times = None if timings.empty else timings
    state = run.extent.describe()
    return RunReport(make_report(run.tournament, run.store, files, times, judged, state=state))


def report_changes(base: ReportedRun, *others: ReportedRun) -> RunReport:
    """Return the report of the differences between the base and each other run."""
    from arena.differences.changes import RunGames, find_changes
    from arena.reports.about import RunFacts
    from arena.reports.changes_report import make_changes_report

    runs = [base, *others]
    counts = Counter(run.title for run in runs)
    titles = [
        run.title if counts[run.title] == 1 else f"{run.title} ({number})"
        for number, run in enumerate(runs, 1)
    ]
    facts = [
        RunFacts(title, run.tournament, run.extent.played, run.extent.finished)
        for title, run in zip(titles, runs, strict=True)
    ]
    games = [RunGames(run.tournament, run.store) for run in runs]
    changes = [find_changes(games[0], other) for other in games[1:]]
    return RunReport(make_changes_report(facts[0], [*zip(facts[1:], changes, strict=True)]))
