"""Verdict: what a comparison came to, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
        f"Elo difference {elo.value:+.1f}, 95 % interval {elo.low:+.1f} to {elo.high:+.1f}"
        f" (adjusted for stopping)"
    )
    seen = ", ".join(
        f"{_name(value)}: {count:,}"
        for value, count in zip(evidence.values, evidence.counts, strict=True)
    )
    if comparison.twins:
        yield f"{evidence.pairs:,} pairs played by both; by how much {comparison.new} had more:"
    else:
        yield f"{evidence.pairs:,} pairs, by the score of {comparison.new}:"
    yield f"  {seen}"
    yield f"log-likelihood ratio {evidence.ratio:.2f}, bounds {low:.2f} and {high:.2f}"


def _explain(comparison: Comparison) -> str:
    """Return the verdict as a sentence."""
    new, old, stop, out = comparison.new, comparison.old, comparison.stop, comparison.out
    if (new in out) != (old in out):
        loser = new if new in out else old
        return f"{loser} had too many faults, and loses its remaining games by rule"
    leads = [f"{elo:g}" for elo in (stop.elo1, stop.elo0)]
    if comparison.verdict == "undecided":
        return f"neither a lead of {leads[1]} nor one of {leads[0]} Elo points is likely enough"
    if comparison.verdict == "not better":
        leads.reverse()
    return f"{new} leads {old} by {leads[0]} Elo points rather than by {leads[1]}"


def _name(value: float) -> str:
    """Return a score of a pair, or a difference, as it is written.

    >>> _name(-1.5), _name(0.0), _name(2.0)
    ('-3/2', '0', '2')
    """
    return f"{'-' if value < 0 else ''}{_VALUES[abs(value)]}"


def describe_twins(comparison: Comparison) -> Iterator[str]:
    """Yield what differs between two versions on the same deals, nothing for two opponents."""
    if not (twins := comparison.twins):
        return
    yield ""
    if twins.differences.empty:
        yield "every opponent had too many faults: there is nothing to compare"
        return
    yield _HEAD
    for row in twins.differences.to_dict("records"):
        name = str(row["name"])
        if len(name) > _NAME_WIDTH:
            name = name[: _NAME_WIDTH - 3] + "..."
        share = f"{row['low']:+.1%}..{row['high']:+.1%}"
        line = (
            f"{row['part']:<8} {name:<{_NAME_WIDTH}} {row['new']:>6.1%} {row['old']:>6.1%}"
            f" {row['difference']:>+7.1%} {share:>14}"
        )
        if row["elo"] == row["elo"]:  # not nan
            interval = f"{row['elo_low']:+.0f}..{row['elo_high']:+.0f}"
            line += f" {row['elo']:>+5.0f} {interval:>12}"
        yield line
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
        yield f"the change decided {decided:,} games (decided.csv); the first of them:"
    else:
        yield "the change decided no game"
