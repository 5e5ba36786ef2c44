"""Results: the files that a run's store adds up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TextIO, TypeAlias

import pandas as pd

from arena.games.timing import Timing
from arena.results.folder import MANIFEST, TABLES, as_text
from arena.results.store import Store
from arena.runs import rerun
from arena.statistics import tables
from arena.tournament.tournament import Tournament

Writer: TypeAlias = Callable[[TextIO], object]


@dataclass(frozen=True)
class Files:
    """The standings, and what writes each file of a run, by its name."""

    standings: pd.DataFrame
    files: Mapping[str, Writer]


def of(tournament: Tournament, store: Store) -> Files:
    """Return the files of a run whose games are all in the store."""
    pairings = tournament.pairings
    sides = tables.sides(pairings, store.tallies())
    scores = tables.pair_scores(pairings, store.pair_scores())
    standings = tables.standings(sides, scores, tournament.labels)
    command = rerun.commands(tournament)
    writers: list[Writer] = [
        lambda file: tables.write_games(file, store.named_games(pairings)),
        _csv(standings),
        _csv(tables.head_to_head(sides, scores)),
        _csv(tables.win_types(sides)),
        lambda file: tables.write_faults(file, pairings, store.faults(), command),
    ]
    manifest = as_text(tournament.manifest())
    files = {MANIFEST: lambda file: file.write(manifest)}
    return Files(standings, files | dict(zip(TABLES, writers, strict=True)))


def timings(found: Mapping[str, Timing], labels: Iterable[str]) -> Writer:
    """Return what writes timings.csv."""
    return _csv(tables.timings(found, labels))


def _csv(table: pd.DataFrame) -> Writer:
    return lambda file: table.to_csv(file, index=False, lineterminator="\n")
