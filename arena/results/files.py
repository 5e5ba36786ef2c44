"""Files: the files of a run, from its store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from arena.games.timing import Timing
from arena.results import rows
from arena.results.command import replay_commands
from arena.results.comparison import comparison_writers, make_comparison
from arena.results.folder import MANIFEST, TABLES, Writer
from arena.results.manifest import manifest_text
from arena.results.store import Store
from arena.statistics import tables
from arena.statistics.rows import Faults, PairTotals, Tally
from arena.statistics.unrated import find_unrated
from arena.tournament.schedule import Pairing
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament


@dataclass(frozen=True)
class Tables:
    """What the games of a run add up to."""

    standings: pd.DataFrame
    head_to_head: pd.DataFrame
    win_types: pd.DataFrame


@dataclass(frozen=True)
class Files:
    """The standings, and a writer for each file of a run, by its name."""

    standings: pd.DataFrame
    writers: Mapping[str, Writer]


def make_files(tournament: Tournament, store: Store) -> Files:
    """Return the files of a run whose games are all in the store."""
    pairings = tournament.pairings
    counted = store.tallies(), store.pair_totals(), store.faults()
    made = make_tables(pairings, tournament.labels, *counted)
    command = replay_commands(tournament)
    writers: list[Writer] = [
        lambda file: rows.write_games(file, store.named_games(pairings)),
        _csv(made.standings),
        _csv(made.head_to_head),
        _csv(made.win_types),
        lambda file: rows.write_faults(file, store.all_forfeits(pairings), command),
    ]
    manifest = manifest_text(tournament.manifest())
    by_name: dict[str, Writer] = {MANIFEST: lambda file: file.write(manifest)}
    by_name |= dict(zip(TABLES, writers, strict=True))
    if isinstance(tournament.stop, Sprt):
        by_name |= comparison_writers(make_comparison(tournament, tournament.stop, store))
    return Files(made.standings, by_name)


def make_tables(
    pairings: Sequence[Pairing],
    labels: Sequence[str],
    tallies: Sequence[Tally],
    totals: Sequence[PairTotals],
    faults: Sequence[Faults] = (),
) -> Tables:
    """Return the tables of the games that are counted, in which each of these bots has played."""
    games = {of_pairing.pairing: 2 * of_pairing.pairs for of_pairing in totals}
    unrated = find_unrated(pairings, games, faults)
    sides = tables.make_sides(pairings, tallies)
    scores = tables.make_pair_scores(pairings, totals)
    return Tables(
        tables.make_standings(sides, scores, labels, unrated),
        tables.make_head_to_head(sides, scores),
        tables.make_win_types(sides),
    )


def timings_writer(timings: Mapping[str, Timing], labels: Iterable[str]) -> Writer:
    """Return the writer of timings.csv."""
    return _csv(tables.make_timings(timings, labels))


def _csv(table: pd.DataFrame) -> Writer:
    return lambda file: table.to_csv(file, index=False, lineterminator="\n")
