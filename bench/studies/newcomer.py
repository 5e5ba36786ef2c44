"""A newcomer to a ladder: how many pairs find its place, and how many if all are played in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing, round_robin
from arena.tournament.stop import Until
from arena.tournament.until_rounds import Standings, UntilRounds
from bench.studies.fields import Simulated

SEED = 592
LADDER = {
    "uniform": 1028.0,
    "greedy": 1239.0,
    "city_hunter": 1370.0,
    "majority": 1430.0,
    "denier": 1486.0,
    "timing": 1529.0,
}
NEWCOMER = "newcomer"
PLACES = (1130.0, 1300.0, 1400.0, 1450.0, 1600.0)
FIRST = 20  # pairs of each pairing in the first round
STEP = 5  # pairs of each of the newcomer's pairings in each turn
MOST = 20_000
STOP = Until("resolved", MOST)
RUNS = 100


class Cost(NamedTuple):
    """Pairs until the newcomer's place was known, and whether it was the right one."""

    pairs: int
    right: bool


def find_place(elo: float, run: int) -> tuple[Cost, Cost]:
    """Return the cost of rounds that stop by themselves, and of all pairings in turn.

    The games of the ladder without the newcomer have been played until it was resolved. In both
    cases the bots are told apart by the same tests. Only pairs that are new are counted.
    """
    field = Simulated(LADDER | {NEWCOMER: elo}, SEED, run)
    old_pairings = round_robin([*LADDER])
    *_, last = field.rounds(UntilRounds(old_pairings, FIRST, STOP), old_pairings)
    old = {old_pairings[number]: counts for number, counts in last.items()}
    return _by_rounds(field, old), _in_turn(field, old)


def _by_rounds(field: Simulated, old: Mapping[Pairing, Counts]) -> Cost:
    pairings = round_robin([*LADDER, NEWCOMER])
    *_, counts = field.rounds(UntilRounds(pairings, FIRST, STOP), pairings)
    new = sum(
        max(0, sum(counts[number]) - sum(old.get(pairing, ())))
        for number, pairing in enumerate(pairings)
    )
    return Cost(new, _is_right(Standings(pairings, counts, ()), field))


def _in_turn(field: Simulated, old: Mapping[Pairing, Counts]) -> Cost:
    pairings = round_robin([*LADDER, NEWCOMER])
    for pairs in range(FIRST, MOST, STEP):
        counts = {
            number: old.get(pairing) or field.play(pairing, pairs)
            for number, pairing in enumerate(pairings)
        }
        standings = Standings(pairings, counts, ())
        mine = standings.labels.index(NEWCOMER)
        if all(mine not in two for two in standings.doubtful("resolved")):
            return Cost(pairs * len(LADDER), _is_right(standings, field))
    return Cost(MOST * len(LADDER), False)


def _is_right(standings: Standings, field: Simulated) -> bool:
    """Return whether the newcomer stands between the two bots between which it belongs."""
    order = [standings.labels[bot] for bot in standings.order]
    place = order.index(NEWCOMER)
    mine = field.elos[NEWCOMER]
    above, below = order[:place], order[place + 1 :]
    return all(field.elos[label] > mine for label in above) and all(
        field.elos[label] < mine for label in below
    )


def lines(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield "| newcomer's Elo | pairs, rounds | pairs, all in turn | saved | wrong place |"
    yield "|---|---|---|---|---|"
    for elo in PLACES:
        costs = [find_place(elo, run) for run in range(runs)]
        rounds, turns = (np.mean([cost[way].pairs for cost in costs]) for way in (0, 1))
        wrong = sum(not cost.right for two in costs for cost in two)
        yield (
            f"| {elo:.0f} | {rounds:,.0f} | {turns:,.0f} | {1 - rounds / turns:.0%} "
            f"| {wrong} of {2 * runs} |"
        )
