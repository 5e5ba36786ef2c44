"""Run: the report of one run, from its store and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arena.reports.document import Report, Section
from arena.reports.pairings import pairings_section
from arena.reports.standings import standings_section
from arena.results.files import Files
from arena.results.store import Store
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd


def make_report(
    tournament: Tournament, store: Store, files: Files, timings: pd.DataFrame | None = None
) -> Report:
    """Return the report of a run whose games are all in the store.

    `timings` has the rows of timings.csv. Without them the report holds no reading of a clock,
    so that the same games give the same bytes.
    """
    sections = [*_sections(tournament, store, files, timings)]
    return Report(tournament.name, [*_summary(tournament, files)], sections)


def _summary(tournament: Tournament, files: Files) -> Iterator[str]:
    games = sum(tally.games for tally in files.counts.tallies)
    bots = len(files.standings)
    yield f"{games:,} games of {bots:,} bots, seed {tournament.seed}."


def _sections(
    tournament: Tournament, store: Store, files: Files, timings: pd.DataFrame | None
) -> Iterator[Section]:
    tables = files.tables
    labels = tables.standings["bot"].tolist()
    yield standings_section(tables.standings, tables.findings, timings)
    yield pairings_section(tables.head_to_head, labels, tables.findings)
