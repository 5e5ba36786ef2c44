"""Whether the pairs that `arena plan` names are those that simulated runs need."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist, fmean

import numpy as np

from arena.library.planning import expect_until
from arena.statistics.distributions import expit
from arena.statistics.planned import Planned, expect_test
from arena.statistics.ratings import ELO
from arena.statistics.sprt import PAIR_SCORES, bounds, log_likelihood_ratio, round_size, share_of
from arena.statistics.verdicts import Verdicts
from arena.tournament.schedule import Pairing
from arena.tournament.stop import Until
from arena.tournament.until_rounds import UntilRounds
from bench.studies.fields import EFFECT, Simulated, score_shares
from bench.studies.truths import Truth, of_elo, play

SEED = 46
POWER = 0.8

FIELDS = ((2, 0, 20), (4, 0, 20), (6, 0, 20), (12, 0, 20), (4, 0, 60), (12, 0, 60))
GAUNTLETS = ((2, 8, 40), (4, 8, 40), (6, 8, 40), (12, 8, 40))
_INTRODUCTION = """\
Pairs of each pairing with which neighbours are told apart with a chance of 80 %, by `arena plan`
and by simulated runs of a ladder of bots: the power with the planned pairs, and the pairs that
have 80 %, by a line through the powers of three numbers. The effect of pairs is known to the plan.
A panel has eight even bots.
"""
_BETWEEN = 0.12  # of the pairs: how far the other two numbers are that are simulated
_DRAWN, _FEWEST, _OF_TWO = 2400, 100, 3000  # bots in the runs that are simulated, and runs


def simulate(bots: int, panel: int, gap: float, pairs: int, runs: int) -> float:
    """Return how likely neighbours are told apart in simulated runs."""
    elo = np.append(gap * ((bots - 1) / 2 - np.arange(bots)), np.zeros(panel))
    rng = np.random.default_rng([SEED, bots, panel, pairs])
    upper, told = np.arange(bots - 1), []
    for _ in range(runs):
        met = play(Truth(of_elo(elo)), pairs, rng, range(bots, bots + panel) if panel else None)
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


def row(bots: int, panel: int, gap: float, runs: int | None = None) -> tuple[int, float, float]:
    """Return the pairs of each pairing by plan, the power there, and the pairs for 80 %."""
    pairs = Planned(bots, panel, gap / ELO, EFFECT).pairs_to_tell(POWER)
    assert pairs is not None
    runs = runs or (_OF_TWO if bots + panel == 2 else max(_FEWEST, _DRAWN // (bots + panel)))
    others = (round(pairs * (1 + side * _BETWEEN)) for side in (-1, 0, 1))
    powers = {other: simulate(bots, panel, gap, other, runs) for other in others}
    return pairs, powers[pairs], needed(powers)


def width_row(bots: int, panel: int, width: float, runs: int = 40) -> tuple[int, float]:
    """Return the pairs of each pairing by plan, and half of the widest interval there, in Elo."""
    pairs = Planned(bots, panel, 0.0, EFFECT).pairs_to_narrow(width / ELO)
    assert pairs is not None
    rng = np.random.default_rng([SEED, bots, panel])
    found = []
    for _ in range(runs):
        met = play(
            Truth(np.zeros((bots + panel, bots + panel))),
            *(pairs, rng, range(bots, bots + panel) if panel else None),
        )
        verdicts = Verdicts(met.fit(), met.met)
        _, low, high = verdicts.ratings(verdicts.fit.scale())
        found.append(ELO * float((high - low)[:bots].max()) / 2)
    return pairs, fmean(found)


def play_tests(gap: float, runs: int = 2000) -> tuple[float, float]:
    """Return the mean number of pairs of simulated comparisons, and how many find the gap."""
    rng = np.random.default_rng([SEED, round(gap)])
    ends, shares = bounds(0.05, 1 - POWER), score_shares(float(expit(gap / ELO)))
    pairs, better = [], 0
    for _ in range(runs):
        counts, ratio = np.zeros(5, dtype=int), 0.0
        while ends.low < ratio < ends.high:
            counts += rng.multinomial(round_size(int(counts.sum()), 10**9), shares)
            ratio = log_likelihood_ratio(counts.tolist(), PAIR_SCORES, 1.0, 2 * share_of(gap))
        pairs.append(int(counts.sum()))
        better += ratio >= ends.high
    return fmean(pairs), better / runs


def play_until(bots: int, gap: float, runs: int) -> float:
    """Return the mean number of pairs of simulated runs that stop when neighbours are told."""
    names = [chr(ord("a") + bot) for bot in range(bots)]
    pairings = [Pairing(one, two) for i, one in enumerate(names) for two in names[i + 1 :]]
    found = []
    for run in range(runs):
        field = Simulated({name: -gap * place for place, name in enumerate(names)}, SEED, run)
        rounds = UntilRounds(pairings, 20, Until("resolved", 10**6))
        *_, last = field.rounds(rounds, pairings)
        found.append(sum(map(sum, last.values())))
    return fmean(found)


def lines() -> Iterator[str]:
    """Yield the tables of the section."""
    yield _INTRODUCTION
    yield "| bots | panel | gap | pairs each, plan | power there | pairs for 80 % | plan / these |"
    yield "|---|---|---|---|---|---|---|"
    for bots, panel, gap in (*FIELDS, *GAUNTLETS):
        pairs, power, right = row(bots, panel, gap)
        shown = f"{power:.1%} | {right:,.0f} | {pairs / right:.2f}"
        yield f"| {bots} | {panel or ''} | {gap} | {pairs:,} | {shown} |"
    yield "\n| bots | panel | width | pairs each, plan | widest interval there |"
    yield "|---|---|---|---|---|"
    for bots, panel, width in ((2, 0, 10), (4, 0, 10), (12, 0, 10), (6, 8, 25)):
        each, reached = width_row(bots, panel, width)
        yield f"| {bots} | {panel or ''} | {width} | {each:,} | {reached:.1f} |"
    yield "\n| way | bots | gap | pairs, plan | pairs, simulated | chance, plan / simulated |"
    yield "|---|---|---|---|---|---|"
    for gap in (10, 20, 50):
        expected, chance = expect_test(
            Planned(2, 0, gap / ELO, EFFECT), bounds(0.05, 1 - POWER), 10**6
        )
        mean, better = play_tests(gap)
        yield f"| compare | 2 | {gap} | {expected:,} | {mean:,.0f} | {chance:.1%} / {better:.1%} |"
    for bots, runs in ((2, 200), (4, 60), (6, 40), (12, 20)):
        told = expect_until(Planned(bots, 0, 20 / ELO, EFFECT), None)
        yield f"| until | {bots} | 20 | {told:,.0f} | {play_until(bots, 20, runs):,.0f} | |"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
