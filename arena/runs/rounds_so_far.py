"""Course: the rounds of a run, as far as the games in its store decide them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from arena.insight.unrated import find_unrated
from arena.store.store import Store
from arena.tournament.leg import Leg
from arena.tournament.rounds import Counts, add, make_rounds
from arena.tournament.stop import Until
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament


class Course:
    """Goes from round to round; `counts` are those of the rounds that the next one was decided by.

    `lengths` are the pairs of each pairing so far, by number, and `scheduled` those of all.
    `ended` says that there is no further round; `out` are the labels of the bots that had too
    many faults before the last decision, and `unrated` are those of the others that had not
    finished a game: a run with `until` decides nothing about them, and gives them no more pairs.
    """

    def __init__(self, tournament: Tournament, store: Store) -> None:
        self.tournament = tournament
        self.store = store
        self.rounds = make_rounds(tournament)
        self.number = 0
        self.legs: list[Leg] = []  # of the round that is being played
        self.counts: dict[int, Counts] = {}
        self.lengths: dict[int, int] = {}
        self.scheduled = 0
        self.ended = False
        self.out: Collection[str] = ()
        self.unrated: Collection[str] = ()
        self._finished: Counter[int] = Counter()

    def next_round(self, out: Collection[str]) -> list[Leg]:
        """Return the pairs of the next round, none if the run is over.

        All games of the round before are in the store. `out` are the labels of bots that had
        too many faults.
        """
        self.out = [*out]
        if self.ended:
            return []
        if self.number == self.rounds.most:
            self.legs, self.ended = [], True
            return []
        self._count()
        gone = {*self.out, *self.unrated}
        if self.unrated and gone.issuperset(self.tournament.labels):
            self.legs = []
        else:
            self.legs = self.rounds.next(self.number, self.counts, gone)
        self.number += 1
        self.ended = not self.legs
        for leg in self.legs:
            self.lengths[leg.pairing] = leg.end
            self.scheduled += leg.end - leg.first
        return self.legs

    def status(self) -> str:
        """Return in one line how far the run is, at the last barrier."""
        return self.rounds.status(self.counts, {*self.out, *self.unrated})

    def _count(self) -> None:
        """Count the games of the last round."""
        for leg in self.legs:
            more: Counts = self.store.count_pairs(*leg)
            if leg.pairing in self.tournament.twins:
                old = self.tournament.old_pairing(leg.pairing)
                more = self.store.count_differences(leg.pairing, old, leg.first, leg.end)
            before = self.counts.get(leg.pairing, (0,) * len(more))
            self.counts[leg.pairing] = add(before, more)
            if isinstance(self.tournament.stop, Until):
                self._finished[leg.pairing] += self.store.count_finished(*leg)
        if isinstance(self.tournament.stop, Until) and self.number:
            unrated = find_unrated(self.tournament.pairings, self._finished)
            self.unrated = sorted(unrated - {*self.out})


def follow(tournament: Tournament, store: Store, strikes: Strikes) -> Course:
    """Return the course of a run as far as its store has whole rounds; `strikes` are empty.

    The strikes have then counted the faults of all these rounds.
    """
    course = Course(tournament, store)
    while legs := course.next_round(strikes.out):
        strikes.extend(legs)
        for leg in legs:
            pairs = range(leg.first, leg.end)
            if sum(store.count_pairs(*leg)) < len(pairs):
                return course
            strikes.finish(leg.pairing, leg.first, len(pairs), store.forfeits(leg.pairing, pairs))
    return course


class Extent(NamedTuple):
    """How much of a run there is: games so far, games as far as rounds are known, and the end."""

    played: int
    total: int
    finished: bool

    def describe(self) -> str:
        """Return in words that a run is not finished, nothing for one that is.

        >>> Extent(1200, 3000, False).describe()
        'not finished: 1,200 of 3,000 games'
        """
        return "" if self.finished else f"not finished: {self.played:,} of {self.total:,} games"


def measure_extent(tournament: Tournament, store: Store, course: Course | None = None) -> Extent:
    """Return how much of a run is in a store; `course` is that of `follow`, if it is known."""
    if course is None:
        course = follow(tournament, store, Strikes(tournament.pairings, 0, tournament.max_faults))
    is_fixed = not tournament.rounds and not tournament.stop
    total = tournament.games if is_fixed else 2 * course.scheduled
    return Extent(store.count_games(), total, course.ended)
