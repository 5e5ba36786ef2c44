"""Letters of the standings: how often two bots are told apart wrongly, and what overlaps say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Z95
from arena.statistics.ratings import ELO, Fit, PairScores
from arena.statistics.wording import split_letters
from arena.tables.counted import group_bots, list_verdicts
from arena.tournament.schedule import Pairing
from bench.studies.fields import score_shares

SEED = 2004
RUNS = 100


class Case(NamedTuple):
    """A round robin: the Elo of its bots, pairs of each two, and the spread of their results.

    A pairing's lead is the difference of the two Elo and an error of this standard deviation.
    """

    name: str
    elos: Sequence[float]
    pairs: int
    spread: float = 0.0


_NORMAL = [round(1500 + 150 * z) for z in np.random.default_rng(SEED).normal(size=40).tolist()]
CASES = (
    Case("12 equal bots", [1500] * 12, 100),
    Case("12 bots, 20 Elo apart", range(1600, 1360, -20), 100),
    Case("12 bots, 20 Elo apart", range(1600, 1360, -20), 100, 38),
    Case("12 bots, 20 Elo apart", range(1600, 1360, -20), 1000, 38),
    Case("40 bots, 150 Elo around the mean", _NORMAL, 40),
    Case("40 bots, 150 Elo around the mean", _NORMAL, 40, 38),
)


class Found(NamedTuple):
    """What the runs of a case came to, over all runs; the first is a share of the runs.

    `apart` is the share of two bots that were told apart. Of two bots whose intervals overlap,
    `overlap` is the share whose difference leaves out 0, and of two whose intervals do not,
    `share` is that of those with a letter in common.
    """

    wrong: float
    apart: float
    overlap: float
    share: float


class Run(NamedTuple):
    """Every two bots of one run, as arrays: the true lead of the upper one, and what is said."""

    lead: Floats
    apart: Floats
    overlap: Floats
    beyond: Floats


def play(case: Case, *seed: int) -> Run:
    """Return what one simulated run says of every two bots."""
    rng = np.random.default_rng([SEED, case.pairs, round(case.spread), *seed])
    bots = len(case.elos)
    every = [*combinations(range(bots), 2)]
    shares = [
        float(
            scipy.special.expit(
                (case.elos[one] - case.elos[two] + rng.normal(0, case.spread)) / ELO
            )
        )
        for one, two in every
    ]
    counts = [rng.multinomial(case.pairs, score_shares(share)).tolist() for share in shares]
    scores = np.arange(5) / 2
    totals = [
        PairTotals(number, case.pairs, float(five @ scores), float(five @ scores**2), (*row,))
        for number, row in enumerate(counts)
        for five in [np.array(row)]
    ]
    labels = [f"{bot:02}" for bot in range(bots)]
    field = Field([Pairing(labels[one], labels[two]) for one, two in every], totals, labels)
    truth = Fit(
        bots,
        [
            PairScores(*two, 10**9, 2e9 * p, 4e9 * p**2)
            for two, p in zip(every, shares, strict=True)
        ],
    )
    return _compare(field, truth.strengths)


def _compare(field: Field, truth: Floats) -> Run:
    ratings = field.ratings
    order = sorted(field.labels, key=lambda label: -round(ratings[label].value, 1))
    groups = group_bots(order, field.labels, list_verdicts(field))
    letters = [{*split_letters(str(group))} for group in groups]
    places = [field.numbers[label] for label in order]
    rows = []
    for upper, lower in combinations(range(len(order)), 2):
        one, two = places[upper], places[lower]
        z = (
            abs(field.fit.strengths[one] - field.fit.strengths[two])
            / field.fit.gap_errors[one, two]
        )
        rows.append(
            (
                truth[one] - truth[two],
                not letters[upper] & letters[lower],
                ratings[order[upper]].low <= ratings[order[lower]].high,
                z > Z95,
            )
        )
    return Run(*np.array(rows, dtype=float).T)


def simulate(case: Case, runs: int = RUNS) -> Found:
    """Return what so many runs of a case came to. Two bots that are equal are never told apart."""
    found = [play(case, number) for number in range(runs)]
    wrong = [bool((run.apart.astype(bool) & (run.lead <= _EQUAL)).any()) for run in found]
    apart, overlap, beyond = (
        np.concatenate([run[column] for run in found]).astype(bool) for column in (1, 2, 3)
    )
    return Found(
        float(np.mean(wrong)), float(apart.mean()), _mean(beyond[overlap]), _mean(~apart[~overlap])
    )


_EQUAL = 1e-6  # in log odds


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def lines(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of the section."""
    yield (
        f"{runs} round robins each. `spread` is by how much Elo results lie around the ratings; "
        "the true order\nis that of the Elo of an endless round robin. At most 5 % of the runs may "
        "have any two bots in a\nwrong order without a common letter.\n"
    )
    yield (
        "| field | pairs | spread | runs with a wrong order | told apart | intervals overlap, and "
        "the difference leaves out 0 | they do not, and share a letter |"
    )
    yield "|---|---|---|---|---|---|---|"
    for case in CASES:
        found = simulate(case, runs)
        cells = case.name, f"{case.pairs:,}", f"{case.spread:g}", *(f"{x:.1%}" for x in found)
        yield f"| {' | '.join(cells)} |"
