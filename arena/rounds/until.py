"""Until: rounds that go on where the standings are least sure, until they are sure enough.

The first round is the whole schedule. Each further one goes to the pairings that say most about
what is still open: those of neighbours that are not told apart, or those that narrow the widest
intervals. The rounds grow, so that there are few.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from arena.rounds.base import Counts
from arena.rounds.narrowing import Narrowing
from arena.rounds.standings import Standings
from arena.tournament.leg import Leg
from arena.tournament.schedule import Pairing

_GROWTH = 2  # a round has at most one pair for every two that were played
_STEPS = 16  # in which a round's pairs are given out


class Open(NamedTuple):
    """What is not known: the order of two neighbours, or, without an opponent, one bot's Elo.

    `further` is about how many more pairs would tell; None if that cannot be said.
    """

    bot: str
    opponent: str | None
    further: int | None


class UntilRounds:
    """Rounds of a run that stops by itself: `next` decides, and `find_open` says what is open.

    `width` is half the width of the intervals that are wanted, in Elo points; None asks for
    every two neighbours to be told apart. No pairing gets more than `max_pairs`.
    """

    def __init__(
        self, pairings: Sequence[Pairing], pairs: int, width: float | None, max_pairs: int
    ) -> None:
        self.pairings = pairings
        self.pairs = pairs
        self.width = width
        self.max_pairs = max_pairs
        self.least = max(1, pairs // 4)

    def next(self, number: int, counts: Mapping[int, Counts], out: Collection[str]) -> list[Leg]:
        """Return the pairs of this round (from 0), none when the run is over.

        `counts` are all pairs of all earlier rounds, by pairing; `out` are the labels of bots
        that get no more games.
        """
        if number == 0:
            pairs = min(self.pairs, self.max_pairs)
            return [Leg(pairing, 0, pairs) for pairing in range(len(self.pairings))]
        standings = Standings(self.pairings, counts, out)
        played = standings.played
        room = {pairing: self.max_pairs - played[pairing] for pairing in played}
        narrowing = Narrowing(standings, room)
        if self.width is None:
            self._order(standings, narrowing)
        else:
            self._narrow(standings, narrowing, self.width)
        return [
            Leg(pairing, played[pairing], played[pairing] + pairs)
            for pairing, pairs in sorted(narrowing.given.items())
        ]

    def find_open(self, counts: Mapping[int, Counts], out: Collection[str]) -> list[Open]:
        """Return what is not known, from the top of the standings; nothing if all is."""
        standings = Standings(self.pairings, counts, out)
        labels = standings.labels
        if self.width is None:
            return [
                Open(labels[upper], labels[lower], standings.further_pairs(upper, lower))
                for upper, lower in standings.doubtful()
            ]
        widths = standings.half_widths(standings.single)
        return [
            Open(labels[bot], None, standings.further_of_one(bot, self.width))
            for bot in standings.order
            if widths[bot] > self.width
        ]

    def _order(self, standings: Standings, narrowing: Narrowing) -> None:
        """Give pairs to the pairings of neighbours that are not told apart.

        Neighbours that do not meet, in a gauntlet, get pairs against the panel.
        """
        for upper, lower in standings.doubtful():
            own = standings.pairing_of(upper, lower)
            pairings = standings.pairings_of(upper, lower) if own is None else [own]
            most = sum(standings.played[pairing] for pairing in pairings)
            further = standings.further_pairs(upper, lower)
            wanted = max(self.least, min(most, further or most) // _GROWTH)
            step = max(self.least, wanted // _STEPS)
            narrowing.spend(standings.contrast(upper, lower), pairings, wanted, step)

    def _narrow(self, standings: Standings, narrowing: Narrowing, width: float) -> None:
        """Give pairs to the bot with the widest interval, until none is too wide."""
        left = max(self.least, sum(standings.played.values()) // _GROWTH)
        step = max(self.least, left // (_STEPS * len(standings.labels)))
        full: set[int] = set()
        while left > 0:
            widths = standings.half_widths(narrowing.single)
            wide = [bot for bot in standings.order if widths[bot] > width and bot not in full]
            if not wide:
                break
            widest = max(wide, key=lambda bot: round(float(widths[bot]), 6))
            pairings = standings.pairings_of(widest)
            spent = narrowing.spend(standings.contrast(widest), pairings, min(step, left), step)
            if not spent:
                full.add(widest)
            left -= spent
