"""Add pairs where the standings are least certain, up to a target precision (key `until`).

The first round is the whole schedule. Each further round adds pairs to the pairings with the most
information about unresolved questions: all pairings of neighbours that are not separated yet, or of
bots whose intervals are too wide. The rounds grow, so that there are few of them.

The target ranking is that of an equal round robin. If the Elo model does not fit, the pairs between
two bots do not determine their order in it. So every pairing has the same weight in the Elo, and
neighbours play further pairs against all their opponents, twice as many against each other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from arena.errors import counted
from arena.statistics.distributions import Floats
from arena.tournament.barrier import Narrowing, Standings
from arena.tournament.rounds import Counts, Open, Rounds
from arena.tournament.schedule import Pairing, PairRange
from arena.tournament.stop import Until
from arena.tournament.tournament import Tournament

_GROWTH = 1.5  # the largest growth of the relevant pairs in a round
_LEAST_GROWTH = 1.05  # the smallest growth, to keep the rounds few
_UNKNOWN = 10**9  # pairs; more than any run plays
_DIGITS = 2  # significant digits of an estimated number of pairs
_HOPE = 2.0  # standard errors by which a true lead may exceed its estimate


class UntilRounds(Rounds):
    """Rounds of a run that stops at its target precision; `find_open` lists unresolved questions.

    `width` is half the width of the target intervals in Elo points; None means that all neighbours
    must be separated. `anchor` is the label of the bot at the zero of the Elo scale.
    """

    leaves_out_unrated = True

    def __init__(
        self, pairings: Sequence[Pairing], pairs: int, stop: Until, anchor: str | None = None
    ) -> None:
        self.pairings = pairings
        self.pairs = pairs
        self.width = None if stop.target == "resolved" else float(stop.target)
        self.max_pairs = stop.max_pairs
        self.anchor = anchor
        self.least = max(1, pairs // 4)

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        """Return the pairs of this round; empty if all is resolved or no pairing may continue."""
        if number == 0:
            pairs = min(self.pairs, self.max_pairs)
            return [PairRange(pairing, 0, pairs) for pairing in range(len(self.pairings))]
        standings = Standings(self.pairings, counts, out, self.anchor)
        played = standings.played
        room = {pairing: self.max_pairs - played[pairing] for pairing in played}
        narrowing = Narrowing(standings, room)
        if self.width is None:
            self._order(standings, narrowing)
        else:
            self._narrow(standings, narrowing, self.width)
        return [
            PairRange(pairing, played[pairing], played[pairing] + pairs)
            for pairing, pairs in sorted(narrowing.given.items())
        ]

    def find_open(self, counts: Mapping[int, Counts], out: Collection[str]) -> list[Open]:
        """Return the unresolved questions from the top of the standings; empty if none remains."""
        standings = Standings(self.pairings, counts, out, self.anchor)
        labels = standings.labels
        if self.width is None:
            return [
                Open(labels[upper], labels[lower], self._count_further(standings, upper, lower))
                for upper, lower in standings.doubtful()
            ]
        widths = standings.half_widths()
        return [
            Open(labels[bot], None, self._count_further(standings, bot))
            for bot in standings.order
            if widths[bot] > self.width
        ]

    def _count_further(
        self, standings: Standings, bot: int, opponent: int | None = None
    ) -> int | None:
        """Estimate the number of further pairs needed to resolve a question, None if unknown."""
        if opponent is not None:
            growth = standings.growth(bot, opponent)
            contrast, bots = standings.contrast(bot, opponent), [bot, opponent]
        else:
            growth = standings.growth_of_one(bot, self.width or math.inf)
            contrast, bots = standings.contrast(bot, standings.anchor), [bot]
        if growth is None or not standings.met:
            return None
        pairings = standings.pairings_of(*bots)
        wanted = Narrowing(standings, {}).count_wanted(contrast, pairings, growth) or 1
        return wanted if wanted < _UNKNOWN else None

    def status(self, counts: Mapping[int, Counts], out: Collection[str] = (), /) -> str:
        """Return the number of unresolved questions as text."""
        if not counts:
            return ""
        pairs = sum(map(sum, counts.values()))
        found = self.find_open(counts, out)
        what = "neighbours not told apart" if self.width is None else "intervals too wide"
        return f"after {counted(pairs, 'pair')}: {what}: {len(found)}"

    def describe_end(
        self, counts: Mapping[int, Counts], out: Collection[str], unrated: Collection[str], /
    ) -> list[str]:
        """Return lines that report whether all is resolved, and the cost of the rest in pairs."""
        left = {label for two in self.pairings for label in two} - {*out, *unrated}
        if len(left) < 2:
            why = "had too many faults" if out else "finished no game"
            return [f"nothing to find out: {' and '.join(out or unrated)} {why}"]
        found = self.find_open(counts, [*out, *unrated])
        after = f"after {counted(sum(map(sum, counts.values())), 'pair')}"
        most = f"{self.max_pairs:,} at most in a pairing"
        others = "".join(_but_for(out, unrated))
        if self.width is None:
            if not found:
                return [f"resolved {after}: every two neighbours are told apart{others}"]
            head = f"not resolved {after}, with {most}{others}:"
            return [head, *(f"  {_pair_of(one)}" for one in found)]
        wanted = f"within {self.width:g} Elo points"
        if not found:
            return [f"resolved {after}: all intervals are {wanted}{others}"]
        head = f"not all intervals are {wanted} {after}, with {most}{others}:"
        return [head, *(f"  {one.bot}: {describe_cost(one.further_pairs)}" for one in found)]

    def _order(self, standings: Standings, narrowing: Narrowing) -> None:
        """Allocate pairs to the pairings of unseparated neighbours if that can separate them."""
        for upper, lower in standings.doubtful():
            if standings.growth(upper, lower, hope=_HOPE) is None:
                continue
            contrast = standings.contrast(upper, lower)
            pairings = standings.pairings_of(upper, lower)
            self._give(narrowing, contrast, pairings, standings.growth(upper, lower))

    def _narrow(self, standings: Standings, narrowing: Narrowing, width: float) -> None:
        """Allocate pairs to the bots whose intervals are too wide, the widest first."""
        widths = standings.half_widths(luck=True)
        wide = [bot for bot in standings.order if widths[bot] > width]
        for bot in sorted(wide, key=lambda bot: -round(float(widths[bot]), 6)):
            contrast = standings.contrast(bot, standings.anchor)
            growth = (float(widths[bot]) / width) ** 2
            self._give(narrowing, contrast, standings.pairings_of(bot), growth)

    def _give(
        self, narrowing: Narrowing, contrast: Floats, pairings: list[int], growth: float | None
    ) -> None:
        """Allocate pairs for half of the missing growth, up to the limit of a round."""
        wanted = _GROWTH if growth is None else 1 + (growth - 1) / 2
        now = min(_GROWTH, max(_LEAST_GROWTH, wanted))
        narrowing.narrow(contrast, pairings, now, self.least)


def make_rounds(tournament: Tournament, stop: Until) -> UntilRounds:
    """Return the rounds of a tournament with this stopping rule."""
    anchor = tournament.anchor.bot if tournament.anchor else None
    return UntilRounds(tournament.pairings, tournament.pairs, stop, anchor)


def _but_for(out: Collection[str], unrated: Collection[str]) -> Iterator[str]:
    """Yield the bots that remain unresolved, with the reason.

    >>> print(*_but_for(["a", "b"], ["b", "c"]))
    , but for a, b, which had too many faults , but for c, which finished no game
    """
    if out:
        yield f", but for {', '.join(out)}, which had too many faults"
    if unrated := [label for label in unrated if label not in out]:
        yield f", but for {', '.join(unrated)}, which finished no game"


def _pair_of(one: Open) -> str:
    return f"{one.bot} and {one.opponent} are not told apart: {describe_cost(one.further_pairs)}"


def describe_cost(further: int | None) -> str:
    """Describe the number of further pairs in words.

    >>> describe_cost(27902), describe_cost(None)
    ('about 28,000 further pairs', 'no number of further pairs can be named')
    """
    if further is None:
        return "no number of further pairs can be named"
    return f"about {counted(int(float(f'{further:.{_DIGITS}g}')), 'further pair')}"
