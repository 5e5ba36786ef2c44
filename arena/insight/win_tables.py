"""Tables: how the games of a run were won, from their endings and from some of the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.insight.cards import MOST_PAIRS, Cards
from arena.insight.leads import Leads
from arena.insight.quota import share_out
from arena.insight.run_games import Batch, Row, read_batches
from arena.insight.seat_endings import Seats
from arena.insight.sides import Sides
from arena.insight.sources import Sources
from arena.insight.swings import Decisive
from arena.insight.takes import Takes
from arena.store.counting import Counts
from arena.tournament.tournament import Tournament
from engine import STANDARD

MOST_REPLAYED: Final = 100_000
"""Pairs: of a million games they take 10 s; a share of games is then known within 0.3 %."""


@dataclass(frozen=True)
class WinTables:
    """How the games of a run were won; `turns` are the games with the greatest ones."""

    seats: pd.DataFrame
    leads: pd.DataFrame
    wins_by_source: pd.DataFrame
    takes: pd.DataFrame
    cards: pd.DataFrame
    decisive: pd.DataFrame
    turns: pd.DataFrame


def make_win_tables(
    tournament: Tournament,
    counts: Counts,
    records: Callable[[list[int]], Iterable[tuple[Any, ...]]],
    *,
    games: int | None = None,
    replayed: int = MOST_REPLAYED,
    sampled: int = MOST_PAIRS,
) -> WinTables:
    """Return the tables of a run's games.

    `records` returns the games in the first pairs of each pairing, so many as it is given, in
    order and with the fields of a Row. They are read in batches of so many `games`, which change
    nothing. All games are in `seats`; `replayed` pairs at most are in the other tables, and
    `sampled` of these at most say what cards are worth (`share_out`). Raises InputError for a
    record that cannot be played.
    """
    labels, pairings, rules = tournament.labels, tournament.pairings, tournament.rules
    seats = Seats(labels, pairings)
    seats.add(counts)
    leads, sources, takes = Leads(labels, rules), Sources(labels, rules), Takes(labels, rules)
    quota = share_out(count_pairs(counts, len(pairings)), replayed)
    cards, decisive = Cards(labels, rules, share_out(quota, sampled)), Decisive(labels)
    for batch in read_batches(tournament, map(Row._make, records(quota.tolist())), games):
        _replay(batch, tournament, (leads, sources, takes, cards), decisive)
    return WinTables(
        seats.table(),
        leads.table(),
        sources.table(),
        takes.table(),
        cards.table(),
        decisive.table(),
        decisive.turns.table(),
    )


def _replay(
    batch: Batch,
    tournament: Tournament,
    tables: Iterable[Leads | Sources | Takes | Cards],
    decisive: Decisive,
) -> None:
    """Add the games of a batch; only their sums are kept."""
    sides = Sides(batch, len(tournament.labels))
    for table in tables:
        table.add(sides)
    if tournament.rules == STANDARD:
        decisive.add(sides)


def count_pairs(counts: Counts, pairings: int) -> Ints:
    """Return how many pairs each pairing of the schedule has."""
    pairs = np.zeros(pairings, np.int64)
    np.add.at(pairs, counts.pairing, counts.pairs)
    return pairs
