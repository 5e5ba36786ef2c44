"""Whether the pairs that `arena plan` names are those that simulated runs need."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist, fmean

import numpy as np

from arena.library.rating import pairs_to_tell
from arena.statistics.verdicts import Verdicts
from bench.studies.fields import EFFECT
from bench.studies.truths import Truth, of_elo, play

SEED = 46
POWER = 0.8

FIELDS = ((2, 20), (4, 20), (6, 20), (12, 20), (4, 60), (12, 60), (24, 60))
_INTRODUCTION = f"""\
Pairs of every two bots with which neighbours are told apart with a chance of 80 %, by `arena plan`
and by simulated runs of a ladder of bots: the power with the planned pairs, and the pairs that
have 80 %, by a line through the powers of three numbers. A pair varies here {EFFECT} times as much
as two independent games, for which the plan is made, so its pairs are multiplied by that.
"""
_BETWEEN = 0.12  # of the pairs: how far the other two numbers are that are simulated
_DRAWN, _FEWEST, _OF_TWO = 2400, 100, 3000  # bots in the runs that are simulated, and runs


def simulate(bots: int, gap: float, pairs: int, runs: int) -> float:
    """Return how likely neighbours are told apart in simulated runs."""
    elo = gap * (np.arange(bots, 0.0, -1.0) - (bots + 1) / 2)
    rng = np.random.default_rng([SEED, bots, 0, pairs])
    upper, told = np.arange(bots - 1), []
    for _ in range(runs):
        met = play(Truth(of_elo(elo)), pairs, rng)
        told.append(float(Verdicts(met.fit(), met.met).apart[upper, upper + 1].mean()))
    return fmean(told)


def needed(powers: dict[int, float], power: float = POWER) -> float:
    """Return the pairs at which simulated powers are this power, by a line of their quantiles.

    >>> round(needed({90: 0.7, 100: 0.8, 110: 0.88}))
    100
    """
    quantiles = [NormalDist().inv_cdf(min(max(one, 0.001), 0.999)) for one in powers.values()]
    slope, start = np.polyfit([math.sqrt(pairs) for pairs in powers], quantiles, 1)
    return float(((NormalDist().inv_cdf(power) - start) / slope) ** 2)


def row(bots: int, gap: float, runs: int | None = None) -> tuple[int, float, float]:
    """Return the pairs of every two bots by plan, the power there, and the pairs for 80 %."""
    pairs = round(EFFECT * pairs_to_tell(bots, gap, POWER))
    runs = runs or (_OF_TWO if bots == 2 else max(_FEWEST, _DRAWN // bots))
    others = (round(pairs * (1 + side * _BETWEEN)) for side in (-1, 0, 1))
    powers = {other: simulate(bots, gap, other, runs) for other in others}
    return pairs, powers[pairs], needed(powers)


def lines() -> Iterator[str]:
    """Yield the table of the section."""
    yield _INTRODUCTION
    yield "| bots | gap | pairs, plan | power there | pairs for 80 % | plan / these |"
    yield "|---|---|---|---|---|---|"
    for bots, gap in FIELDS:
        pairs, power, right = row(bots, gap)
        yield f"| {bots} | {gap} | {pairs:,} | {power:.1%} | {right:,.0f} | {pairs / right:.2f} |"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
