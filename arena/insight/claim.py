"""Claim: what may be said of a lead, from its interval and from the test together.

Nothing is said that the interval, as it is shown, does not say: bench/STUDIES.md has how often
each claim is wrong.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from arena.statistics.intervals import Estimate
from arena.statistics.sprt import MIN_ROUND
from arena.tournament.sprt_evidence import Verdict
from arena.tournament.stop import Sprt

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


def make_claim(verdict: Verdict, elo: Estimate, stop: Sprt, pairs: int = MIN_ROUND) -> Claim:
    """Return what may be said of a lead in Elo points, which are shown without decimals.

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
    if pairs < MIN_ROUND:
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
