"""The headline of several runs: how often the bots that have surely changed have not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.differences.changes import Changes
from arena.differences.claims import find_moved
from arena.differences.difference_columns import RATING_CHANGES
from arena.statistics.common import CommonScale
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.intervals import Estimate
from arena.statistics.two_bots import pair_scores
from arena.tournament.schedule import round_robin
from bench.studies.effect_headlines import Wrong, count, judge, write_row
from bench.studies.fields import Simulated
from bench.studies.truths import true_elos

SEED = 34
RUNS = 1000
_DEVIATION = 38.0


class Case(NamedTuple):
    """Two round robins: the Elo of the bots in the first, and what some have more in the second.

    The first `changed` bots are other ones in the second, whatever their Elo is. If all are, the
    rules are, and every bot is compared. Results lie around the Elo by the `spread`.
    """

    name: str
    elos: Sequence[float]
    more: Sequence[float]
    changed: int
    pairs: int
    spread: float = 0.0

    def labels(self) -> list[str]:
        """Return a label for each bot."""
        return [f"b{number:03}" for number in range(len(self.elos))]

    def same(self) -> list[str]:
        """Return the bots that the two runs have in common."""
        return self.labels()[self.changed % len(self.elos) :]


_EIGHT = [40.0 * bot for bot in range(8)]
CASES = (
    Case("one of 4 bots, no stronger", _EIGHT[:4], [0.0], 1, 20),
    Case("one of 4 bots, 40 stronger", _EIGHT[:4], [40.0], 1, 100),
    Case("3 of 8 bots, no stronger", _EIGHT, [0.0] * 3, 3, 100),
    Case("3 of 8 bots, no stronger", _EIGHT, [0.0] * 3, 3, 100, _DEVIATION),
    Case("3 of 8 bots, two stronger", _EIGHT, [60.0, 15.0, 0.0], 3, 100),
    Case("3 of 8 bots, two stronger", _EIGHT, [60.0, 15.0, 0.0], 3, 20, _DEVIATION),
    Case("other rules, 8 bots as before", _EIGHT, [0.0] * 8, 8, 100),
    Case("other rules, 8 bots, two stronger", _EIGHT, [60.0, 15.0, *[0.0] * 6], 8, 500),
)


class Run(NamedTuple):
    """The rated bots of one run, and their true Elo."""

    field: Field
    truth: dict[str, float]


def play(case: Case, rng: np.random.Generator) -> tuple[Run, Run]:
    """Return a run and the other one."""
    labels = case.labels()
    everyone = round_robin(labels)
    others = {*labels[: case.changed]}
    more = np.zeros(len(labels))
    more[: len(case.more)] = case.more
    noise, again = case.spread * rng.normal(size=(2, len(everyone)))
    is_other = np.array([not others.isdisjoint(two) for two in everyone])
    made = []
    for elos, beyond in ((case.elos, noise), (case.elos + more, np.where(is_other, again, noise))):
        strengths = dict(zip(labels, map(float, elos), strict=True))
        apart = dict(zip(everyone, beyond.tolist(), strict=True))
        played = Simulated(strengths, int(rng.integers(2**32)), beyond=apart)
        totals = [
            PairTotals(number, *pair_scores(0, 1, played.play(two, case.pairs))[2:])
            for number, two in enumerate(everyone)
        ]
        made.append(Run(Field(everyone, totals, labels), true_elos(labels, played)))
    return made[0], made[1]


def simulate(case: Case, runs: int = RUNS) -> Iterator[Wrong]:
    """Yield what is wrong in the headlines of so many comparisons of two runs."""
    rng = np.random.default_rng([SEED, len(case.elos), case.changed, case.pairs, int(case.spread)])
    for _ in range(runs):
        base, other = play(case, rng)
        scale = CommonScale(base.field, other.field, [(label, label) for label in case.same()])
        zero = np.mean([other.truth[label] - base.truth[label] for label in case.same()])
        rows, truths = [], {}
        for label in case.labels()[: case.changed]:
            change = scale.change(label, label)
            found = change.estimate if change else Estimate()
            rows.append((label, "changed", 0.0, 0.0, *(round(one, 1) for one in found[:3]), True))
            truths[label] = float(other.truth[label] - base.truth[label] - zero)
        table = pd.DataFrame(rows, columns=RATING_CHANGES.names)
        if moved := find_moved(Changes([], [], table, table, table, table, [])).clearest:
            yield judge(moved, truths)


def lines(runs: int = RUNS, cases: Sequence[Case] = CASES) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield (
        f"{runs:,} times two round robins a row, without a common deal: how often in 100 the\n"
        "interval of the clearest change of Elo did not have the true one, some bots were said to\n"
        "have surely changed, and one of these has not, or in the other direction. 5 may be\n"
        "wrong.\n"
    )
    yield "| changed | pairs | spread | interval wrong | some sure | sure, wrongly |"
    yield "|---|---|---|---|---|---|"
    for case in cases:
        made = count(simulate(case, runs))
        yield write_row([case.name, f"{case.pairs:,}", f"{case.spread:g}"], *made)
