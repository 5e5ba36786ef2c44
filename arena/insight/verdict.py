"""Verdict: what a comparison came to, in words."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from arena.errors import counted
from arena.insight.claim import Claim, make_claim
from arena.insight.summary import cut
from arena.statistics.intervals import Estimate
from arena.statistics.sprt import MIN_ROUND
from arena.tournament.sprt_evidence import Verdict
from arena.tournament.stop import Sprt

if TYPE_CHECKING:
    from arena.insight.comparison import Comparison

_VALUES = {0.0: "0", 0.5: "1/2", 1.0: "1", 1.5: "3/2", 2.0: "2"}
_NAME_WIDTH = 14
_HEAD = (
    f"{'part':<8} {'name':<{_NAME_WIDTH}} {'new':>6} {'old':>6} {'diff':>7} {'95 %':>14}"
    f" {'elo':>5} {'95 %':>12}"
)


def describe(comparison: Comparison) -> Iterator[str]:
    """Yield what may be said, the lead in Elo points, the counts, and what the test says."""
    evidence, elo, stop = comparison.evidence, comparison.elo, comparison.stop
    low, high = evidence.ends
    yield comparison.sentence
    yield (
        f"Elo difference {_signed(elo.value, '+.1f')}, 95 % interval {_signed(elo.low, '+.1f')}"
        f" to {_signed(elo.high, '+.1f')} (adjusted for stopping)"
    )
    seen = ", ".join(
        f"{name_value(value)}: {count:,}"
        for value, count in zip(evidence.values, evidence.counts, strict=True)
    )
    pairs = counted(evidence.pairs, "pair")
    if comparison.twins:
        yield f"{pairs} played by both; by how much {comparison.new} had more:"
    else:
        yield f"{pairs}, by the score of {comparison.new}:"
    yield f"  {seen}"
    yield f"test of a lead of {stop.elo1:g} against one of {stop.elo0:g}: {evidence.verdict}"
    yield f"log-likelihood ratio {_signed(evidence.ratio, '.2f')}, bounds {low:.2f} and {high:.2f}"


def make_sentence(
    two: tuple[str, str],
    against: Collection[str],
    out: Collection[str],
    found: tuple[Verdict, Estimate, Sprt, int],
) -> str:
    """Return in one sentence which of two bots is stronger, as far as it may be said.

    `found` are the verdict, the lead with its interval, the test, and how many pairs it had.
    """
    new, old = two
    verdict, elo, stop, pairs = found
    if (new in out) != (old in out):
        loser = new if new in out else old
        return f"{verdict}: {loser} had too many faults, and loses its remaining games by rule"
    if against and {*against} <= {*out}:
        return f"{verdict}: every opponent had too many faults, and nothing more is played"
    claim = make_claim(verdict, elo, stop, pairs)
    if new not in out:
        return f"{claim}: {_say_claim(claim, two, elo, stop, pairs)}"
    both = f"{new} and {old} both had too many faults, and nothing more is played"
    if claim == "undecided":
        return f"{claim}: {both}"
    return f"{claim}: {_say_claim(claim, two, elo, stop, pairs)}; {both}"


def _say_claim(claim: Claim, two: tuple[str, str], elo: Estimate, stop: Sprt, pairs: int) -> str:
    """Return what may be said of a lead, with its interval."""
    new, old = two
    by = f"by about {_range(abs(elo.value), *sorted((abs(elo.low), abs(elo.high))))}"
    at = f"{new} is at {_signed(elo.value, '+.0f')} Elo points"
    at = f"{at} ({_signed(elo.low, '.0f')}..{_signed(elo.high, '.0f')})"
    why = "too few pairs" if pairs < MIN_ROUND else "too close"
    sentences: dict[Claim, str] = {
        "better": f"{new} is stronger than {old}, {by}",
        "weaker": f"{new} is weaker than {old}, {by}",
        "no worse": f"{new} does not trail {old} by {-stop.elo0:g}: {at}",
        "not better": f"{new} does not lead {old} by {stop.elo1:g}: {at}",
        "probably better": at,
        "probably weaker": at,
        "probably no worse": f"a deficit of {-stop.elo0:g} is unlikely: {at}",
        "probably not better": f"a lead of {stop.elo1:g} is unlikely: {at}",
        "undecided": f"{why} to call: {at}",
    }
    return sentences[claim]


def _range(value: float, low: float, high: float) -> str:
    return f"{value:.0f} Elo points ({low:.0f}..{high:.0f})"


def _signed(value: float, form: str) -> str:
    """Return a number in this form, without a minus where nothing but zeros is left of it.

    >>> _signed(-0.04, "+.1f"), _signed(-0.06, "+.1f"), _signed(-0.0001, ".2f")
    ('+0.0', '-0.1', '0.00')
    """
    text = f"{value:{form}}"
    if any(digit in text for digit in "123456789"):
        return text
    return f"{0.0:{form}}"


def name_value(value: float) -> str:
    """Return a score of a pair, or a difference, as it is written.

    >>> name_value(-1.5), name_value(0.0), name_value(2.0)
    ('-3/2', '0', '2')
    """
    return f"{'-' if value < 0 else ''}{_VALUES[abs(value)]}"


def describe_twins(comparison: Comparison) -> Iterator[str]:
    """Yield what differs between two versions on the same deals, nothing for two opponents."""
    if not (twins := comparison.twins):
        return
    yield ""
    if twins.differences.empty:
        yield "no game is left to compare"
        return
    yield _HEAD
    for row in twins.differences.to_dict("records"):
        yield _line(row)
    yield ""
    games = twins.games
    yield (
        f"{2 * twins.same_games:,} of {games:,} games are the same move by move for both versions"
    )
    times = twins.separate_games / games if games else 0
    yield (
        f"two separate round robins would need {twins.separate_games:,} games, {times:.1f} times"
        " as many"
    )
    decided = len(twins.decided)
    if decided:
        yield f"the change decided {counted(decided, 'game')} (decided.csv); the first of them:"
    else:
        yield "the change decided no game"


def _line(row: Mapping[Hashable, Any]) -> str:
    """Return a row of the table of differences; the Elo points are left out where it has none."""
    name = cut(str(row["name"]), _NAME_WIDTH)
    low, high = (_signed(row[key], "+.1%") for key in ("low", "high"))
    new, old = (f"{row[key]:.1%}" for key in ("new", "old"))
    gap = _signed(float(new[:-1]) - float(old[:-1]), "+.1f")  # of what stands beside it
    line = (
        f"{row['part']:<8} {name:<{_NAME_WIDTH}} {new:>6} {old:>6}"
        f" {gap + '%':>7} {f'{low}..{high}':>14}"
    )
    if row["elo"] != row["elo"]:  # nan
        return line
    elo, low, high = (_signed(row[key], "+.0f") for key in ("elo", "elo_low", "elo_high"))
    return f"{line} {elo:>5} {f'{low}..{high}':>12}"
