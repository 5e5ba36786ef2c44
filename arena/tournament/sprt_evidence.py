"""Evidence: what the games of a comparison say for each of its two hypotheses."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from arena.statistics.sprt import (
    DIFFERENCES,
    PAIR_SCORES,
    Bounds,
    bounds,
    elo_difference,
    elo_of,
    likely_left,
    log_likelihood_ratio,
    looks,
    mean_difference,
    prior_share,
    share_of,
)
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament

Verdict: TypeAlias = Literal["better", "not better", "undecided"]


class Evidence(NamedTuple):
    """The observations of a test by value, and the means under both hypotheses.

    An observation is a pair, or a deal of both versions against one opponent; its value is the
    new version's score, or what it has more than the old one's. `shares` are the old version's
    by opponent, and `looks` the numbers of observations after which the test was looked at.
    """

    counts: Sequence[int]
    values: Sequence[float]
    mean0: float
    mean1: float
    ends: Bounds
    looks: Sequence[int]
    shares: Sequence[float] = ()

    @property
    def pairs(self) -> int:
        """How many observations there are."""
        return sum(self.counts)

    @property
    def ratio(self) -> float:
        """The log-likelihood ratio of the second hypothesis against the first."""
        return log_likelihood_ratio(self.counts, self.values, self.mean0, self.mean1)

    @property
    def left(self) -> float | None:
        """How many observations are likely to be needed yet, None where nothing is known."""
        return likely_left(self.counts, self.values, self.mean0, self.mean1, self.ends)

    @property
    def verdict(self) -> Verdict:
        """Which bound the ratio has reached."""
        if self.ratio >= self.ends.high:
            return "better"
        return "not better" if self.ratio <= self.ends.low else "undecided"

    def elo(self, mean: float) -> float:
        """Return the lead in Elo points that a mean of the observations stands for."""
        if self.shares:
            return elo_difference(self.shares, mean / 2, self.pairs)
        edge = 0.25 / (self.pairs + 1)  # where all is won the estimate is at twice that
        return elo_of(min(1 - edge, max(edge, mean / 2)))


def weigh(
    tournament: Tournament,
    stop: Sprt,
    counts: Mapping[int, Sequence[int]],
    out: Collection[str] = (),
) -> Evidence:
    """Return the evidence of counts by pairing; opponents that are out have none.

    The counts are those that the rounds of the tournament get.
    """
    ends = bounds(stop.alpha, stop.beta)
    if not tournament.paired:
        seen = counts.get(0, (0,) * len(PAIR_SCORES))
        mean0, mean1 = (2 * share_of(elo) for elo in (stop.elo0, stop.elo1))
        return Evidence(seen, PAIR_SCORES, mean0, mean1, ends, looks(sum(seen)))
    numbers = [
        number
        for number in sorted(tournament.twins)
        if number in counts and tournament.pairings[number].opponent not in out
    ]
    seen = [sum(at) for at in zip(*(counts[number] for number in numbers), strict=True)]
    shares = [_old_share(counts[tournament.old_pairing(number)]) for number in numbers] or [0.5]
    mean0, mean1 = (mean_difference(shares, elo) for elo in (stop.elo0, stop.elo1))
    deals = sum(seen) // max(1, len(numbers))
    numbers_seen = [len(numbers) * look for look in looks(deals)]
    seen = seen or [0] * len(DIFFERENCES)
    return Evidence(seen, DIFFERENCES, mean0, mean1, ends, numbers_seen, shares)


def decide(evidence: Evidence, new: str, old: str, out: Collection[str]) -> Verdict:
    """Return the verdict, also where one of the two bots is out: it loses its remaining games."""
    if (new in out) == (old in out):
        return evidence.verdict
    return "not better" if new in out else "better"


def _old_share(counts: Sequence[int]) -> float:
    total = math.fsum(n * score for n, score in zip(counts, PAIR_SCORES, strict=True))
    return prior_share(total, sum(counts))
