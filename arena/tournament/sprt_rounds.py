"""Rounds of a comparison: growing ones, until a sequential test has a verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from arena.errors import counted
from arena.statistics.sprt import moments, round_size
from arena.tournament.leg import Leg
from arena.tournament.rounds import Counts
from arena.tournament.sprt_evidence import Evidence, weigh
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament


class SprtRounds:
    """Both versions, or the two bots, play on until one hypothesis is far likelier.

    Against a panel every opponent has as many deals as every other one. Nothing more is played
    when one of the two bots is out.
    """

    most = None

    def __init__(self, tournament: Tournament, stop: Sprt) -> None:
        self.tournament = tournament
        self.stop = stop

    def next(
        self, _number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[Leg]:
        """Return the pairs of the next round, none when there is a verdict."""
        if {*self.tournament.labels[:2]} & {*out}:
            return []
        numbers = self._in_play(out)
        if not numbers or self._weigh(counts, out).verdict != "undecided":
            return []
        played = max((sum(of_pairing) for of_pairing in counts.values()), default=0)
        size = round_size(played, self.stop.max_pairs // max(1, self.tournament.panel))
        return [Leg(number, played, played + size) for number in numbers] if size else []

    def _in_play(self, out: Collection[str]) -> list[int]:
        """Return the pairings that play on."""
        return [
            number
            for number, pairing in enumerate(self.tournament.pairings)
            if pairing.opponent not in out
        ]

    def _weigh(self, counts: Mapping[int, Counts], out: Collection[str]) -> Evidence:
        return weigh(self.tournament, self.stop, counts, out)

    def status(self, counts: Mapping[int, Counts], out: Collection[str] = (), /) -> str:
        """Return pairs, log-likelihood ratio, Elo so far, and how many pairs are likely yet."""
        evidence = self._weigh(counts, out)
        return describe(evidence) if evidence.pairs else ""


def describe(evidence: Evidence) -> str:
    """Return how far a test is, in one line.

    >>> from arena.statistics.sprt import PAIR_SCORES, bounds
    >>> ends = bounds(0.05, 0.05)
    >>> seen = (10, 0, 80, 0, 20)
    >>> describe(Evidence(seen, PAIR_SCORES, 1.0, 1.0863, ends, [110]))
    '110 pairs, LLR 1.69 of -2.94 to 2.94, Elo +31 so far, about 80 pairs to go'
    """
    low, high = evidence.ends
    elo = evidence.elo(moments(evidence.counts, evidence.values).mean)
    left = evidence.left
    to_go = "unknown pairs" if left is None else f"about {counted(round(left), 'pair')}"
    return (
        f"{counted(evidence.pairs, 'pair')}, LLR {evidence.ratio:.2f} of {low:.2f} to {high:.2f}, "
        f"Elo {elo:+.0f} so far, {to_go} to go"
    )
