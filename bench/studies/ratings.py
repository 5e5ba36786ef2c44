"""Ratings: how often a 95 % interval covers the truth, and how often a misfit is named.

Two bots of known strengths play pairs whose two games share their luck: in one of them the
luck adds to the first bot's log odds, in the other one it takes as much away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.intervals import LEVEL, score_intervals
from arena.tournament.schedule import Pairing

SEED = 13
RUNS = 100
LUCK = 0.8
"""Log odds of one standard deviation of the luck."""

Floats = npt.NDArray[np.float64]


class Setup(NamedTuple):
    """Bots with these ratings, who play these pairings, by number."""

    name: str
    elo: Sequence[float]
    pairings: Sequence[tuple[int, int]]


class Coverage(NamedTuple):
    """How often what an interval is about lay in it, by bot and by pairing.

    `named` is the share of runs in which a pairing was called a misfit, though none is.
    """

    elo: Floats
    score: Floats
    named: float


_EIGHT = range(1325, 1700, 50)
SETUPS = (
    Setup("one pairing", (1600, 1400), [(0, 1)]),
    Setup("a round robin of 8", _EIGHT, [*combinations(range(8), 2)]),
    Setup("a gauntlet of one against 8", (1500, *_EIGHT), [(0, n) for n in range(1, 9)]),
    Setup("a round robin of 8, one far weaker", (800, *_EIGHT[1:]), [*combinations(range(8), 2)]),
)
PAIRS = (20, 100, 500)


def pair_shares(gap: float) -> Floats:
    """Return the probabilities of the scores 0, 1 and 2 in a pair of bots that are so far apart.

    The mean score is what the Elo gap says.
    """
    luck, weights = np.polynomial.hermite_e.hermegauss(21)
    weights /= weights.sum()

    def wins(base: float) -> tuple[Floats, Floats]:
        return scipy.special.expit(base + LUCK * luck), scipy.special.expit(base - LUCK * luck)

    def excess(base: float) -> float:
        return float(weights @ (sum(wins(base)))) / 2 - 1 / (1 + 10 ** (-gap / 400))

    one, other = wins(scipy.optimize.brentq(excess, -40.0, 40.0))
    both, none = weights @ (one * other), weights @ ((1 - one) * (1 - other))
    return np.array([none, 1 - both - none, both])


def simulate(setup: Setup, pairs: int, runs: int = RUNS) -> Coverage:
    """Return the coverage in some runs of so many pairs for each pairing."""
    rng = np.random.default_rng([SEED, len(setup.pairings), round(setup.elo[0]), pairs])
    labels = [str(bot) for bot in range(len(setup.elo))]
    pairings = [Pairing(labels[bot], labels[opponent]) for bot, opponent in setup.pairings]
    gaps = [setup.elo[bot] - setup.elo[opponent] for bot, opponent in setup.pairings]
    shares = [pair_shares(gap) for gap in gaps]
    means = np.array([float(share @ (0, 0.5, 1)) for share in shares])
    elos = np.array(setup.elo, dtype=float)
    elo, score, named = np.zeros(len(labels)), np.zeros(len(pairings)), 0
    for _ in range(runs):
        counts = [rng.multinomial(pairs, share).tolist() for share in shares]
        totals = [
            PairTotals(number, pairs, one + 2.0 * two, one + 4.0 * two, (zero, 0, one, 0, two))
            for number, (zero, one, two) in enumerate(counts)
        ]
        field = Field(pairings, totals, labels)
        _, low, high, _ = np.array([*field.ratings.values()]).T
        truth = 1500 + field.fit.scale().move(elos)
        elo += (low <= truth) & (truth <= high)
        lows, highs = score_intervals(*np.array([total[1:4] for total in totals]).T)
        score += (lows <= means) & (means <= highs)
        named += bool((field.residuals.q < LEVEL).any())
    return Coverage(elo / runs, score / runs, named / runs)


def lines(runs: int = RUNS, sizes: Sequence[int] = PAIRS) -> Iterator[str]:
    """Yield the table: coverage over all bots and pairings, and its range over them."""
    yield (
        f"95 % intervals in {runs:,} simulated runs each: how often the Elo of a bot and the mean "
        "score of\na pairing lay in theirs, over all bots or pairings (and for the one with least "
        "and most), and\nin how many runs a pairing was named as not being what the Elo says, "
        "though all are.\n"
    )
    yield "| field | pairs | Elo covered, % | score covered, % | misfit named, % of runs |"
    yield "|---|---|---|---|---|"
    for setup in SETUPS:
        for pairs in sizes:
            found = simulate(setup, pairs, runs)
            named = "-" if len(setup.pairings) < len(setup.elo) else f"{100 * found.named:.1f}"
            cells = setup.name, f"{pairs}", _percent(found.elo), _percent(found.score), named
            yield f"| {' | '.join(cells)} |"


def _percent(shares: Floats) -> str:
    of_all, least, most = 100 * shares.mean(), 100 * shares.min(), 100 * shares.max()
    return f"{of_all:.1f}" + ("" if math.isclose(least, most) else f" ({least:.1f}..{most:.1f})")
