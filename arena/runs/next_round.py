"""Decide what a run plays next: follow its rounds in its store, and say how far it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple

from arena.errors import count_of
from arena.store.store import Store
from arena.tournament.rounds import Counts, Unresolved, add, make_rounds
from arena.tournament.schedule import PairRange, Strikes, find_unrated
from arena.tournament.tournament import Tournament


class RunProgress:
    """The rounds of a run so far; `counts` are of the games before the last decision.

    `lengths` are the pairs of each pairing so far, by number, and `scheduled` is their sum. `ended`
    is True after the last round. `out` are the labels of the bots that had too many faults before
    the last decision. `unrated` are other bots that had not finished a game: a run with `until`
    decides nothing about them, and gives them no more pairs.
    """

    def __init__(self, tournament: Tournament, store: Store) -> None:
        self.tournament = tournament
        self.store = store
        self.rounds = make_rounds(tournament)
        self.number = 0
        self.ranges: list[PairRange] = []  # of the current round
        self.counts: dict[int, Counts] = {}
        self.lengths: dict[int, int] = {}
        self.scheduled = 0
        self.ended = False
        self.out: Collection[str] = ()
        self.unrated: Collection[str] = ()
        self._finished: Counter[int] = Counter()

    def next_round(self, out: Collection[str]) -> list[PairRange]:
        """Return the pairs of the next round, an empty list if the run is over.

        All games of the previous round must be in the store. `out` are the labels of bots with too
        many faults.
        """
        self.out = [*out]
        if self.ended:
            return []
        if self.number == self.rounds.most:
            self.ranges, self.ended = [], True
            return []
        self._count()
        gone = {*self.out, *self.unrated}
        if self.unrated and gone.issuperset(self.tournament.labels):
            self.ranges = []
        else:
            self.ranges = self.rounds.next(self.number, self.counts, gone)
        self.number += 1
        self.ended = not self.ranges
        for span in self.ranges:
            self.lengths[span.pairing] = span.end
            self.scheduled += span.end - span.first
        return self.ranges

    def snapshot(self) -> Callable[[], str]:
        """Return what describes the run after its last round, in one line, when it is called.

        A test takes 0.1 s for it, so another thread calls it, and only when it is shown.
        """
        return partial(self.rounds.status, dict(self.counts), {*self.out, *self.unrated})

    def find_open(self, out: Collection[str]) -> list[Unresolved] | None:
        """Return the questions that a run left unresolved, None for a run of fixed length.

        `out` are the labels of bots with too many faults.
        """
        return self.rounds.find_open(self.counts, [*out, *self.unrated])

    def describe_end(self, out: Collection[str]) -> list[str]:
        """Return lines on whether a run has reached its goal, an empty list without a goal."""
        return self.rounds.describe_end(self.counts, out, self.unrated)

    def _count(self) -> None:
        """Count the games of the last round."""
        if not self.ranges:
            return
        found = self.store.count_ranges(self.ranges)
        scores = found.scores
        for span in self.ranges:
            more: Counts = scores[span.pairing]
            if span.pairing in self.tournament.new_pairings:
                old = self.tournament.old_pairing(span.pairing)
                more = self.store.count_differences(span.pairing, old, span.first, span.end)
            before = self.counts.get(span.pairing, (0,) * len(more))
            self.counts[span.pairing] = add(before, more)
        self._finished += found.finished
        if self.rounds.leaves_out_unrated and self.number:
            unrated = find_unrated(self.tournament.pairings, self._finished)
            self.unrated = sorted(unrated - {*self.out})


def follow(tournament: Tournament, store: Store, strikes: Strikes) -> RunProgress:
    """Return the progress of a run up to its last complete round; `strikes` must be empty.

    Afterwards `strikes` has counted the faults of all these rounds.
    """
    progress = RunProgress(tournament, store)
    while ranges := progress.next_round(strikes.out):
        strikes.extend(ranges)
        finished, forfeits = store.finished(ranges), store.forfeits(ranges)
        for span in ranges:
            pairs = span.end - span.first
            if sum(map(len, finished[span.pairing])) < pairs:
                return progress
            strikes.finish(span.pairing, span.first, pairs, forfeits[span.pairing])
    return progress


class Extent(NamedTuple):
    """The size of a run: games played, games in all, or at most in all, and whether it is over."""

    played: int
    total: int
    finished: bool
    at_most: bool = False

    def describe(self) -> str:
        """Return a note that a run is not finished, "" if it is.

        >>> Extent(1200, 3000, False).describe()
        'not finished: 1,200 of 3,000 games'
        """
        if self.finished:
            return ""
        return f"not finished: {count_of(self.played, self.total, at_most=self.at_most)}"


def measure_extent(tournament: Tournament, store: Store) -> Extent:
    """Return how much of a run is in a store; only a run of several rounds must be followed."""
    played = store.count_games()
    if not (tournament.stop or tournament.rounds):
        return Extent(played, tournament.games, played == tournament.games)
    progress = follow(tournament, store, Strikes(tournament.pairings, 0, tournament.max_faults))
    may_stop = bool(tournament.stop) and not progress.ended
    total = tournament.games if may_stop and not tournament.rounds else 2 * progress.scheduled
    return Extent(played, total, progress.ended, at_most=may_stop)
