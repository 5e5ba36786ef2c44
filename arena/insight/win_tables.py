"""Make the tables of how the games of a run were won, from counts and from some of the records."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.insight.by_opponent import BROUGHT, MOST_MET
from arena.insight.cards import MOST_PAIRS, Cards
from arena.insight.replayed_games import Leads, Sides, Sources, Takes
from arena.insight.run_games import Row, read_batches
from arena.insight.swings import Decisive
from arena.insight.tables import make_seats
from arena.statistics.intervals import Moments
from arena.store.counting import Counts
from arena.tournament.tournament import Tournament
from engine import STANDARD


def share_out(pairs: Ints, limit: int) -> Ints:
    """Return how many of its pairs each pairing gives: `limit` (1 or more) in all, at most.

    A pairing gives all that it has up to a level, the highest one that keeps the limit; so a
    short pairing leaves its part to the longer ones, and one that was not played takes none.

    >>> share_out(np.array([2, 0, 9, 5]), 12).tolist()
    [2, 0, 5, 5]
    >>> share_out(np.array([2, 0, 9, 5]), 11).tolist()
    [2, 0, 4, 4]

    Where more pairings were played than the limit, so many of them give a pair each, evenly
    spaced. Not every k-th one: of the pairings of 1,000 bots that would leave some bots out.

    >>> share_out(np.array([2, 0, 9, 5, 1, 3]), 2).tolist()
    [1, 0, 0, 1, 0, 0]
    """
    played = np.flatnonzero(pairs)
    if len(played) > limit:
        quota = np.zeros_like(pairs)
        quota[played[np.arange(limit) * len(played) // limit]] = 1
        return quota
    levels = range(int(pairs.max(initial=0)) + 1)
    level = bisect_right(levels, limit, key=lambda most: int(np.minimum(pairs, most).sum())) - 1
    return np.minimum(pairs, level)


MOST_REPLAYED: Final = 100_000
"""Pairs: of a million games they take 10 s; a share of games is then known within 0.3 %."""


_ALL = 1 << 62  # pairs


@dataclass(frozen=True)
class WinTables:
    """How the games of a run were won; `turns` are the games with the greatest ones.

    `turns_of` are the greatest ones of each bot's wins and losses. `takes_by_opponent` are those
    of each side (`arena.insight.by_opponent`), of none for very many bots.
    """

    seats: pd.DataFrame
    leads: pd.DataFrame
    wins_by_source: pd.DataFrame
    takes: pd.DataFrame
    cards: pd.DataFrame
    takes_by_opponent: Moments
    decisive: pd.DataFrame
    turns: pd.DataFrame
    turns_of: pd.DataFrame


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
    pairs = count_pairs(counts, len(tournament.pairings))
    quota = share_out(pairs, replayed)
    sums = WinSums(tournament, quota, share_out(quota, sampled), pairs)
    sums.add(map(Row._make, records(quota.tolist())), games)
    return sums.tables(counts)


class WinSums:
    """Adds up how the games of a run were won, pairs in any order; only sums are kept.

    `quota` is how many of its first pairs each pairing gives, and `sampled` how many of these say
    what cards are worth, of so many `pairs` that it has.
    """

    def __init__(self, tournament: Tournament, quota: Ints, sampled: Ints, pairs: Ints) -> None:
        labels, rules = tournament.labels, tournament.rules
        self.tournament = tournament
        self.quota, self.sampled = quota, sampled
        self.pairs = np.zeros(len(quota), np.int64)  # that were added
        met = len(quota) if len(labels) <= MOST_MET else 0
        self.by_opponent = Moments(2 * met, rules.hand_size + 1 + len(BROUGHT))
        self.decisive = Decisive(labels)
        self.tallies = (
            Leads(labels, rules),
            Sources(labels, rules),
            Takes(labels, rules, self.by_opponent if met else None),
            # numbers of pairs may have gaps where a run is not finished
            Cards(labels, rules, np.where(sampled < pairs, sampled, _ALL)),
        )

    @classmethod
    def of_schedule(cls, tournament: Tournament) -> WinSums:
        """Return the sums of a run to be, of which each pairing may have all its pairs."""
        pairs = np.full(len(tournament.pairings), tournament.most_pairs)
        quota = share_out(pairs, MOST_REPLAYED)
        return cls(tournament, quota, share_out(quota, MOST_PAIRS), pairs)

    def add(self, rows: Iterable[Row], games: int | None = None) -> None:
        """Add games, the two of a pair beside each other, in batches of about so many."""
        for batch in read_batches(self.tournament, rows, games):
            sides = Sides(batch, len(self.tournament.labels))
            np.add.at(self.pairs, batch.pairing, 1)
            for tally in self.tallies:
                tally.add(sides)
            if self.tournament.rules == STANDARD:
                self.decisive.add(sides)

    def has_all(self, counts: Counts) -> bool:
        """Return whether what was added is what a reading of the games that are counted gives."""
        quota = share_out(count_pairs(counts, len(self.quota)), MOST_REPLAYED)
        sampled = np.minimum(self.pairs, self.sampled)
        return bool((self.pairs == quota).all() and (sampled == share_out(quota, MOST_PAIRS)).all())

    def tables(self, counts: Counts) -> WinTables:
        """Return the tables; all games that are counted are in `seats`."""
        leads, sources, takes, cards = (tally.table() for tally in self.tallies)
        return WinTables(
            make_seats(self.tournament.labels, self.tournament.pairings, counts),
            *(leads, sources, takes, cards),
            self.by_opponent,
            self.decisive.table(),
            *self.decisive.turn_tables(),
        )


def count_pairs(counts: Counts, pairings: int) -> Ints:
    """Return how many pairs each pairing of the schedule has."""
    pairs = np.zeros(pairings, np.int64)
    np.add.at(pairs, counts.pairing, counts.pairs)
    return pairs
