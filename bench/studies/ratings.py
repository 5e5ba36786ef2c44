"""Ratings: how often a 95 % interval covers the truth, also of pairs that depend on time.

Two bots of known strengths play pairs whose two games share their luck: in one of them the
luck adds to the first bot's log odds, in the other one it takes as much away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.distributions import expit
from arena.statistics.intervals import LEVEL, score_intervals
from arena.statistics.ratings import ELO
from arena.statistics.two_bots import pair_scores
from arena.tables.findings import describe_dependence
from arena.tournament.schedule import Pairing
from bench.studies.fields import score_shares

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


TIMES: Mapping[str, tuple[float, float]] = {
    "independent": (0, 0),
    "five share a luck of 60": (60, 0),
    "five share a luck of 90": (90, 0),
    "five share a luck of 150": (150, 0),
    "one bot rises by 480": (0, 480),
}
"""The Elo points of luck that five pairs share, and those by which the first bot rises midway."""
_SHARES = np.array([score_shares(float(expit(lead / ELO))) for lead in range(-1200, 1201)])
_BELOW = _SHARES[:, ::2].cumsum(axis=1)[:, :2]  # the chances of no point, and of one at most


def play_in_time(bots: int, pairs: int, time: str, run: int) -> tuple[Field, Field]:
    """Return the field of equal bots by pairs that depend on time, without their order and with."""
    rng = np.random.default_rng([SEED, bots, pairs, run])
    luck, rise = TIMES[time]
    pairings, totals, scores = [*combinations(map(str, range(bots)), 2)], [], []
    for number, (one, _) in enumerate(pairings):
        leads = np.repeat(rng.normal(0, luck, -(-pairs // 5)), 5)[:pairs]
        leads += (one == "0") * rise * ((np.arange(pairs) >= pairs // 2) - 0.5)
        below = _BELOW[leads.round().astype(int) + 1200]
        scores.append(2 * (rng.random((pairs, 1)) > below).sum(axis=1))
        by_score = tuple(np.bincount(scores[-1], minlength=5).tolist())
        totals.append(PairTotals(number, *pair_scores(0, 1, by_score)[2:], by_score))
    sequence = np.repeat(np.arange(len(pairings)), pairs), np.concatenate(scores)
    fields = [
        Field(pairings, totals, [*map(str, range(bots))], sequence=s) for s in (None, sequence)
    ]
    return fields[0], fields[1]


def lines(runs: int = 400) -> Iterator[str]:
    """Yield the table: how often equal bots are apart, and how often time is seen."""
    yield f"{runs} runs of equal bots a row. Of 100: in how many two are apart, where errors do"
    yield "not allow for what is seen in time, and where they do; and in how many it is said.\n"
    yield "| bots | pairs | in time | apart before | apart | said |\n|---|---|---|---|---|---|"
    for bots, pairs in ((4, 40), (6, 40)):
        for time in TIMES:
            found = [play_in_time(bots, pairs, time, run) for run in range(runs)]
            told = ([bool(one[n].verdicts.apart.any()) for one in found] for n in (0, 1))
            cells = *told, [bool(describe_dependence(one[1])) for one in found]
            said = " | ".join(f"{100 * np.mean(cell):.1f}" for cell in cells)
            yield f"| {bots} | {pairs} | {time} | {said} |"
