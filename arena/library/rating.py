"""Rate bots by existing games: of several runs, or played elsewhere."""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import InputError
from arena.library.request import Location, folder_path
from arena.reports.run_report import check_place
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, write_text
from arena.tables.summary import format_standings
from arena.tournament.tournament import Anchored

if TYPE_CHECKING:
    import pandas as pd

    from arena.library.report_view import RunReport
    from arena.store.listed_games import GameList
    from arena.tables.rated_lists import RatedLists


class Ratings:
    """The ratings of bots from lists of games.

    >>> import arena, pandas
    >>> games = pandas.DataFrame(
    ...     [("new", "old", "new")] * 30 + [("new", "old", "old")] * 10,
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

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables that a run has, by the names of their files without .csv."""
        return self._rated.tables.frames

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
        return self._rated.headline

    @property
    def notes(self) -> list[str]:
        """Notes on bots joined or separated, games left out, and bots that no games connect."""
        return [*self._rated.tables.findings.warnings(), *self._rated.notes]

    def report(self) -> RunReport:
        """Return the report; a notebook shows it, and it can be saved."""
        from arena.library.report_view import RunReport
        from arena.reports.run_report import make_ratings_report

        return RunReport(make_ratings_report(self._lists, self._rated))

    def save(self, folder: Location) -> None:
        """Write the tables as CSV files, and the report, to a folder.

        The folder is new, empty, or was written by this method before; raises InputError for any
        other.
        """
        from arena.reports.html import find_lack
        from arena.store.csv_files import csv_writer

        path = Path(folder_path(folder, "folder"))
        own = {REPORT_HTML, REPORT_MARKDOWN, *(f"{name}.csv" for name in self.tables)}
        try:
            there = {one.name for one in path.iterdir()} if path.exists() else set()
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        if there and not {REPORT_MARKDOWN} <= there <= own:
            raise InputError(f"{path}: holds other files; choose a new folder")
        check_place(path / REPORT_MARKDOWN)
        for name, table in self.tables.items():
            text = io.StringIO()
            csv_writer(table, index=table.index.name is not None)(text)
            write_text(path / f"{name}.csv", text.getvalue())
        report = self.report()
        report.save(path / REPORT_MARKDOWN)
        if not find_lack():
            report.save(path / REPORT_HTML)

    def __str__(self) -> str:
        lines = [self._rated.extent, *format_standings(self.standings)]
        said = textwrap.wrap(self.headline, 80)
        return "\n".join([*lines, *self._rated.tables.findings.lines(), *said])

    __repr__ = __str__


def rate(
    *games: pd.DataFrame | Location,
    anchor: Anchored = "",
) -> Ratings:
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
    from arena.tables.rated_lists import rate_lists

    lists: list[GameList] = []
    places: dict[Path, Path] = {}
    if not games:
        raise InputError("no games to rate")
    for number, one in enumerate(games, 1):
        if isinstance(one, str | os.PathLike):
            place = Path(one)
            if place.resolve() in places:
                raise InputError(f"{place}: named twice; name different ones")
            places[place.resolve()] = place
            lists.append(read_games(place))
        else:
            lists.append(list_games(one, f"table {number}"))
    return Ratings(lists, rate_lists(lists, anchor))
