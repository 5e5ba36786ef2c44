"""Rate bots by existing games, say how many are needed, and show reports in a notebook."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arena.entries.resolve import resolve
from arena.errors import InputError, counted
from arena.library.keywords import Bot, Location, folder_path, list_bots, plain
from arena.replays.html_page import check_place
from arena.reports.blocks import Report
from arena.reports.charts import Chart
from arena.statistics.ratings import ELO
from arena.statistics.two_bots import ALPHA, boundary
from arena.store.columns import Frames
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, list_names, write_text
from arena.tables.standings_text import format_standings
from arena.tournament.config_keys import MOST_WIDTH, POWER, Anchored
from engine.errors import show

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
        said = wrap(self.headline, 80)
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


_MOST_BOTS = 60
_STEPS = 20  # until the bound of a lead no longer moves


class Plan(NamedTuple):
    """The plan of a round robin: the pairs of every two bots, all games, and a sentence.

    `first` are the games after which a run with `until: first` knows the strongest.

    >>> print(plan(6, gap=50))
    With 83 pairs of every two bots, neighbours 50 Elo points apart are told apart
    with a chance of 80 %: 2,490 games in all. The strongest is known after about
    1,800 games with --until first.
    """

    pairs: int
    games: int
    sentence: str
    first: int

    def __str__(self) -> str:
        return "\n".join(wrap(self.sentence, 80))


def plan(bots: Sequence[Bot] | int, *, gap: float, power: float = POWER) -> Plan:
    """Compute the pairs that separate neighbours in a round robin with `power`.

    `bots` are bots or their number, and each is `gap` Elo points stronger than the next one. Raises
    InputError.

    >>> plan(6, gap=20).games
    14220
    """
    gap, power, bots = plain((gap, power, bots))
    if not (type(gap) in (int, float) and 1 <= gap <= MOST_WIDTH):
        raise InputError(f"gap: {show(gap)} is not a number from 1 to {MOST_WIDTH:,}")
    if not (type(power) is float and 0.5 <= power <= 0.99):
        raise InputError(f"power: {show(power)} is not a number from 0.5 to 0.99")
    number = _count(bots)
    pairs = pairs_to_tell(number, gap, power)
    games, first = pairs * number * (number - 1), 2 * pairs_to_lead(number, gap)
    first = int(float(f"{first:.2g}"))
    sentence = (
        f"With {counted(pairs, 'pair')} of every two bots, neighbours {gap:g} Elo points apart are "
        f"told apart with a chance of {100 * power:.0f} %: {counted(games, 'game')} in all. The "
        f"strongest is known after about {counted(first, 'game')} with --until first."
    )
    return Plan(pairs, games, sentence, first)


def _count(bots: Any) -> int:
    """Return the number of bots; raises InputError."""
    if type(bots) is not int:
        for bot in (found := list_bots(bots)):
            if isinstance(bot, str):
                resolve(bot)
            elif bot is None or isinstance(bot, int | float):
                raise InputError(f"{show(bot)} is neither a bot nor how many there are")
        bots = len(found)
    if not 2 <= bots <= _MOST_BOTS:
        raise InputError(f"bots: {bots:,} is not a number from 2 to {_MOST_BOTS}")
    return int(bots)


def pairs_to_tell(bots: int, gap: float, power: float) -> int:
    """Return the pairs of every two bots of a ladder with which neighbours are told apart.

    A gap must exceed its bound and the luck of the power, in standard errors. The bound is that of
    Bonferroni for the gap and those others that are not told apart yet, as the test steps down. The
    error is that of the Bradley-Terry model, where the two games of a pair are independent. The
    study (bench/STUDIES.md) says by how much that misses.

    >>> [pairs_to_tell(bots, 20, 0.8) for bots in (2, 6, 20)]
    [1189, 474, 207]
    """
    strengths = gap / ELO * np.arange(bots)
    information = 1 / (1 + np.cosh(strengths[:, None] - strengths))  # of the two games of a pair
    np.fill_diagonal(information, 0.0)
    inverse = np.linalg.pinv(np.diag(information.sum(axis=0)) - information)
    upper, lower = np.arange(bots - 1), np.arange(1, bots)
    variances = inverse[upper, upper] + inverse[lower, lower] - 2 * inverse[upper, lower]
    normal, open_gaps = NormalDist(), 1 + (1 - power) * (bots - 2)
    errors = normal.inv_cdf(1 - ALPHA / 2 / open_gaps) + normal.inv_cdf(power)
    return math.ceil(float(variances.mean()) * (errors * ELO / gap) ** 2)


def pairs_to_lead(bots: int, gap: float) -> int:
    """Return the pairs of a run with `until: first` on a ladder of bots.

    The lead of the first bot must exceed a bound that holds at every look, and pairs are given to
    it and its rival as its variance falls fastest. The others have a first round of 20 pairs.

    >>> [pairs_to_lead(bots, 20) for bots in (2, 8, 12)]
    [1704, 6084, 7746]
    """
    share, square = 1 / (1 + 10 ** (-gap / 400)), 9.0
    for _ in range(_STEPS):
        level = 2 * ALPHA / (bots - 1 if bots > 2 else 4)
        square = float(boundary(square * (ELO / gap) ** 2, level))
    variance = 2 * ((bots - 1) / bots) ** 2 / (share * (1 - share))  # of the lead, times the pairs
    return math.ceil(variance * square * (ELO / gap) ** 2) + 10 * (bots - 2) * (bots - 3)
