"""Unbeaten and winless bots: what their scale does to the intervals of all the others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Z95
from arena.statistics.model import Flags
from arena.statistics.ratings import ELO
from arena.tournament.schedule import round_robin
from bench.studies.ratings import pair_shares

SEED = 1929
RUNS = 100
OTHERS = (1350, 1400, 1450, 1500, 1550, 1600, 1650)
GAPS = (-2000, -1000, 600, 800, 1000, 1250, 1500, 2000)
PAIRS = (20, 100)


class Found(NamedTuple):
    """Of the runs: how often the bot is unbeaten, or winless, and how often its one end holds.

    `others` is how often the Elo of another bot is in its interval, and `worst` that of the one
    of which it is least often. `whole` is `others` with the bot in the mean, as it once was.
    """

    marked: float
    holds: float
    others: float
    worst: float
    whole: float


def simulate(gap: float, pairs: int, runs: int = RUNS) -> Found:
    """Return what a bot that is so much stronger than the mean of seven others does to them."""
    rng = np.random.default_rng([SEED, round(abs(gap)), gap > 0, pairs])
    elos = np.array([1500 + gap, *OTHERS])
    labels = [*"abcdefgh"]
    shares = [pair_shares(elos[one] - elos[two]) for one, two in combinations(range(8), 2)]
    covered, whole = np.zeros(8), np.zeros(8)
    marked, holds = 0, 0
    for _ in range(runs):
        totals = []
        for number, share in enumerate(shares):
            zero, one, two = rng.multinomial(pairs, share).tolist()
            five = (zero, 0, one, 0, two)
            totals.append(PairTotals(number, pairs, one + 2.0 * two, one + 4.0 * two, five))
        field = Field(round_robin(labels), totals, labels)
        _, low, high, _ = np.array([*field.ratings.values()]).T
        truth = 1500 + field.fit.scale().move(elos)
        covered += (low <= truth) & (truth <= high)
        if not np.isfinite(low + high)[0]:
            marked += 1
            holds += bool(low[0] <= truth[0] <= high[0])
        whole += _with_all(field, elos)
    others = covered[1:] / runs
    return Found(
        marked / runs,
        holds / marked if marked else 1.0,
        float(others.mean()),
        float(others.min()),
        float((whole[1:] / runs).mean()),
    )


def _with_all(field: Field, elos: Floats) -> Flags:
    """Return whose interval has its Elo, if the mean is that of all bots."""
    half = Z95 * ELO * np.sqrt(np.diag(field.fit.covariance))
    return np.asarray(np.abs(ELO * field.fit.strengths - (elos - elos.mean())) <= half)


def lines(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of the section."""
    yield (
        f"Round robins of seven bots from 1350 to 1650 and one that is far from them, {runs:,} runs"
        "\na row. The one is marked as unbeaten, or winless, if it has won, or lost, every "
        "game; `holds`\nis how often its Elo is then on the right side of the one end that is "
        "said. The others' Elo should\nbe in their interval in 95 % of the runs; `before` is how "
        "often it was with all eight in the mean.\n"
    )
    yield "| the one | pairs | marked | holds | others covered | the worst of them | before |"
    yield "|---|---|---|---|---|---|---|"
    for gap in GAPS:
        for pairs in PAIRS:
            cells = f"{gap:+}", f"{pairs}", *(f"{x:.1%}" for x in simulate(gap, pairs, runs))
            yield f"| {' | '.join(cells)} |"
