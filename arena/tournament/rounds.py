"""Base: what decides which pairs a run plays, round by round."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, TypeAlias

from arena.tournament.leg import Leg, single_round
from arena.tournament.stop import Sprt, Until
from arena.tournament.tournament import Tournament

Counts: TypeAlias = tuple[int, ...]
"""Pairs of a pairing by the score of its first bot in them: 0, 1/2, 1, 3/2 and 2.

Those of the new version in a paired tournament are by its score less that of the old one on the
same deal: -2 to 2 by halves.
"""


def add(counts: Counts, more: Counts) -> Counts:
    """Return the sum of two counts.

    >>> add((1, 0, 2, 0, 0), (0, 0, 3, 1, 0))
    (1, 0, 5, 1, 0)
    """
    return tuple(a + b for a, b in zip(counts, more, strict=True))


class Rounds(Protocol):
    """Decides at each barrier which pairs are played until the next one.

    It is a function of its arguments and the tournament alone, so that a run that was killed
    takes the same decisions again. The pairs of a pairing are played from 0 on without a gap.
    """

    @property
    def most(self) -> int | None:
        """How many rounds there are at most, None if that is not known."""

    def next(self, number: int, counts: Mapping[int, Counts], out: Collection[str], /) -> list[Leg]:
        """Return the pairs of the round with this number, from 0, none when the run is over.

        `counts` are those of all earlier rounds, by the number of the pairing; a pairing that
        has not played is not there. `out` are the labels of bots that had too many faults: they
        get no more games.
        """

    def status(self, counts: Mapping[int, Counts], out: Collection[str] = (), /) -> str:
        """Return in one line how far the run is, nothing if there is nothing to say."""


class SingleRound:
    """The rounds of a round robin and of a gauntlet: one, in which all is played."""

    most = 1

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament

    def next(
        self, number: int, _counts: Mapping[int, Counts], _out: Collection[str], /
    ) -> list[Leg]:
        """Return all pairs of all pairings."""
        return [] if number else single_round(self.tournament.pairings, self.tournament.pairs)

    def status(self, _counts: Mapping[int, Counts], _out: Collection[str] = (), /) -> str:
        """Return nothing."""
        return ""


def make_rounds(tournament: Tournament) -> Rounds:
    """Return what decides which pairs are played in a tournament."""
    if isinstance(tournament.stop, Until):
        from arena.tournament.until_rounds import UntilRounds  # with numpy, which takes 0.1 s

        anchor = tournament.anchor.bot if tournament.anchor else None
        return UntilRounds(tournament.pairings, tournament.pairs, tournament.stop, anchor)
    if tournament.rounds:
        from arena.tournament.swiss_rounds import SwissRounds

        return SwissRounds(tournament)
    if isinstance(tournament.stop, Sprt):
        from arena.tournament.sprt_rounds import SprtRounds

        return SprtRounds(tournament, tournament.stop)
    return SingleRound(tournament)
