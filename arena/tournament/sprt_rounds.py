"""Compare two bots in growing rounds until a sequential probability ratio test (SPRT) decides."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from arena.errors import InputError, counted
from arena.statistics import sequential_test as sprt
from arena.statistics.intervals import Estimate
from arena.statistics.number_texts import signed, write_ends
from arena.tournament.rounds import Counts, Rounds
from arena.tournament.schedule import PairRange
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament

Verdict: TypeAlias = Literal["better", "not better", "undecided"]

_GROWTH = 4  # a round has at most one pair for this many played before it, or those of the first


class Evidence(NamedTuple):
    """The observations of a test by value, and the means under both hypotheses.

    An observation is a pair, whose value is the new version's score; or a deal that both versions
    played against one opponent, whose value is the difference of their scores. `shares` are the old
    version's scores by opponent, and `looks` the numbers of observations at the interim analyses.
    """

    counts: Sequence[int]
    values: Sequence[float]
    mean0: float
    mean1: float
    ends: sprt.Bounds
    looks: Sequence[int]
    shares: Sequence[float] = ()

    @property
    def pairs(self) -> int:
        """The number of observations."""
        return sum(self.counts)

    @property
    def ratio(self) -> float:
        """The log-likelihood ratio of the second hypothesis against the first."""
        return sprt.log_likelihood_ratio(self.counts, self.values, self.mean0, self.mean1)

    @property
    def left(self) -> float | None:
        """The number of further observations that are likely to be needed, None if unknown."""
        return sprt.likely_left(self.counts, self.values, self.mean0, self.mean1, self.ends)

    @property
    def safe_pairs(self) -> int:
        """The number of further observations that cannot take the ratio to a bound."""
        each = sprt.single_ratios(self.counts, self.values, self.mean0, self.mean1)
        low, high = (end - self.ratio for end in self.ends)
        return math.ceil(min(low / min(each), high / max(each))) - 1

    @property
    def verdict(self) -> Verdict:
        """The verdict, by the bound that the ratio has reached."""
        if self.ratio >= self.ends.high:
            return "better"
        return "not better" if self.ratio <= self.ends.low else "undecided"

    def estimate(self) -> Estimate:
        """Return the mean of an observation, with its interval, which may end beyond all values.

        It allows for the looks of the test, whether it has ended or not.
        """
        if not self.pairs:  # all opponents are out
            least, most = self.values[0], self.values[-1]
            return Estimate((least + most) / 2, least, most)
        counts, values, mean0, mean1, ends, looks = self[:6]
        return sprt.estimate_mean(counts, values, mean0, mean1, looks, ends)

    def elo(self, mean: float) -> float:
        """Convert a mean of the observations to a lead in Elo points."""
        if self.shares:
            return sprt.elo_difference(self.shares, mean / 2, self.pairs)
        edge = 0.25 / (self.pairs + 1)  # if all games are won, the estimate is at twice this
        return sprt.elo_of(min(1 - edge, max(edge, mean / 2)))


def weigh(
    tournament: Tournament,
    stop: Sprt,
    counts: Mapping[int, Sequence[int]],
    out: Collection[str] = (),
) -> Evidence:
    """Return the evidence from counts by pairing, without opponents that are out.

    The counts are those that `Rounds.next` receives.
    """
    ends = sprt.bounds(stop.alpha, stop.beta)
    if not tournament.paired:
        seen = counts.get(0, (0,) * len(sprt.PAIR_SCORES))
        mean0, mean1 = (2 * sprt.share_of(elo) for elo in (stop.elo0, stop.elo1))
        return Evidence(seen, sprt.PAIR_SCORES, mean0, mean1, ends, sprt.looks(sum(seen)))
    numbers = [
        number
        for number in sorted(tournament.new_pairings)
        if number in counts and tournament.pairings[number].opponent not in out
    ]
    seen = [sum(at) for at in zip(*(counts[number] for number in numbers), strict=True)]
    shares = [_old_share(counts[tournament.old_pairing(number)]) for number in numbers] or [0.5]
    mean0, mean1 = (sprt.mean_difference(shares, elo) for elo in (stop.elo0, stop.elo1))
    deals = sum(seen) // max(1, len(numbers))
    numbers_seen = [len(numbers) * look for look in sprt.looks(deals)]
    seen = seen or [0] * len(sprt.DIFFERENCES)
    return Evidence(seen, sprt.DIFFERENCES, mean0, mean1, ends, numbers_seen, shares)


def decide(evidence: Evidence, new: str, old: str, out: Collection[str]) -> Verdict:
    """Return the verdict; if one of the two bots is out, it loses its remaining games."""
    if (new in out) == (old in out):
        return evidence.verdict
    return "not better" if new in out else "better"


def _old_share(counts: Sequence[int]) -> float:
    total = math.fsum(n * score for n, score in zip(counts, sprt.PAIR_SCORES, strict=True))
    return sprt.prior_share(total, sum(counts))


class SprtRounds(Rounds):
    """Both versions, or the two bots, play until the test accepts one hypothesis.

    Against a panel every opponent gets the same number of deals. The run ends if one of the two
    bots is out.
    """

    def __init__(self, tournament: Tournament, stop: Sprt) -> None:
        self.tournament = tournament
        self.stop = stop

    def next(
        self, _number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        """Return the pairs of the next round; an empty list once there is a verdict.

        Up to its last pair no pair of it can decide, so the test ends as if it was looked at after
        each, but for the first 32.
        """
        if {*self.tournament.labels[:2]} & {*out}:
            return []
        pairings = enumerate(self.tournament.pairings)
        numbers = [number for number, pairing in pairings if pairing.opponent not in out]
        evidence = weigh(self.tournament, self.stop, counts, out)
        if not numbers or evidence.verdict != "undecided":
            return []
        played = max((sum(of_pairing) for of_pairing in counts.values()), default=0)
        safe, most = evidence.safe_pairs // len(numbers), max(sprt.FIRST_LOOK, played // _GROWTH)
        size = min(safe + 1, most) if played >= sprt.FIRST_LOOK else sprt.FIRST_LOOK - played
        size = min(size, self.stop.max_pairs // max(1, self.tournament.panel) - played)
        return [PairRange(number, played, played + size) for number in numbers] if size > 0 else []

    def status(self, counts: Mapping[int, Counts], out: Collection[str] = (), /) -> str:
        """Return pairs, log-likelihood ratio, Elo so far, and the pairs likely to be needed yet."""
        evidence = weigh(self.tournament, self.stop, counts, out)
        return describe(evidence) if evidence.pairs else ""


def describe(evidence: Evidence) -> str:
    """Describe the progress of a test in one line, with its ratio and the bounds.

    >>> from arena.statistics.sequential_test import PAIR_SCORES, bounds
    >>> ends = bounds(0.05, 0.05)
    >>> seen = (10, 0, 80, 0, 20)
    >>> describe(Evidence(seen, PAIR_SCORES, 1.0, 1.0863, ends, [110]))
    '110 pairs, Elo +31 (-3..66), LLR 1.69 (-2.94..2.94), ~80 to go'
    """
    low, high = evidence.ends
    value, least, most = map(evidence.elo, evidence.estimate()[:3])
    left = "" if evidence.left is None else f", ~{float(f'{evidence.left:.2g}'):,.0f} to go"
    elo = f"Elo {signed(value, '+.0f')} ({write_ends(least, most)})"
    return (
        f"{counted(evidence.pairs, 'pair')}, {elo}, "
        f"LLR {signed(evidence.ratio, '.2f')} ({low:.2f}..{high:.2f}){left}"
    )


def as_comparison(tournament: Tournament, stop: Sprt) -> Tournament:
    """Return the comparison of the first two bots, against the panel if there is one.

    Raises InputError if `max_pairs` is too small for the panel.
    """
    panel = tournament.panel
    if stop.max_pairs < panel:
        raise InputError(
            f"max_pairs: {stop.max_pairs} {'is' if stop.max_pairs == 1 else 'are'} too few for "
            f"{counted(panel, 'opponent')}"
        )
    new, old = tournament.labels[:2]
    return dataclasses.replace(
        tournament,
        name=comparison_name(new, old) + ("-against" if panel else ""),
        pairs=stop.max_pairs,
        stop=stop,
        paired=panel > 0,
    )


def comparison_name(new: str, old: str) -> str:
    """Return the name of a comparison, which is also the name of its folder.

    >>> comparison_name("mine(depth=3)", "./mine")
    'compare-mine-depth-3-mine'
    """
    return "-".join(["compare", folder_word(new), folder_word(old)])


_WORD = 80  # bytes of a label in the name of a folder


def folder_word(label: str) -> str:
    """Convert a label to a part of a folder's name: letters of any script, and digits.

    >>> folder_word("mine(depth=3)"), folder_word("\u8caa\u6b32=1")
    ('mine-depth-3', '\u8caa\u6b32-1')
    """
    word = re.sub(r"[^\w.]+", "-", label).strip("-.")
    return word.encode()[:_WORD].decode(errors="ignore") or "bot"
