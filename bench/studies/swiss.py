"""Swiss tournaments of 64 bots: their ratings beside those of the full round robin."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from arena.entries.entry import Entry
from arena.statistics.bradley_terry import Floats
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.two_bots import pair_scores
from arena.tournament.rounds import Counts, SwissRounds, default_rounds
from arena.tournament.tournament import Tournament
from bench.studies.fields import Simulated
from engine import STANDARD

SEED = 64
BOTS = 64
PAIRS = 10
SPREAD = 200.0  # standard deviation of the bots' Elo
RUNS = 50
ROUNDS = (6, 8, 10, 12, 16, 20)


class Beside(NamedTuple):
    """Shares of bots whose interval has the round robin's rating, and the true one; Elo points."""

    covers: float
    covers_truth: float
    half_width: float
    distance: float


def make_swiss(bots: int, pairs: int, rounds: int) -> Tournament:
    """Return a Swiss tournament of bots that are only labels."""
    entries = [Entry(f"b{n:03}", "uniform", "inproc", "", "", "") for n in range(bots)]
    return Tournament("swiss", 0, pairs, entries, STANDARD, rounds=rounds)


def compare(run: int, bots: int, pairs: int, wanted: Sequence[int]) -> dict[int, Beside]:
    """Return how a Swiss tournament compares after each of these numbers of rounds."""
    cup = make_swiss(bots, pairs, max(wanted))
    luck = random.Random(f"{SEED} {run}")
    elos = {label: luck.gauss(1500, SPREAD) for label in cup.labels}
    truth = np.array([*elos.values()]) + 1500 - np.mean([*elos.values()])
    field = Simulated(elos, SEED, run)
    every = {number: field.play(two, pairs) for number, two in enumerate(cup.pairings)}
    full = _ratings(cup, every)[:, 0]
    found = {}
    for number, counts in enumerate(field.rounds(SwissRounds(cup), cup.pairings), 1):
        if number in wanted:
            elo, low, high = _ratings(cup, counts).T
            covers = np.mean((low <= full) & (full <= high))
            true = np.mean((low <= truth) & (truth <= high))
            half, distance = np.mean(high - low) / 2, np.mean(np.abs(elo - full))
            found[number] = Beside(float(covers), float(true), float(half), float(distance))
    return found


def _ratings(cup: Tournament, counts: Mapping[int, Counts]) -> Floats:
    totals = [PairTotals(n, *pair_scores(0, 1, five)[2:], five) for n, five in counts.items()]
    rated = Field(cup.pairings, totals, cup.labels).ratings.values()
    return np.array([one[:3] for one in rated])


def lines(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of the section."""
    compared = [compare(run, BOTS, PAIRS, ROUNDS) for run in range(runs)]
    yield (
        f"{runs} fields of {BOTS} bots, with a standard deviation of {SPREAD:.0f} Elo; {PAIRS} "
        f"pairs of each two that meet. The full round robin has {BOTS - 1} rounds. The default is "
        f"{default_rounds(BOTS)}.\n"
    )
    yield (
        "| rounds | part of the games | full round robin's rating in the interval | true rating "
        "in it | half of the interval | mean distance to the full round robin |"
    )
    yield "|---|---|---|---|---|---|"
    for number in ROUNDS:
        covers, truth, half, distance = np.mean([one[number] for one in compared], axis=0)
        yield (
            f"| {number} | {number / (BOTS - 1):.0%} | {covers:.1%} | {truth:.1%} "
            f"| {half:.0f} Elo | {distance:.0f} Elo |"
        )
