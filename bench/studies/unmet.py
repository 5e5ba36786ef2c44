"""Intervals of the Elo where not all bots meet: what they cover of an equal round robin's.

As in the study `orders`, each pairing's true lead differs from the Elo by a number of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.statistics.bradley_terry import Model, PairScores
from arena.statistics.distributions import Floats, expit
from arena.statistics.intervals import Z95
from arena.statistics.ratings import ELO, Fit
from arena.statistics.two_bots import pair_scores
from bench.studies.fields import score_shares

SEED = 39
RUNS = 100
SPREADS = (0.0, 20.0, 38.0, 60.0)
_SPACING = 40.0
_ENDLESS = 10**9


class Partial(NamedTuple):
    """Bots 40 Elo apart in an order drawn anew in each run, and the pairings that they play."""

    name: str
    bots: int
    met: Sequence[tuple[int, int]]
    pairs: int


def _ring(bots: int, neighbours: int) -> list[tuple[int, int]]:
    """Return pairings in which every bot meets so many others to each side in a ring."""
    met = {(bot, (bot + step) % bots) for bot in range(bots) for step in range(1, neighbours + 1)}
    return sorted((min(two), max(two)) for two in met)


PARTIALS = (
    Partial("a round robin of 8", 8, [*combinations(range(8), 2)], 200),
    Partial("8 bots that meet 4 others", 8, _ring(8, 2), 200),
    Partial("16 bots that meet 6 others", 16, _ring(16, 3), 200),
    Partial("a gauntlet of 3 against 5", 8, [(a, b) for a in range(3) for b in range(3, 8)], 200),
)


class Coverage(NamedTuple):
    """How often intervals held the truth: by luck alone, and with the spread; its mean estimate."""

    luck: float
    whole: float
    spread: float


def cover(partial: Partial, spread: float, runs: int = RUNS) -> Coverage:
    """Return what the intervals of some runs hold of the Elo of an endless equal round robin."""
    rng = np.random.default_rng([SEED, partial.bots, len(partial.met), round(spread)])
    held = np.zeros((runs, 3))
    everyone = [*combinations(range(partial.bots), 2)]
    for run in range(runs):
        elos = _SPACING * rng.permutation(partial.bots)
        beyond = spread * rng.normal(size=len(everyone))
        shares = {
            (one, two): float(expit((elos[one] - elos[two] + more) / ELO))
            for (one, two), more in zip(everyone, beyond.tolist(), strict=True)
        }
        endless = [PairScores(*two, _ENDLESS, 2 * _ENDLESS * shares[two], 0.0) for two in everyone]
        truth = Model(partial.bots, endless, np.zeros(len(everyone))).fit()
        fit = Fit(
            partial.bots,
            [
                pair_scores(
                    *two, rng.multinomial(partial.pairs, score_shares(shares[two])).tolist()
                )
                for two in partial.met
            ],
        )
        away = np.abs(fit.strengths - truth)
        for column, covariance in enumerate((fit.covariance, fit.full_covariance)):
            held[run, column] = np.mean(away <= Z95 * np.sqrt(_variances(covariance)))
        held[run, 2] = fit.spread.elo
    return Coverage(*held.mean(axis=0).tolist())


def _variances(covariance: Floats) -> Floats:
    return np.clip(np.diag(covariance), 0, None)


def lines(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield (
        f"{runs:,} runs a row, {PARTIALS[0].pairs} pairs of each two bots that meet. How often\n"
        "the 95 % interval of a bot's Elo held its Elo in an equal round robin of all with\n"
        "endless pairs: by the luck of the pairs alone, as before, and with the spread of results\n"
        "about the Elo, which is estimated; its mean is in the last column.\n"
    )
    yield "| field | spread | covered before, % | covered, % | spread estimated |"
    yield "|---|---|---|---|---|"
    for partial in PARTIALS:
        for spread in SPREADS:
            found = cover(partial, spread, runs)
            yield (
                f"| {partial.name} | {spread:g} | {100 * found.luck:.1f} | {100 * found.whole:.1f} "
                f"| {found.spread:.0f} |"
            )
