"""How often the bot that superiority.csv calls the stronger one is, by what it says.

The strengths of a field are normal, and all of its bots meet. `flat` is what the file had before:
the normal likelihood of the gap, without regard to the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.statistics.apart import pair_scores
from arena.statistics.distributions import Floats, expit, normal_below
from arena.statistics.field import find_superiority
from arena.statistics.ratings import ELO, Fit
from bench.studies.fields import score_shares

SEED = 78
RUNS = 400
BOLD = 0.9
"""What is said at least of the claims that are counted in the last columns."""


class Case(NamedTuple):
    """A field: its bots, the standard deviation of their Elo, and the pairs of each pairing."""

    bots: int
    spread: float
    pairs: int


CASES = tuple(
    Case(bots, spread, pairs)
    for bots in (2, 6, 12)
    for spread in (20.0, 50.0, 150.0)
    for pairs in (5, 20, 100)
)


class Claims(NamedTuple):
    """What was said of the bot that was called the stronger one of two, and whether it is."""

    said: Floats
    right: Floats

    def describe(self, least: float = 0.5) -> str:
        """Return what was said on average and how often it was right, where so much was said."""
        chosen = self.said >= least
        if not chosen.any():
            return "- / -"
        return f"{self.said[chosen].mean():.2f} / {self.right[chosen].mean():.2f}"


def play(case: Case, runs: int = RUNS) -> tuple[Claims, Claims]:
    """Return the flat claims of all runs, and those of superiority.csv."""
    rng = np.random.default_rng([SEED, case.bots, round(case.spread), case.pairs])
    claims: tuple[list[tuple[float, bool]], list[tuple[float, bool]]] = ([], [])
    for _ in range(runs):
        truth = rng.normal(scale=case.spread, size=case.bots)
        scores = []
        for one, two in combinations(range(case.bots), 2):
            shares = score_shares(float(expit((truth[one] - truth[two]) / ELO)))
            scores.append(pair_scores(one, two, rng.multinomial(case.pairs, shares).tolist()))
        fit = Fit(case.bots, scores)
        for made, likely in zip(
            claims, (flat_superiority(fit), find_superiority(fit)), strict=True
        ):
            for one, two in combinations(range(case.bots), 2):
                said = float(likely[one, two])
                made.append((max(said, 1 - said), (said > 0.5) == (truth[one] > truth[two])))
    flat, now = (Claims(*np.array(made, dtype=float).T) for made in claims)
    return flat, now


def flat_superiority(fit: Fit) -> Floats:
    """Return the normal likelihood of each gap, whatever the field is."""
    gaps = fit.strengths[:, None] - fit.strengths[None, :]
    errors = np.where(fit.gap_errors > 0, fit.gap_errors, np.inf)
    return normal_below(gaps / errors)


def lines(runs: int = RUNS, cases: Sequence[Case] = CASES) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield (
        f"{runs:,} round robins a row. Of every two bots: how likely the one that is called the\n"
        "stronger one is said to be it, on average, and in which share it is. `flat` has no\n"
        f"regard to the field, as before. The last two columns count what is said with {BOLD} and\n"
        "more.\n"
    )
    yield (
        "| bots | spread of the field | pairs | flat: said / right | now: said / right "
        f"| flat, from {BOLD} on | now, from {BOLD} on |"
    )
    yield "|---|---|---|---|---|---|---|"
    for case in cases:
        both = play(case, runs)
        cells = [str(case.bots), f"{case.spread:g}", str(case.pairs)]
        cells += [claims.describe() for claims in both]
        cells += [claims.describe(BOLD) for claims in both]
        yield f"| {' | '.join(cells)} |"
