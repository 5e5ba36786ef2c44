"""Make the tables and files of a run from its store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import pandas as pd

from arena.games.timing import Timing
from arena.insight import tables
from arena.insight.findings import Findings, Misfit, Unbounded
from arena.insight.win_tables import WinTables, make_win_tables
from arena.statistics.counts import NO_ANCHORS, Anchors
from arena.statistics.cycles import describe_cycle, make_rankings
from arena.statistics.field import Field, find_misfits, make_residuals
from arena.statistics.intervals import seat_advantage
from arena.statistics.spread import is_equal
from arena.store import csv_files as rows
from arena.store.counting import Counts
from arena.store.csv_files import csv_writer, make_timings
from arena.store.folder import GAMES, MANIFEST, WINS, Writer
from arena.store.manifest import manifest_text
from arena.store.store import Store
from arena.tournament.keys import MAX_FAULTS
from arena.tournament.replay_command import replay_commands
from arena.tournament.schedule import Pairing
from arena.tournament.strikes import find_out, find_unrated
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.insight.comparison import SprtResult


_MOST_PARTS = 25
_MOST_COUNTED = 20_000  # pairings in parts: the counts have about 20 rows for each


@dataclass(frozen=True)
class Tables:
    """The tables of a run and what goes with them; `judged` are the bots that have letters.

    `comparison` is None unless the run is a comparison.
    """

    standings: pd.DataFrame
    head_to_head: pd.DataFrame
    win_types: pd.DataFrame
    verdicts: pd.DataFrame
    rankings: pd.DataFrame
    findings: Findings
    judged: Field
    comparison: SprtResult | None = None

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables by the names of their files."""
        return {name: one for name, one in vars(self).items() if isinstance(one, pd.DataFrame)}


@dataclass(frozen=True)
class Files:
    """The tables of a run, the data behind them, and a writer for each file by its name.

    `wins` makes the tables of how games were won when it is first called.
    """

    tables: Tables
    counts: Counts
    wins: Callable[[], WinTables]
    writers: Mapping[str, Writer]


def make_files(
    tournament: Tournament,
    store: Store,
    grown: Callable[[Counts], WinTables | None] = lambda _: None,
) -> Files:
    """Return the files of a run whose games are all in the store.

    `grown` returns the tables of how games were won if they were made during the run, else None.
    """
    pairings = tournament.pairings
    # in parts, to show how the ratings converged
    counts = store.count(max(1, min(_MOST_PARTS, _MOST_COUNTED // len(pairings))))
    made = tables_of(tournament, counts, store)
    command = replay_commands(tournament)

    @cache
    def wins() -> WinTables:
        return grown(counts) or make_win_tables(tournament, counts, store.records)

    def write_wins(name: str) -> Writer:
        return lambda file: csv_writer(getattr(wins(), name))(file)

    writers: dict[str, Writer] = {
        GAMES: lambda file: rows.write_games(file, store.game_lines(pairings)),
        **{f"{name}.csv": csv_writer(table) for name, table in made.frames.items()},
        "faults.csv": lambda file: rows.write_faults(file, store.all_forfeits(pairings), command),
        **{f"{name}.csv": write_wins(name) for name in WINS},
    }
    manifest = manifest_text(tournament.manifest())
    writers[MANIFEST] = lambda file: file.write(manifest)
    if made.comparison:
        from arena.insight.comparison import comparison_writers

        writers |= comparison_writers(made.comparison)
    return Files(made, counts, wins, writers)


def tables_of(tournament: Tournament, counts: Counts, store: Store) -> Tables:
    """Return the tables of a tournament, whose counted games are all in the store."""
    anchors, faults = tournament.anchored, tournament.max_faults
    how = how_rated(tournament, counts)
    made = make_tables(tournament.pairings, tournament.labels, counts, anchors, faults, **how)
    if not tournament.comparison:
        return made
    from arena.insight.comparison import judge_compared, make_comparison

    found = make_comparison(tournament, tournament.comparison, store, counts, made.verdicts)
    verdicts = judge_compared(made.verdicts, found)
    groups = tables.group_bots(made.standings["bot"].tolist(), made.judged.labels, verdicts)
    standings = made.standings.assign(group=groups)
    return replace(made, verdicts=verdicts, standings=standings, comparison=found)


def how_rated(tournament: Tournament, counts: Counts) -> dict[str, bool]:
    """Return how the counted games of a tournament are rated, as keyword arguments of `Field`."""
    return {"even": tournament.chooses_pairings, "looks": tournament.looks_again(counts.total)}


def make_tables(
    pairings: Sequence[Pairing],
    labels: Sequence[str],
    counts: Counts,
    anchors: Anchors = NO_ANCHORS,
    max_faults: int = MAX_FAULTS,
    **how: bool,
) -> Tables:
    """Return the tables of the counted games; bots that have not played are left out.

    `how` are keyword arguments of `Field`, which say how the games are rated.
    """
    met = find_met(pairings, labels, counts)
    idle = [label for label in labels if met and label not in met]
    sides = tables.make_sides(pairings, counts.tallies)
    scores = tables.make_pair_scores(pairings, counts.pair_totals)
    field = make_field(pairings, met, counts, anchors, (), **how)
    out = find_out(pairings, counts.faults, max_faults)
    judged = make_field(pairings, met, counts, NO_ANCHORS, out, **how) if out else field
    verdicts = tables.make_verdicts(judged)
    standings = tables.make_standings(sides, field, met, judged.labels, verdicts)
    residuals = make_residuals(field)
    return Tables(
        standings,
        tables.make_head_to_head(sides, scores, residuals),
        tables.make_win_types(sides),
        verdicts,
        make_rankings(field, [*standings["bot"]]),
        replace(_find(field, residuals, counts, anchors), idle=idle),
        judged,
    )


def find_met(pairings: Sequence[Pairing], labels: Sequence[str], counts: Counts) -> list[str]:
    """Return the labels of the bots that have played."""
    met = {label for number in counts.met for label in pairings[number]}
    return [label for label in labels if label in met]


def make_field(
    pairings: Sequence[Pairing],
    labels: Sequence[str],
    counts: Counts,
    anchors: Anchors = NO_ANCHORS,
    without: Collection[str] = (),
    **how: bool,
) -> Field:
    """Return the field of the bots with these labels, rated by the counted games."""
    unrated = {*find_unrated(pairings, counts.finished), *without}
    return Field(pairings, counts.played.pair_totals, labels, unrated, anchors, **how)


def _find(field: Field, residuals: pd.DataFrame, counts: Counts, anchors: Anchors) -> Findings:
    """Return the findings that are reported beside the tables."""
    misfits = find_misfits(residuals, field.labels)
    return Findings(
        anchors,
        [label for label in anchors if label not in field.numbers],
        seat_advantage(*counts.seats),
        field.groups,
        int(residuals["residual_q"].count()) // 2,
        [
            Misfit(bot, opponent, expected + residual, expected)
            for bot, opponent, expected, residual in misfits.to_numpy()[:, :4].tolist()
        ],
        describe_cycle(field),
        unbounded=[Unbounded(label, record, *ends) for label, record, *ends in field.unbounded()],
        spread=field.fit.spread,
        spread_counts=not is_equal(field.fit.model),
    )


def timings_writer(timings: Mapping[str, Timing], labels: Iterable[str]) -> Writer:
    """Return the writer of timings.csv."""
    return csv_writer(make_timings(timings, labels))
