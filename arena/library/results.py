"""Give the results of a run as DataFrames: standings, head to head, games, faults."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from arena.addons import hook
from arena.errors import InputError, naming
from arena.library import keywords
from arena.library.keywords import find_venue, folder_path
from arena.replays.finished_game import Game
from arena.runs.next_round import Extent, RunProgress, follow, measure_extent
from arena.store.column_titles import FAULTS, GAMES, TIMINGS, UNRESOLVED
from arena.store.csv_files import Timings, fault_rows, make_timings, parse_timings
from arena.store.folder import LOG
from arena.store.reader import find_game, from_bytes, to_bytes
from arena.store.store import Store
from arena.tables.standings_text import format_standings
from arena.tournament import config_keys as keys
from arena.tournament.config_keys import VenueKeys
from arena.tournament.schedule import Strikes
from arena.tournament.tournament import Tournament, replay_commands

if TYPE_CHECKING:
    import pandas as pd

    from arena.differences.run_files import RunTables
    from arena.library.rating import RunReport
    from arena.reports.blocks import Report
    from arena.store.columns import Columns, Frames, TableName
    from arena.tables.findings import SeatAdvantage
    from arena.tables.losses import Analysis

_MOST_ROWS = 50  # that a notebook shows
_SHOWN = ["rank", "bot", "elo", "elo_low", "elo_high", "games", "score", "forfeits"]


class Results:
    """The tables of a run at the time it was opened; each is made on first use.

    The tables have the columns of the run's CSV files, with a missing value for an empty cell. A
    notebook and a terminal show the standings.

    >>> import arena
    >>> results = arena.run(["greedy", "uniform"], pairs=2, seed=7, progress=False)
    >>> results.head_to_head[["bot", "opponent", "score"]]
           bot opponent  score
    0   greedy  uniform    1.0
    1  uniform   greedy    0.0
    >>> results.games["win_type"].value_counts().to_dict()
    {'points': 4}
    """

    def __init__(
        self,
        tournament: Tournament,
        store: Store,
        timings: Timings | bytes | None = None,
        folder: Path | None = None,
    ) -> None:
        """Take the games of a store; `timings` are those of the run, or its file's content.

        `folder` is that of the run, if it has one.
        """
        self._tournament = tournament
        self._store = store
        self._timings = timings
        self._folder = folder
        self._counts = store.count()

    @property
    def name(self) -> str:
        """The run's name."""
        return self._tournament.name

    @property
    def played(self) -> int:
        """The number of finished games, which includes games forfeited by rule."""
        return self._counts.total

    @property
    def total(self) -> int:
        """The number of games of the finished run, as far as its rounds are known."""
        return self._extent.total

    @property
    def finished(self) -> bool:
        """Whether all games of the run have been played; an unfinished run can be continued."""
        return self._extent.finished

    @cached_property
    def tables(self) -> Frames:
        """All tables by the names of their files without .csv; each is made when it is read."""
        from arena.store.columns import Frames

        own: tuple[TableName, ...] = ("games", "faults", "timings", "unresolved")
        return Frames(self._made.makers() | {name: getattr(self, f"_list_{name}") for name in own})

    @property
    def standings(self) -> pd.DataFrame:
        """One row for each bot that has played, the strongest first (standings.csv)."""
        return self.tables["standings"]

    @property
    def head_to_head(self) -> pd.DataFrame:
        """One row for each ordered pair of bots that have met (head_to_head.csv)."""
        return self.tables["head_to_head"]

    @property
    def win_types(self) -> pd.DataFrame:
        """One row for each bot and seat (win_types.csv)."""
        return self.tables["win_types"]

    @property
    def verdicts(self) -> pd.DataFrame:
        """The verdict on every two bots: the leader, its lead, and its certainty (verdicts.csv).

        >>> import arena
        >>> results = arena.run(["greedy", "uniform"], pairs=20, seed=7, progress=False)
        >>> results.verdicts[["bot", "opponent", "verdict"]].values.tolist()
        [['greedy', 'uniform', 'apart']]
        """
        return self.tables["verdicts"]

    @property
    def seat_advantage(self) -> SeatAdvantage | None:
        """The share of seat 0 and its worth in Elo; None if no pair was played to its end."""
        return self._made.findings.seat

    @property
    def warnings(self) -> list[str]:
        """Reasons for caution about the ratings; most runs have none."""
        return self._made.findings.warnings()

    @property
    def games(self) -> pd.DataFrame:
        """One row a game (games.csv)."""
        return self.tables["games"]

    @property
    def faults(self) -> pd.DataFrame:
        """One row a forfeit (faults.csv)."""
        return self.tables["faults"]

    @property
    def wins(self) -> pd.DataFrame:
        """Who is ahead after each round, by source of points, and how often it wins (wins.csv)."""
        return self.tables["wins"]

    @property
    def takes(self) -> pd.DataFrame:
        """When each bot takes, and what its takes bring (takes.csv)."""
        return self.tables["takes"]

    @property
    def cards(self) -> pd.DataFrame:
        """Plays and takes of each kind of card, and the share of wins (cards.csv)."""
        return self.tables["cards"]

    @property
    def timings(self) -> pd.DataFrame:
        """Seconds per decision of each bot (timings.csv); no rows if they are not known."""
        return self.tables["timings"]

    @property
    def unresolved(self) -> pd.DataFrame:
        """The questions that a run with `until` leaves open, and their cost; else no rows.

        They are neighbours that are not told apart, or, without an opponent, bots whose interval is
        too wide; `further_pairs` is an estimate, which is missing if none can be made.
        """
        return self.tables["unresolved"]

    @cached_property
    def _strikes(self) -> Strikes:
        return Strikes(self._tournament.pairings, 0, self._tournament.max_faults)

    @cached_property
    def _progress(self) -> RunProgress:
        return follow(self._tournament, self._store, self._strikes)

    @cached_property
    def _extent(self) -> Extent:
        return measure_extent(self._tournament, self._store)

    @cached_property
    def _made(self) -> RunTables:
        from arena.differences.run_files import RunTables

        return RunTables(self._tournament, self._store, self._counts)

    def _list_games(self) -> pd.DataFrame:
        return _drop_empty(GAMES.frame([*self._store.named_games(self._tournament.pairings)]))

    def _list_faults(self) -> pd.DataFrame:
        forfeits = self._store.all_forfeits(self._tournament.pairings)
        return _drop_empty(FAULTS.frame([*fault_rows(forfeits, replay_commands(self._tournament))]))

    @cached_property
    def _times(self) -> Columns:
        if isinstance(self._timings, bytes):
            return parse_timings(self._timings)
        return make_timings(self._timings or {}, self._tournament.labels)

    def _list_timings(self) -> pd.DataFrame:
        return TIMINGS.frame(self._times)

    def _list_unresolved(self) -> pd.DataFrame:
        return UNRESOLVED.frame(self._progress.find_open(self._strikes.out) or [])

    @keywords.takes(VenueKeys)
    def analyse(
        self,
        by: str = keys.JUDGE,
        *,
        games: int = keys.ANALYSED,
        worlds: int = keys.WORLDS,
        worst: int = keys.WORST,
        seed: int = 0,
        progress: bool = True,
        **where: Unpack[VenueKeys],
    ) -> Analysis:
        """Judge the decisions of `games` games, and return the losses of the bots.

        `by` is the bot that judges; each action is tried in `worlds` worlds, an even number. The
        `worst` decisions of each bot are those that a second judge finds so, too. The run's folder
        keeps the judged decisions, and gets analysis.csv. `executor` is as in `arena.run`. Raises
        InputError for rules other than the published ones and for a bot that cannot judge.

        >>> import arena
        >>> results = arena.run(["greedy", "uniform"], pairs=2, seed=7, progress=False)
        >>> analysis = results.analyse("greedy", worlds=4, worst=0, workers=1, progress=False)
        >>> bool((analysis.decisions["legal"] > 1).all())
        True
        >>> analysis.losses[["bot", "opponent", "games"]][:1].values.tolist()
        [['greedy', 'uniform', 4]]
        """
        from arena.tables.losses import Asked

        venue = find_venue(**where)
        folder = self._folder if self._folder and self._folder.is_dir() else None
        run = self._tournament, self._store, folder
        with naming(str(self._folder or self.name)):
            asked = Asked(by, worlds, seed, worst)
            how = {"games": games, "progress": progress}
            analysis: Analysis = hook("analyse_run")(*run, venue, asked, **how)
            return analysis

    def report(self, *others: Results) -> RunReport:
        """Return the report of the run, or of its differences from other runs.

        A notebook shows it; it can be saved. Raises InputError if a run has no game.

        >>> import arena
        >>> results = arena.run(["greedy", "uniform"], pairs=2, seed=7, progress=False)
        >>> "heat-map" in results.report().charts
        True
        """
        from arena.library.rating import RunReport

        for results in (self, *others):
            if not isinstance(results, Results):
                raise InputError(f"others: expected results, got {type(results).__name__}")
            if not results.played:
                raise InputError(f"{results._folder or results.name}: no game has been played yet")
        return RunReport(_report_changes(self, *others) if others else self._report_run())

    def _report_run(self) -> Report:
        """Return the report of the run, as far as it has been played."""
        from arena.executors.log import read_spending
        from arena.reports.run_report import make_report
        from arena.tables.losses import read_judged

        times = self._times if len(self._times) else None
        ending = read_spending(self._folder / LOG) if self._folder else ""
        run = self._tournament, self._store, self._made, times, read_judged(self._folder)
        return make_report(*run, state=self._extent.describe(), ending=ending)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the same folder, byte by byte, that the run would have written with `out`.

        For an unfinished run it has no tables, but the games, with which the run can be continued.
        The folder is new, empty, or has the same games; raises InputError for any other.

        >>> import arena, tempfile
        >>> results = arena.run(["greedy", "uniform"], pairs=1, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     results.save(f"{folder}/friday")
        ...     arena.open(f"{folder}/friday").games.equals(results.games)
        True
        """
        from arena.runs.stored_run import save

        save(self._tournament, self._store, folder_path(folder, "folder"), self._times)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the games themselves, so that a copy does not need the run's folder."""
        timings = self._timings if isinstance(self._timings, bytes) else dict(self._timings or {})
        tournament = replace(self._tournament)  # without its cached properties
        return _restore, (tournament, to_bytes(self._store), timings, self._folder)

    def game(self, bot: str, opponent: str, pair: int = 0, seat: int = 0) -> Game:
        """Return the game of this pair in which `bot`, a label, sat in this seat.

        Raises InputError if the game does not exist or has not been played yet.
        """
        return find_game(self._tournament, self._store, (bot, opponent), pair, seat)

    @property
    def _head(self) -> str:
        return f"{self.name}: {self._extent.describe() or f'{self.played:,} games'}"

    def __str__(self) -> str:
        return "\n".join([self._head, *format_standings(self._made.rows)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the first standings as an HTML table for a notebook, with labels escaped."""
        shown = self.standings[_SHOWN].head(_MOST_ROWS)
        table = shown.to_html(index=False, escape=True, border=0)
        more = f", the first {len(shown)}" if len(shown) < len(self.standings) else ""
        return f"<p>{escape(self._head)}{more}</p>\n{table}"


def _drop_empty(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with missing values instead of empty strings."""
    return table.mask(table == "", None)


def _restore(tournament: Tournament, content: bytes, *more: Any) -> Results:
    """Return the results from the parts that `__reduce__` made."""
    return Results(tournament, from_bytes(content), *more)


def _report_changes(*runs: Results) -> Report:
    """Return the report of runs that are rated together, the first of which is the base.

    Raises InputError if their rules differ.
    """
    from arena.reports.ratings_report import RunFacts, make_changes_report
    from arena.store.listed_games import list_run
    from arena.tables.rated_lists import rate_lists

    names = [run._folder.resolve().name if run._folder else run.name for run in runs]
    facts, lists = [], []
    for number, (name, run) in enumerate(zip(names, runs, strict=True), 1):
        title = name if names.count(name) == 1 else f"{name} ({number})"
        facts.append(RunFacts(title, run._tournament, run._extent.played, run.finished))
        lists.append(list_run(run._tournament, run._store, title))
        if run._tournament.rules != runs[0]._tournament.rules:
            raise InputError(
                f"{title} and {facts[0].title} have different rules: arena ablate compares rules"
            )
    return make_changes_report(facts, lists, rate_lists(lists, by_list=True))
