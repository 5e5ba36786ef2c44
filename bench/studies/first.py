"""The strongest bot: how many pairs find it, and how many if every two neighbours are resolved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from arena.tournament.schedule import round_robin
from arena.tournament.stop import Until
from arena.tournament.until_rounds import Standings, UntilRounds
from bench.studies.fields import Simulated

SEED = 641
RUNS = 20
FIRST = 20  # pairs of each pairing in the first round
MOST = 5_000  # pairs of each pairing
FIELDS = {
    "8 bots, deviation 50": (8, 50.0),
    "12 bots, deviation 50": (12, 50.0),
    "12 bots, 20 apart": (12, -20.0),
    "one 40 ahead of 11": (12, 0.0),
}
"""The number of bots and the deviation of their Elo, or less than zero for equal steps."""
_AHEAD = 40.0


class Cost(NamedTuple):
    """Pairs of a run, whether it reached its target, and whether its first bot is the wrong one."""

    pairs: int
    known: bool
    wrong: bool


def make_elos(bots: int, spread: float, run: int) -> dict[str, float]:
    """Return the true Elo of the bots of a field by label."""
    elos = [spread * number for number in range(bots)]
    elos[0] += 0.0 if spread else _AHEAD
    if spread > 0:
        elos = np.random.default_rng([SEED, bots, run]).normal(0.0, spread, bots).tolist()
    return {f"b{number:02}": elo for number, elo in enumerate(elos)}


def find(target: str, elos: dict[str, float], run: int) -> Cost:
    """Return what a run with this target costs."""
    field = Simulated(elos, SEED, run)
    pairings = round_robin([*elos])
    rounds = UntilRounds(pairings, FIRST, Until(target, MOST))
    *_, counts = field.rounds(rounds, pairings)
    standings = Standings(pairings, counts, ())
    first = standings.labels[standings.order[0]]
    known = not standings.doubtful("first")
    return Cost(sum(map(sum, counts.values())), known, known and elos[first] < max(elos.values()))


def lines(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield "| bots | pairs, first | pairs, resolved | ratio | first known | wrong |"
    yield "|---|---|---|---|---|---|"
    for name, (bots, spread) in FIELDS.items():
        fields = [make_elos(bots, spread, run) for run in range(runs)]
        firsts = [find("first", elos, run) for run, elos in enumerate(fields)]
        resolved = [find("resolved", elos, run) for run, elos in enumerate(fields)]
        pairs = [np.median([cost.pairs for cost in costs]) for costs in (firsts, resolved)]
        ratio = np.median([a.pairs / b.pairs for a, b in zip(firsts, resolved, strict=True)])
        known, wrong = (sum(cost[place] for cost in firsts) for place in (1, 2))
        yield (
            f"| {name} | {pairs[0]:,.0f} | {pairs[1]:,.0f} | {ratio:.2f} | {known} of {runs} "
            f"| {wrong} |"
        )
