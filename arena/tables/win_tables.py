"""Make all tables of a run: of its counted games, and of how they were won."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arena.batch.replay import Ints
from arena.statistics.bradley_terry import Flags, is_equal
from arena.statistics.counts import NO_ANCHORS, Anchors
from arena.statistics.cycles import Field, describe_cycle, find_misfits, make_residuals
from arena.store.column_titles import TABLES
from arena.store.columns import Columns, TableName
from arena.store.counting import Counts
from arena.tables import standings_table
from arena.tables.findings import Findings, Misfit, Unbounded, describe_dependence, seat_advantage
from arena.tables.game_arrays import Row, read_batches
from arena.tables.points_and_takes import Cards, Sides, Takes, Wins
from arena.tournament.config_keys import MAX_FAULTS
from arena.tournament.schedule import Pairing, find_out, find_unrated
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd


def share_out(pairs: Ints, limit: int) -> Ints:
    """Return how many pairs to sample from each pairing: at most `limit` (1 or more) in total.

    Each pairing gives its pairs up to a common level, the highest that keeps to the limit. So what
    a short pairing lacks goes to the longer ones, and an unplayed pairing gives nothing.

    >>> share_out(np.array([2, 0, 9, 5]), 12).tolist()
    [2, 0, 5, 5]
    >>> share_out(np.array([2, 0, 9, 5]), 11).tolist()
    [2, 0, 4, 4]

    If more pairings were played than `limit`, evenly spaced ones give a pair each. They are not
    every k-th one, which would leave out some of 1,000 bots.

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
"""Pairs that are replayed: they take 10 s, and shares of games are known within 0.3 %."""


@dataclass(frozen=True)
class WinTables:
    """The tables of how the games of a run were won, from its replayed games."""

    wins: Columns
    takes: Columns
    cards: Columns


def make_win_tables(
    tournament: Tournament,
    counts: Counts,
    records: Callable[[list[int]], Iterable[tuple[Any, ...]]],
    *,
    games: int | None = None,
    replayed: int = MOST_REPLAYED,
) -> WinTables:
    """Return the tables of a run's games.

    `records` takes a number of pairs for each pairing, and returns the games of its first pairs, in
    order and with the fields of a Row. They are read in batches of `games`, a size that does not
    affect the result. At most `replayed` pairs are counted (`share_out`). Raises InputError for a
    record that cannot be replayed.
    """
    pairs = count_pairs(counts, len(tournament.pairings))
    quota = share_out(pairs, replayed)
    labels, rules = tournament.labels, tournament.rules
    tallies = Wins(labels, rules), Takes(labels, rules), Cards(labels, rules)
    for batch in read_batches(tournament, map(Row._make, records(quota.tolist())), games):
        sides = Sides(batch, len(labels))
        for tally in tallies:
            tally.add(sides)
    return WinTables(*(tally.table() for tally in tallies))


def count_pairs(counts: Counts, pairings: int) -> Ints:
    """Return how many pairs each pairing of the schedule has."""
    pairs = np.zeros(pairings, np.int64)
    np.add.at(pairs, counts.pairing, counts.pairs)
    return pairs


class Tables:
    """The tables of counted games by the names of their files; each is made when it is first read.

    They come from what is made once: `sides` has the games of every two bots by seat and ending,
    `field` the ratings of the bots and what goes with them, `judged` the bots that have letters.
    Bots that have not played are left out. `how` are keyword arguments of `Field`, which say how
    the games are rated.
    """

    def __init__(
        self,
        pairings: Sequence[Pairing],
        labels: Sequence[str],
        counts: Counts,
        anchors: Anchors = NO_ANCHORS,
        max_faults: int = MAX_FAULTS,
        **how: bool,
    ) -> None:
        self.pairings, self.counts, self.anchors = pairings, counts, anchors
        self.max_faults, self.how = max_faults, how
        met = {label for number in counts.met for label in pairings[number]}
        self.met = [label for label in labels if label in met]
        self.idle = [label for label in labels if met and label not in met]

    @cached_property
    def sides(self) -> standings_table.Sides:
        """The games of every two bots."""
        return standings_table.make_sides(self.pairings, self.counts.tallies)

    @cached_property
    def field(self) -> Field:
        """The rated bots."""
        return self._rate(self.anchors)

    @cached_property
    def judged(self) -> Field:
        """The rated bots that are not out."""
        out = find_out(self.pairings, self.counts.faults, self.max_faults)
        return self._rate(NO_ANCHORS, out) if out else self.field

    def _rate(self, anchors: Anchors, without: Collection[str] = ()) -> Field:
        unrated = {*find_unrated(self.pairings, self.counts.finished), *without}
        how: dict[str, Any] = {**self.how, "sequence": self.counts.sequence}
        totals = self.counts.played.pair_totals
        return Field(self.pairings, totals, self.met, unrated, anchors, **how)

    def find_apart(self) -> Flags:
        """Return which of every two judged bots, by number, are apart (n, n)."""
        return self.judged.apart

    @cached_property
    def rated_verdicts(self) -> Columns:
        """The verdicts that the ratings give."""
        return standings_table.make_verdicts(self.judged)

    @cached_property
    def standings(self) -> Columns:
        """One row a bot, the strongest first."""
        return standings_table.make_standings(
            self.sides, self.field, self.judged.numbers, self.find_apart()
        )

    @cached_property
    def head_to_head(self) -> Columns:
        """One row for each ordered two bots that met."""
        totals, residuals = self.counts.pair_totals, make_residuals(self.field)
        return standings_table.make_head_to_head(self.sides, self.pairings, totals, residuals)

    @cached_property
    def win_types(self) -> Columns:
        """One row for each bot and seat."""
        return standings_table.make_win_types(self.sides)

    @cached_property
    def verdicts(self) -> Columns:
        """One row for every two judged bots."""
        return self.rated_verdicts

    @cached_property
    def findings(self) -> Findings:
        """What is reported beside the tables."""
        field = self.field
        return Findings(
            self.anchors,
            [label for label in self.anchors if label not in field.numbers],
            seat_advantage(*self.counts.seats),
            [sorted(group, key=field.in_order().index) for group in field.groups],
            field.residuals.tested,
            [
                Misfit(bot, opponent, expected + residual, expected)
                for bot, opponent, expected, residual in find_misfits(field)
            ],
            describe_cycle(field),
            unbounded=[*starmap(Unbounded, field.unbounded())],
            spread=field.fit.spread,
            spread_counts=not is_equal(field.fit.model),
            dependence=describe_dependence(field),
            idle=self.idle,
        )

    def makers(self) -> dict[TableName, Callable[[], pd.DataFrame]]:
        """Return what makes each table as a DataFrame, by its name."""

        def make(name: TableName) -> pd.DataFrame:
            return TABLES[name].frame(getattr(self, name))

        return {name: partial(make, name) for name in TABLES if hasattr(type(self), name)}

    @property
    def order(self) -> list[str]:
        """The labels of the bots, the strongest first."""
        return [*self.standings["bot"]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the standings, with None in empty cells."""
        return self.standings.dicts()
