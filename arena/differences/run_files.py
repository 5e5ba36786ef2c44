"""Make the tables of a run from its store, and a writer for each of its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from arena.differences.comparison import (
    SprtResult,
    comparison_writers,
    judge_compared,
    make_comparison,
)
from arena.differences.lead_parts import LeadParts, make_lead_parts
from arena.store import csv_files as rows
from arena.store.counting import Counts
from arena.store.csv_files import csv_writer, make_timings
from arena.store.folder import GAMES, INDEX, MANIFEST, WINS, Writer, write_index
from arena.store.manifest import manifest_text
from arena.store.store import Store
from arena.tables.counted import group_bots
from arena.tables.win_tables import Tables, WinTables, make_tables, make_win_tables, rank_bots
from arena.tournament.replay_command import replay_commands
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament


@dataclass(frozen=True)
class RunTables(Tables):
    """The tables of a run, and its `comparison` if it is one."""

    comparison: SprtResult | None = None


@dataclass(frozen=True)
class Files:
    """The tables of a run, what they were made of, and a writer for each file, by its name.

    `wins` makes the tables of how games were won when it is first called, and `lead_parts` the
    parts of the lead of a comparison.
    """

    tables: RunTables
    counts: Counts
    wins: Callable[[], WinTables]
    writers: Mapping[str, Writer]
    lead_parts: Callable[[], LeadParts] = LeadParts


def make_files(tournament: Tournament, store: Store) -> Files:
    """Return the files of a run whose games are all in the store."""
    pairings = tournament.pairings
    counts = store.count()
    made = tables_of(tournament, counts, store)
    command = replay_commands(tournament)

    @cache
    def wins() -> WinTables:
        return make_win_tables(tournament, counts, store.records)

    def write_wins(name: str) -> Writer:
        return lambda file: csv_writer(getattr(wins(), name))(file)

    writers: dict[str, Writer] = {
        GAMES: lambda file: rows.write_games(file, store.game_lines(pairings)),
        **{f"{name}.csv": csv_writer(table) for name, table in made.by_name.items()},
        "faults.csv": lambda file: rows.write_faults(file, store.all_forfeits(pairings), command),
        **{f"{name}.csv": write_wins(name) for name in WINS},
        INDEX: write_index,
    }
    manifest = manifest_text(tournament.manifest())
    writers[MANIFEST] = lambda file: file.write(manifest)
    if not (comparison := made.comparison):
        return Files(made, counts, wins, writers)

    @cache
    def lead_parts() -> LeadParts:
        return make_lead_parts(tournament, store, comparison.lead, comparison.out)

    writers |= comparison_writers(comparison, lead_parts)
    return Files(made, counts, wins, writers, lead_parts)


def tables_of(tournament: Tournament, counts: Counts, store: Store) -> RunTables:
    """Return the tables of a tournament's games that are counted, all of the store."""
    made = make_tables(tournament.pairings, counts, rank_bots(tournament, counts))
    if not (stop := tournament.comparison):
        return RunTables(**vars(made))
    found = make_comparison(tournament, stop, store, counts, made.verdicts)
    verdicts = judge_compared(made.verdicts, found)
    groups = group_bots(made.order, made.judged.labels, verdicts.rows())
    standings = made.standings.put(group=np.array(groups, object))
    judged = {"standings": standings, "verdicts": verdicts, "comparison": found}
    return RunTables(**vars(made) | judged)


def timings_writer(timings: Mapping[str, Timing], labels: Iterable[str]) -> Writer:
    """Return the writer of timings.csv."""
    return csv_writer(make_timings(timings, labels))
