"""Tables: how the games of a run were won; every game is read once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from arena.tournament.tournament import Tournament
from arena.wins.batch import Ints, Row, read_batches
from arena.wins.cards import MOST_PAIRS, Cards
from arena.wins.decisive import Decisive
from arena.wins.leads import Leads
from arena.wins.quota import share_out
from arena.wins.replay import replay
from arena.wins.seats import Seats
from arena.wins.sides import Sides
from arena.wins.sources import Sources
from arena.wins.takes import Takes
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
    records: Iterable[tuple[Any, ...]],
    pairs: Mapping[int, int],
    *,
    games: int | None = None,
    replayed: int = MOST_REPLAYED,
    sampled: int = MOST_PAIRS,
) -> WinTables:
    """Return the tables of these games, which have the fields of a Row and come in order.

    `pairs` says how many pairs each pairing has, by its number. The games are read in batches of
    so many `games`, which change nothing. All are in `seats`; `replayed` pairs at most are in
    the other tables, and `sampled` of these at most say what cards are worth (`share_out`).
    Raises InputError for a record that cannot be played.
    """
    labels, pairings, rules = tournament.labels, tournament.pairings, tournament.rules
    seats = Seats(labels, pairings)
    leads, sources, takes = Leads(labels, rules), Sources(labels, rules), Takes(labels, rules)
    quota = share_out(_by_pairing(pairs, len(pairings)), replayed)
    cards, decisive = Cards(labels, rules, share_out(quota, sampled)), Decisive(labels)
    for batch in read_batches(tournament, map(Row._make, records), games, quota):
        seats.add(batch)
        if not batch.is_played:
            continue
        played, sides = replay(batch, rules), Sides(batch, len(labels))
        for table in (leads, sources, takes, cards):
            table.add(played, sides)
        if rules == STANDARD:
            decisive.add(played, sides)
    return WinTables(
        seats.table(),
        leads.table(),
        sources.table(),
        takes.table(),
        cards.table(),
        decisive.table(),
        decisive.turns.table(),
    )


def _by_pairing(pairs: Mapping[int, int], pairings: int) -> Ints:
    """Return how many pairs each pairing of the schedule has."""
    counts = np.zeros(pairings, np.int64)
    counts[[*pairs]] = [*pairs.values()]
    return counts
