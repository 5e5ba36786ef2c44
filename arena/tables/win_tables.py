"""Make all tables of a run: of its counted games, and of how they were won."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arena.batch.replay import Ints
from arena.statistics.counts import NO_ANCHORS, Anchors
from arena.statistics.cycles import Field, describe_cycle, find_misfits, make_residuals
from arena.statistics.model import is_equal
from arena.store.columns import Columns
from arena.store.counting import Counts
from arena.store.table_columns import TABLES
from arena.tables import counted
from arena.tables.findings import Findings, Misfit, Unbounded, describe_dependence, seat_advantage
from arena.tables.replayed_games import Cards, Sides, Takes, Wins
from arena.tables.run_games import Row, read_batches
from arena.tournament.config_keys import MAX_FAULTS
from arena.tournament.schedule import Pairing
from arena.tournament.strikes import find_out, find_unrated
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


@dataclass(frozen=True)
class Ranking:
    """What is known of the bots of a run without a table: what a terminal shows.

    `rows` are those of standings.csv, with None in empty cells, and `verdicts` those of
    verdicts.csv; `field` has the rated bots, `judged` those of them that have letters.
    """

    rows: Sequence[Mapping[str, Any]]
    findings: Findings
    judged: Field
    field: Field
    sides: counted.Sides
    verdicts: Sequence[tuple[Any, ...]]

    @property
    def order(self) -> list[str]:
        """The labels of the bots, the strongest first."""
        return [row["bot"] for row in self.rows]


@dataclass(frozen=True)
class Tables:
    """The tables of a run and what goes with them; `judged` are the bots that have letters."""

    standings: Columns
    head_to_head: Columns
    win_types: Columns
    verdicts: Columns
    findings: Findings
    judged: Field

    @property
    def order(self) -> list[str]:
        """The labels of the bots, the strongest first."""
        labels: list[str] = self.standings["bot"].tolist()
        return labels

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the standings, with None in empty cells."""
        return self.standings.dicts()

    @property
    def by_name(self) -> dict[str, Columns]:
        """The tables by the names of their files."""
        return {name: one for name, one in vars(self).items() if isinstance(one, Columns)}

    def frame(self, name: str) -> pd.DataFrame:
        """Return the table of this name as a DataFrame."""
        return TABLES[name].frame(getattr(self, name))


def how_rated(tournament: Tournament, counts: Counts) -> dict[str, bool]:
    """Return how the counted games of a tournament are rated, as keyword arguments of `Field`."""
    return {"even": tournament.chooses_pairings, "looks": tournament.looks_again(counts.total)}


def rank_bots(tournament: Tournament, counts: Counts) -> Ranking:
    """Return the ranking of a tournament's counted games."""
    anchors, faults = tournament.anchored, tournament.max_faults
    how = how_rated(tournament, counts)
    return make_ranking(tournament.pairings, tournament.labels, counts, anchors, faults, **how)


def make_ranking(
    pairings: Sequence[Pairing],
    labels: Sequence[str],
    counts: Counts,
    anchors: Anchors = NO_ANCHORS,
    max_faults: int = MAX_FAULTS,
    **how: bool,
) -> Ranking:
    """Return the ranking of the counted games; bots that have not played are left out.

    `how` are keyword arguments of `Field`, which say how the games are rated.
    """
    met = find_met(pairings, labels, counts)
    idle = [label for label in labels if met and label not in met]
    sides = counted.make_sides(pairings, counts.tallies)
    field = make_field(pairings, met, counts, anchors, (), **how)
    out = find_out(pairings, counts.faults, max_faults)
    judged = make_field(pairings, met, counts, NO_ANCHORS, out, **how) if out else field
    verdicts = counted.list_verdicts(judged)
    standings = counted.rank_field(sides, field, judged.labels, verdicts)
    findings = replace(_find(field, counts, anchors), idle=idle)
    return Ranking(standings, findings, judged, field, sides, verdicts)


def make_tables(pairings: Sequence[Pairing], counts: Counts, ranking: Ranking) -> Tables:
    """Return the tables of the counted games, which have this ranking."""
    sides, totals, residuals = ranking.sides, counts.pair_totals, make_residuals(ranking.field)
    return Tables(
        counted.make_standings(ranking.rows),
        counted.make_head_to_head(sides, pairings, totals, residuals),
        counted.make_win_types(sides),
        counted.make_verdicts(ranking.verdicts),
        ranking.findings,
        ranking.judged,
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
    how_known: dict[str, Any] = {**how, "sequence": counts.sequence}
    return Field(pairings, counts.played.pair_totals, labels, unrated, anchors, **how_known)


def _find(field: Field, counts: Counts, anchors: Anchors) -> Findings:
    """Return the findings that are reported beside the tables."""
    return Findings(
        anchors,
        [label for label in anchors if label not in field.numbers],
        seat_advantage(*counts.seats),
        [sorted(group, key=field.in_order().index) for group in field.groups],
        field.residuals.tested,
        [
            Misfit(bot, opponent, expected + residual, expected)
            for bot, opponent, expected, residual in find_misfits(field)
        ],
        describe_cycle(field),
        unbounded=[Unbounded(label, record, *ends) for label, record, *ends in field.unbounded()],
        spread=field.fit.spread,
        spread_counts=not is_equal(field.fit.model),
        dependence=describe_dependence(field),
    )
