"""Make the tables of a run from its counted games, and the field of its rated bots."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from arena.statistics.counts import NO_ANCHORS, Anchors
from arena.statistics.cycles import describe_cycle, make_rankings
from arena.statistics.field import Field, find_misfits, make_residuals
from arena.statistics.intervals import seat_advantage
from arena.statistics.spread import is_equal
from arena.store.counting import Counts
from arena.tables import counted
from arena.tables.findings import Findings, Misfit, Unbounded
from arena.tournament.keys import MAX_FAULTS
from arena.tournament.schedule import Pairing
from arena.tournament.strikes import find_out, find_unrated
from arena.tournament.tournament import Tournament


@dataclass(frozen=True)
class Tables:
    """The tables of a run and what goes with them; `judged` are the bots that have letters.

    `comparison` is None unless the run is a comparison.
    """

    standings: pd.DataFrame
    head_to_head: pd.DataFrame
    win_types: pd.DataFrame
    verdicts: pd.DataFrame
    rankings: pd.DataFrame
    findings: Findings
    judged: Field

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables by the names of their files."""
        return {name: one for name, one in vars(self).items() if isinstance(one, pd.DataFrame)}


def how_rated(tournament: Tournament, counts: Counts) -> dict[str, bool]:
    """Return how the counted games of a tournament are rated, as keyword arguments of `Field`."""
    return {"even": tournament.chooses_pairings, "looks": tournament.looks_again(counts.total)}


def make_tables(
    pairings: Sequence[Pairing],
    labels: Sequence[str],
    counts: Counts,
    anchors: Anchors = NO_ANCHORS,
    max_faults: int = MAX_FAULTS,
    **how: bool,
) -> Tables:
    """Return the tables of the counted games; bots that have not played are left out.

    `how` are keyword arguments of `Field`, which say how the games are rated.
    """
    met = find_met(pairings, labels, counts)
    idle = [label for label in labels if met and label not in met]
    sides = counted.make_sides(pairings, counts.tallies)
    scores = counted.make_pair_scores(pairings, counts.pair_totals)
    field = make_field(pairings, met, counts, anchors, (), **how)
    out = find_out(pairings, counts.faults, max_faults)
    judged = make_field(pairings, met, counts, NO_ANCHORS, out, **how) if out else field
    verdicts = counted.make_verdicts(judged)
    standings = counted.make_standings(sides, field, met, judged.labels, verdicts)
    residuals = make_residuals(field)
    return Tables(
        standings,
        counted.make_head_to_head(sides, scores, residuals),
        counted.make_win_types(sides),
        verdicts,
        make_rankings(field, [*standings["bot"]]),
        replace(_find(field, residuals, counts, anchors), idle=idle),
        judged,
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
    return Field(pairings, counts.played.pair_totals, labels, unrated, anchors, **how)


def _find(field: Field, residuals: pd.DataFrame, counts: Counts, anchors: Anchors) -> Findings:
    """Return the findings that are reported beside the tables."""
    misfits = find_misfits(residuals, field.labels)
    return Findings(
        anchors,
        [label for label in anchors if label not in field.numbers],
        seat_advantage(*counts.seats),
        field.groups,
        int(residuals["residual_q"].count()) // 2,
        [
            Misfit(bot, opponent, expected + residual, expected)
            for bot, opponent, expected, residual in misfits.to_numpy()[:, :4].tolist()
        ],
        describe_cycle(field),
        unbounded=[Unbounded(label, record, *ends) for label, record, *ends in field.unbounded()],
        spread=field.fit.spread,
        spread_counts=not is_equal(field.fit.model),
    )
