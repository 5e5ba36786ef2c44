"""Until: rounds that go on where the standings are least sure, until they are sure enough.

The first round is the whole schedule. Each further one goes to the pairings that say most about
what is still open: those of neighbours that are not told apart, or those that narrow the widest
intervals. The rounds grow, so that there are few.

What is found holds where the Elo describes the bots. Where it does not, a rating depends on whom a
bot met, and a run that chooses its pairings rates some bots otherwise than a full round robin.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from arena.errors import counted
from arena.rounds.base import Counts
from arena.rounds.narrowing import Narrowing
from arena.rounds.standings import Standings
from arena.tournament.leg import Leg
from arena.tournament.schedule import Pairing
from arena.tournament.stop import Until

_GROWTH = 2  # a round has at most one pair for every two that were played
_STEPS = 16  # in which a round's pairs are given out


class Open(NamedTuple):
    """What is not known: the order of two neighbours, or, without an opponent, one bot's Elo.

    `further_pairs` is about how many more would tell; None if that cannot be said.
    """

    bot: str
    opponent: str | None
    further_pairs: int | None


class UntilRounds:
    """Rounds of a run that stops by itself: `next` decides, and `find_open` says what is open.

    `width` is half the width of the intervals that are wanted, in Elo points; None asks for
    every two neighbours to be told apart. `anchor` is the label from which the Elo is counted.
    """

    most = None

    def __init__(
        self, pairings: Sequence[Pairing], pairs: int, stop: Until, anchor: str | None = None
    ) -> None:
        self.pairings = pairings
        self.pairs = pairs
        self.width = None if stop.target == "resolved" else float(stop.target)
        self.max_pairs = stop.max_pairs
        self.anchor = anchor
        self.least = max(1, pairs // 4)

    def next(self, number: int, counts: Mapping[int, Counts], out: Collection[str], /) -> list[Leg]:
        """Return the pairs of this round, none when all is known or no pairing may go on."""
        if number == 0:
            pairs = min(self.pairs, self.max_pairs)
            return [Leg(pairing, 0, pairs) for pairing in range(len(self.pairings))]
        standings = Standings(self.pairings, counts, out, self.anchor)
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
        standings = Standings(self.pairings, counts, out, self.anchor)
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

    def status(self, counts: Mapping[int, Counts], out: Collection[str] = (), /) -> str:
        """Return how much is not known."""
        if not counts:
            return ""
        pairs = sum(map(sum, counts.values()))
        found = self.find_open(counts, out)
        what = "neighbours not told apart" if self.width is None else "intervals too wide"
        return f"after {counted(pairs, 'pair')}: {what}: {len(found)}"

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
            spent = narrowing.spend(
                standings.contrast(widest, standings.anchor), pairings, min(step, left), step
            )
            if not spent:
                full.add(widest)
            left -= spent
