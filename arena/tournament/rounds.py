"""Define the protocol class `Rounds`, which decides what a run plays next, and the single round.

After each round it chooses, by the games so far, the next pairs of games (one deal, played twice
with the seats swapped). A round robin is one single round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import NamedTuple, TypeAlias

from arena.tournament.schedule import PairRange, single_round
from arena.tournament.tournament import Tournament

Counts: TypeAlias = tuple[int, ...]
"""Pairs of a pairing by the score of its first bot in them: 0, 1/2, 1, 3/2 and 2.

Those of the new version in a paired tournament are by its score less that of the old one on the
same deal: -2 to 2 by halves.
"""

_SWISS = "arena.tournament.swiss_rounds:SwissRounds"


def add(counts: Counts, more: Counts) -> Counts:
    """Return the sum of two counts.

    >>> add((1, 0, 2, 0, 0), (0, 0, 3, 1, 0))
    (1, 0, 5, 1, 0)
    """
    return tuple(a + b for a, b in zip(counts, more, strict=True))


class Open(NamedTuple):
    """What is not known: the order of two neighbours, or, without an opponent, one bot's Elo.

    `further_pairs` is about how many more would tell; None if that cannot be said.
    """

    bot: str
    opponent: str | None
    further_pairs: int | None


class Rounds:
    """Decides at each barrier which pairs are played until the next one.

    It is a function of its arguments and the tournament alone, so that a run that was killed
    takes the same decisions again. The pairs of a pairing are played from 0 on without a gap.
    `most` is how many rounds there are at most, None if that is not known. With
    `leaves_out_unrated` a bot that has finished no game counts as one that is out.
    """

    most: int | None = None
    leaves_out_unrated = False

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        """Return the pairs of the round with this number, from 0, none when the run is over.

        `counts` are those of all earlier rounds, by the number of the pairing; a pairing that
        has not played is not there. `out` are the labels of bots that had too many faults: they
        get no more games.
        """
        raise NotImplementedError

    def status(self, _counts: Mapping[int, Counts], _out: Collection[str] = (), /) -> str:
        """Return in one line how far the run is, nothing if there is nothing to say."""
        return ""

    def find_open(
        self, _counts: Mapping[int, Counts], _out: Collection[str], /
    ) -> list[Open] | None:
        """Return what is not known, None for a run that looks for nothing."""
        return None

    def describe_end(
        self, _counts: Mapping[int, Counts], _out: Collection[str], _unrated: Collection[str], /
    ) -> list[str]:
        """Return lines that say whether a run has found what it looks for, none without that."""
        return []


class SingleRound(Rounds):
    """The rounds of a round robin, a gauntlet and of meetings: one, in which all is played."""

    most = 1

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament

    def next(
        self, number: int, _counts: Mapping[int, Counts], _out: Collection[str], /
    ) -> list[PairRange]:
        """Return all pairs of all pairings."""
        if number:
            return []
        if meetings := self.tournament.meetings:
            return [PairRange(number, 0, meeting.pairs) for number, meeting in enumerate(meetings)]
        return single_round(self.tournament.pairings, self.tournament.pairs)


def make_rounds(tournament: Tournament) -> Rounds:
    """Return what decides which pairs are played in a tournament.

    A module of rounds is imported by its name where a tournament needs it: numpy takes 0.1 s.
    """
    if tournament.stop:
        made: Rounds = _find(tournament.stop.rounds)(tournament, tournament.stop)
    elif tournament.rounds:
        made = _find(_SWISS)(tournament)
    else:
        made = SingleRound(tournament)
    return made


def _find(name: str) -> Callable[..., Rounds]:
    """Return what makes the rounds, by its module and its name."""
    module, _, attribute = name.partition(":")
    found: Callable[..., Rounds] = getattr(import_module(module), attribute)
    return found
