"""Verdict: what a comparison came to, in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from arena.errors import counted
from arena.results.summary import cut

if TYPE_CHECKING:
    from arena.results.comparison import Comparison

_VALUES = {0.0: "0", 0.5: "1/2", 1.0: "1", 1.5: "3/2", 2.0: "2"}
_NAME_WIDTH = 14
_HEAD = (
    f"{'part':<8} {'name':<{_NAME_WIDTH}} {'new':>6} {'old':>6} {'diff':>7} {'95 %':>14}"
    f" {'elo':>5} {'95 %':>12}"
)


def describe(comparison: Comparison) -> Iterator[str]:
    """Yield the verdict, the lead in Elo points and the counts."""
    evidence, elo = comparison.evidence, comparison.elo
    low, high = evidence.ends
    yield f"{comparison.verdict}: {_explain(comparison)}"
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
    yield f"log-likelihood ratio {_signed(evidence.ratio, '.2f')}, bounds {low:.2f} and {high:.2f}"


def _explain(comparison: Comparison) -> str:
    """Return the verdict as a sentence."""
    new, old, out = comparison.new, comparison.old, comparison.out
    if (new in out) != (old in out):
        loser = new if new in out else old
        return f"{loser} had too many faults, and loses its remaining games by rule"
    if comparison.against and {*comparison.against} <= {*out}:
        return "every opponent had too many faults, and nothing more is played"
    lead = _explain_lead(comparison)
    if new not in out:
        return lead
    both = f"{new} and {old} both had too many faults, and nothing more is played"
    return both if comparison.verdict == "undecided" else f"{lead}; {both}"


def _explain_lead(comparison: Comparison) -> str:
    """Return what the games say of the lead."""
    new, old, stop = comparison.new, comparison.old, comparison.stop
    leads = [f"{elo:g}" for elo in (stop.elo1, stop.elo0)]
    if comparison.verdict == "undecided":
        return f"neither a lead of {leads[1]} nor one of {leads[0]} Elo points is likely enough"
    if comparison.verdict == "not better":
        leads.reverse()
    return f"{new} leads {old} by {leads[0]} Elo points rather than by {leads[1]}"


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
    low, high, gap = (_signed(row[key], "+.1%") for key in ("low", "high", "difference"))
    line = (
        f"{row['part']:<8} {name:<{_NAME_WIDTH}} {row['new']:>6.1%} {row['old']:>6.1%}"
        f" {gap:>7} {f'{low}..{high}':>14}"
    )
    if row["elo"] != row["elo"]:  # nan
        return line
    elo, low, high = (_signed(row[key], "+.0f") for key in ("elo", "elo_low", "elo_high"))
    return f"{line} {elo:>5} {f'{low}..{high}':>12}"
