"""Say what a comparison or an ablation of rules has found, in words.

No sentence goes beyond the interval as it is shown; bench/STUDIES.md has how often each of them is
wrong. As in `arena.tables.headline` the sentences are data first. The interval of a difference
allows for its choice from all that were looked at, and "surely" means that it leaves out 0, as it
is shown.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from arena.statistics.intervals import Estimate
from arena.statistics.number_texts import say_two, write_estimate
from arena.statistics.sequential_test import looks
from arena.statistics.verdicts import Word
from arena.store.store import Store
from arena.tournament.schedule import PairRange
from arena.tournament.sprt_rounds import Verdict, weigh
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament


class Look(NamedTuple):
    """The ratio after so many pairs; against other bots they are those of both versions."""

    pairs: int
    ratio: float


def count_observations(
    tournament: Tournament, store: Store, first: int, end: int
) -> dict[int, tuple[int, ...]]:
    """Return the pairs from `first` to `end` of each pairing, by the score of its first bot.

    Of two versions that met the same opponents they are by the difference of their scores.
    """
    ranges = [PairRange(number, first, end) for number in range(len(tournament.pairings))]
    scores = store.count_ranges(ranges).scores
    return {
        number: store.count_differences(number, tournament.old_pairing(number), first, end)
        if number in tournament.new_pairings
        else scores[number]
        for number in range(len(tournament.pairings))
    }


def read_path(
    tournament: Tournament, stop: Sprt, store: Store, played: int, out: Collection[str] = ()
) -> list[Look]:
    """Return the log-likelihood ratio at each look of the test, from the first one on.

    `played` are the pairs that were observed, of all opponents that are not `out`.
    """
    paired = sum(tournament.pairings[n].opponent not in out for n in tournament.new_pairings)
    path: list[Look] = []
    counts = count_observations(tournament, store, 0, 0)
    for before, look in pairwise([0, *looks(played // max(1, paired))]):
        for number, more in count_observations(tournament, store, before, look).items():
            counts[number] = tuple(map(sum, zip(counts[number], more, strict=True)))
        evidence = weigh(tournament, stop, counts, out)
        path.append(Look(evidence.pairs, evidence.ratio))
    return path


Claim: TypeAlias = Literal[
    "better",
    "weaker",
    "no worse",
    "not better",
    "probably better",
    "probably weaker",
    "probably no worse",
    "probably not better",
    "undecided",
]
"""The lead is above 0, below 0, above elo0, below elo1; `probably` is said where the test has a
verdict and the interval does not leave out what it denies; or nothing may be said."""

FEWEST_PAIRS = 16  # pairs of which something is said
_VALUES = {0.0: "0", 0.5: "1/2", 1.0: "1", 1.5: "3/2", 2.0: "2"}


def make_claim(verdict: Verdict, elo: Estimate, stop: Sprt, pairs: int = FEWEST_PAIRS) -> Claim:
    """Return what may be said of an Elo difference, whose numbers are shown without decimals.

    Nothing is said after fewer pairs than the test needs before it is looked at first: intervals
    of 8 pairs left out an even match in 8 % of 1,500 simulated runs.

    >>> stop = Sprt(0.0, 10.0, 0.05, 0.05, 1000)
    >>> make_claim("not better", Estimate(-62.4, -91.1, -34.4), stop)
    'weaker'
    >>> make_claim("undecided", Estimate(334.2, 250.9, 466.0), stop)
    'better'
    >>> make_claim("not better", Estimate(-1.0, -8.0, 6.0), stop)
    'not better'
    """
    low, high = round(elo.low), round(elo.high)
    if pairs < FEWEST_PAIRS:
        return "undecided"
    if low > 0:
        return "better"
    if high < 0:
        return "weaker"
    if verdict == "undecided":
        return "undecided"
    if verdict == "better":
        if stop.elo0 >= 0:
            return "probably better"
        return "no worse" if low > stop.elo0 else "probably no worse"
    if stop.elo1 <= 0:
        return "probably weaker"
    return "not better" if high < stop.elo1 else "probably not better"


def make_sentence(
    two: tuple[str, str],
    against: Collection[str],
    out: Collection[str],
    found: tuple[Verdict, Estimate, Sprt, int],
    word: Word,
) -> str:
    """Return in one sentence which of two bots is stronger, as far as it may be said.

    `found` are the verdict, the Elo difference with its interval, the test, and its pairs; `word`
    is that of verdicts.csv.
    """
    new, old = two
    verdict, elo, stop, pairs = found
    if (new in out) != (old in out):
        loser = new if new in out else old
        return f"{verdict}: {loser} had too many faults, and loses its remaining games by rule"
    if against and {*against} <= {*out}:
        return f"{verdict}: every opponent had too many faults, and nothing more is played"
    claim = make_claim(verdict, elo, stop, pairs)
    said = f"{claim}: {_say_claim(claim, two, found, word)}"
    if new not in out:
        return said
    both = f"{new} and {old} both had too many faults, and nothing more is played"
    if claim == "undecided":
        return f"{claim}: {both}"
    return f"{said}; {both}"


def _say_claim(
    claim: Claim, two: tuple[str, str], found: tuple[Verdict, Estimate, Sprt, int], word: Word
) -> str:
    """Return what may be said of an Elo difference, with its interval, and the word on both."""
    new, (_, elo, stop, pairs) = two[0], found
    ends = sorted(map(abs, elo[1:3]))
    by = f"by about {write_estimate(Estimate(abs(elo.value), *ends), unit=' Elo points')}"
    told = _say_word(word, two, "the two", is_ahead=elo.value >= 0)
    at = f"{told}: {new} is at {write_estimate(elo, '+.0f', ' Elo points')}"
    few = "too few pairs, and " if pairs < FEWEST_PAIRS else ""
    stated = _state_claims(two, stop)
    if claim in ("better", "weaker"):
        return f"{stated[claim]}, {by}"
    if claim in stated:
        return f"{stated[claim]}, and {at}"
    unlikely = {"probably no worse": stop.elo0, "probably not better": stop.elo1}
    if claim in unlikely:
        return f"an Elo difference of {unlikely[claim]:g} is unlikely, and {at}"
    return f"{few}{at}"


def _state_claims(two: tuple[str, str], stop: Sprt) -> dict[Claim, str]:
    """Return what surely holds of two bots, by the claims that say so."""
    new, old = two
    return {
        "better": f"{new} is stronger than {old}",
        "weaker": f"{new} is weaker than {old}",
        "no worse": f"{new} does not trail {old} by {-stop.elo0:g}",
        "not better": f"{new} does not lead {old} by {stop.elo1:g}",
    }


def state_claim(
    claim: Claim, two: tuple[str, str], stop: Sprt, word: Word, *, is_ahead: bool
) -> str:
    """Return a claim without its numbers; `is_ahead` says whether the new bot is.

    >>> stop = Sprt(0.0, 10.0, 0.05, 0.05, 1000)
    >>> state_claim("undecided", ("new", "old"), stop, "leans", is_ahead=False)
    'old is probably stronger than new'
    >>> state_claim("not better", ("new", "old"), stop, "open", is_ahead=True)
    'new does not lead old by 10 Elo, and the two are not told apart'
    """
    stated = _state_claims(two, stop).get(claim, "")
    if claim in ("better", "weaker"):
        return stated
    told = _say_word(word, two, "the two" if stated else "", is_ahead=is_ahead)
    return f"{stated} Elo, and {told}" if stated else told


def _say_word(word: Word, two: tuple[str, str], both: str, *, is_ahead: bool) -> str:
    """Return the verdict on a comparison's bots, of which only its test says "stronger"."""
    first, second = two if is_ahead else two[::-1]
    return say_two("leans" if word == "leans" else "open", first, second, both or " and ".join(two))


def name_value(value: float) -> str:
    """Return a score of a pair, or a difference, as it is written.

    >>> name_value(-1.5), name_value(0.0), name_value(2.0)
    ('-3/2', '0', '2')
    """
    return f"{'-' if value < 0 else ''}{_VALUES[abs(value)]}"
