"""Rate bots by existing games, and show reports in a notebook."""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import InputError
from arena.library.request import Location, folder_path
from arena.replays.html_page import check_place
from arena.reports.blocks import Report
from arena.reports.drawing import Chart
from arena.store.columns import Frames
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, list_names, write_text
from arena.tables.summary import format_standings
from arena.tournament.tournament import Anchored

if TYPE_CHECKING:
    import pandas as pd

    from arena.store.listed_games import GameList
    from arena.tables.rated_lists import RatedLists

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
        """The whole self-contained page."""
        from arena.reports.html import to_html

        return to_html(self._document)

    def markdown(self) -> str:
        """Return the report as Markdown without charts, for a pull request."""
        from arena.reports.blocks import to_markdown

        return to_markdown(self._document)

    @property
    def charts(self) -> Mapping[str, ReportChart]:
        """The charts by name; a notebook shows each, and `save` writes it as a page."""
        return {chart.name: ReportChart(self._document, chart) for chart in self._document.charts()}

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


class ReportChart:
    """A chart of a report; a notebook shows it, and `save` writes it as a page."""

    def __init__(self, document: Report, chart: Chart) -> None:
        """Take the chart, and the report that it is of."""
        self._document, self._chart = document, chart

    @property
    def html(self) -> str:
        """The chart as a self-contained page, without scripts."""
        from arena.reports.html import brief_page

        return brief_page(self._document, chart=self._chart)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file that ends in .html. Raises InputError, which names the file."""
        file = Path(path)
        if file.suffix != ".html":
            raise InputError(f"{file}: a chart is a file that ends in .html")
        check_place(file)
        write_text(file, self.html)

    def _repr_html_(self) -> str:
        """Return the chart in a frame without scripts."""
        from arena.reports.html import frame_of

        return frame_of(self._document, chart=self._chart)

    def __repr__(self) -> str:
        return f"<chart: {self._chart.title}>"


class Ratings:
    """The ratings of bots from lists of games.

    >>> import arena, pandas
    >>> games = pandas.DataFrame(
    ...     [("new", "old", winner) for winner in 10 * ["new", "old", "new", "new"]],
    ...     columns=["bot", "opponent", "winner"],
    ... )
    >>> ratings = arena.rate(games, anchor={"old": 1500})
    >>> ratings.standings[["bot", "games", "wins"]].values.tolist()
    [['new', 40, 30], ['old', 40, 10]]
    >>> ratings.notes
    ['no table says how games were won: 40 of 40 have no win_type']
    """

    def __init__(self, lists: list[GameList], rated: RatedLists) -> None:
        """Take the lists and their ratings."""
        self._lists = lists
        self._rated = rated

    @cached_property
    def tables(self) -> Frames:
        """The tables that a run has, by the names of their files without .csv."""
        return Frames(self._rated.tables.makers())

    @property
    def standings(self) -> pd.DataFrame:
        """One row for each bot, the strongest first (standings.csv)."""
        return self.tables["standings"]

    @property
    def verdicts(self) -> pd.DataFrame:
        """The verdict on every two bots: the leader, its lead, and its certainty (verdicts.csv)."""
        return self.tables["verdicts"]

    @property
    def headline(self) -> str:
        """The findings on the bots, in a few sentences."""
        return " ".join(self._rated.headline.sentences())

    @property
    def notes(self) -> list[str]:
        """Notes on bots joined or separated, games left out, and bots that no games connect."""
        return [*self._rated.tables.findings.warnings(), *self._rated.notes]

    def report(self) -> RunReport:
        """Return the report; a notebook shows it, and it can be saved."""
        from arena.reports.ratings_report import make_ratings_report

        return RunReport(make_ratings_report(self._lists, self._rated))

    def save(self, folder: Location) -> None:
        """Write the tables as CSV files, and the report, to a folder.

        The folder is new, empty, or was written by this method before; raises InputError for any
        other.
        """
        from arena.store.csv_files import csv_writer

        path = Path(folder_path(folder, "folder"))
        own = {REPORT_HTML, REPORT_MARKDOWN, *(f"{name}.csv" for name in self.tables)}
        there = list_names(path)
        if there and not {REPORT_MARKDOWN} <= there <= own:
            raise InputError(f"{path}: holds other files; choose a new folder")
        check_place(path / REPORT_MARKDOWN)
        for name in self.tables:
            text = io.StringIO()
            csv_writer(getattr(self._rated.tables, name))(text)
            write_text(path / f"{name}.csv", text.getvalue())
        report = self.report()
        report.save(path / REPORT_MARKDOWN)
        report.save(path / REPORT_HTML)

    def __str__(self) -> str:
        return format(self)

    def __format__(self, width: str) -> str:
        """Return the text; with a width, the table has at most so many columns."""
        found = self._rated.tables.findings
        table = format_standings(self._rated.tables.rows, int(width) if width else None)
        said = textwrap.wrap(self.headline, 80)
        return "\n".join([self._rated.extent, *table, *found.lines(), *said])

    __repr__ = __str__


def rate(*games: pd.DataFrame | Location, anchor: Anchored = "") -> Ratings:
    """Rate bots jointly by the games of several runs, files or DataFrames.

    A path is the folder of a run, its games.csv, exported records, or a CSV file. A table has the
    columns bot, opponent and winner (a label; draw or empty for a draw) and may have pair, seat,
    win_type, points and opponent_points. An `anchor`, such as "greedy=1239" or {"greedy": 1239},
    has this Elo; "greedy=1239+-12" or (1239, 12) also gives half of its 95 % interval. Of several
    anchors, the more precise ones weigh more. Raises InputError, which names file, row and column.

    >>> import arena
    >>> results = arena.run(["greedy", "uniform"], pairs=5, seed=7, progress=False)
    >>> ratings = arena.rate(results.games, anchor="uniform=1200")
    >>> float(ratings.standings["elo"].iloc[-1])
    1200.0
    """
    from arena.store.listed_games import list_games, read_games
    from arena.store.reader import holds_records
    from arena.tables.rated_lists import rate_lists

    lists: list[GameList] = []
    places: set[str] = set()
    if not games:
        raise InputError("no games to rate")
    cards = any(isinstance(one, str | os.PathLike) and holds_records(Path(one)) for one in games)
    for number, one in enumerate(games, 1):
        if isinstance(one, str | os.PathLike):
            place = Path(one)
            real = os.path.realpath(place)  # Path.resolve raises in a loop of links
            if real in places:
                raise InputError(f"{place}: named twice; name different ones")
            places.add(real)
            lists.append(read_games(place, cards=cards))
        else:
            table: Any = one if hasattr(one, "columns") else getattr(one, "games", None)
            if not hasattr(table, "columns"):
                raise InputError(f"table {number}: expected a DataFrame, got {type(one).__name__}")
            lists.append(list_games(table, f"table {number}"))
    return Ratings(lists, rate_lists(lists, anchor))
