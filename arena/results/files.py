"""Files: the files of a run, from its store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from arena.games.timing import Timing
from arena.results import rows
from arena.results.command import replay_commands
from arena.results.folder import MANIFEST, TABLES, Writer
from arena.results.manifest import manifest_text
from arena.results.store import Store
from arena.statistics import tables
from arena.statistics.rows import Tally
from arena.statistics.unrated import find_unrated
from arena.tournament.tournament import Tournament


@dataclass(frozen=True)
class Files:
    """The standings, and a writer for each file of a run, by its name."""

    standings: pd.DataFrame
    writers: Mapping[str, Writer]


def make_files(tournament: Tournament, store: Store) -> Files:
    """Return the files of a run whose games are all in the store."""
    pairings = tournament.pairings
    tallies = store.tallies()
    sides = tables.make_sides(pairings, tallies)
    scores = tables.make_pair_scores(pairings, store.pair_totals())
    unrated = _find_unrated(tournament, store, tallies)
    standings = tables.make_standings(sides, scores, tournament.labels, unrated)
    command = replay_commands(tournament)
    writers: list[Writer] = [
        lambda file: rows.write_games(file, store.named_games(pairings)),
        _csv(standings),
        _csv(tables.make_head_to_head(sides, scores)),
        _csv(tables.make_win_types(sides)),
        lambda file: rows.write_faults(file, store.all_forfeits(pairings), command),
    ]
    manifest = manifest_text(tournament.manifest())
    by_name = {MANIFEST: lambda file: file.write(manifest)}
    return Files(standings, by_name | dict(zip(TABLES, writers, strict=True)))


def _find_unrated(tournament: Tournament, store: Store, tallies: Sequence[Tally]) -> set[str]:
    """Return the labels of the bots that have no rating."""
    if not any(tally.win_type == "forfeit" for tally in tallies):
        return set()
    games: Counter[int] = Counter()
    for tally in tallies:
        games[tally.pairing] += tally.games
    return find_unrated(tournament.pairings, games, store.faults())


def timings_writer(timings: Mapping[str, Timing], labels: Iterable[str]) -> Writer:
    """Return the writer of timings.csv."""
    return _csv(tables.make_timings(timings, labels))


def _csv(table: pd.DataFrame) -> Writer:
    return lambda file: table.to_csv(file, index=False, lineterminator="\n")
