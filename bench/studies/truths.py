"""Hostile truths: fields that no model of strengths assumes, with the pairs of a run drawn of them.

A truth says by how many Elo points each bot leads each other one in their own games, which need not
add up, and how the scores of a pair are spread. A bot's true strength is that of an equal round
robin of all bots with endless games.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np

from arena.statistics.bradley_terry import Model, PairScores
from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import Floats, expit
from arena.statistics.ratings import ELO, Fit
from arena.statistics.two_bots import pair_scores
from bench.studies.fields import score_shares

Random: TypeAlias = np.random.Generator
Shares: TypeAlias = Callable[[float], Sequence[float]]
"""Returns how likely the five scores of a pair are, for a share of the points."""


class Truth(NamedTuple):
    """By how much each bot leads each other one (n, n), in Elo points, and how pairs are spread."""

    leads: Floats
    shares: Shares = score_shares

    def strengths(self) -> Floats:
        """Return the true strengths, in log odds about their mean."""
        bots = len(self.leads)
        scores = [
            PairScores(one, two, 1, 2 * float(expit(self.leads[one, two] / ELO)), 0.0)
            for one, two in combinations(range(bots), 2)
        ]
        return Model(bots, scores, np.zeros(len(scores))).fit()


class Played(NamedTuple):
    """The pairs of a run by score, of every two bots that met."""

    bots: int
    met: Mapping[tuple[int, int], ScoreCounts]

    def fit(self) -> Fit:
        """Return the fit of these pairs."""
        return Fit(self.bots, [pair_scores(*two, counts) for two, counts in self.met.items()])


def play(truth: Truth, pairs: int, rng: Random, panel: Collection[int] | None = None) -> Played:
    """Return so many pairs of every two bots; with a panel only of the others against it."""
    bots = len(truth.leads)
    met = {}
    for one, two in combinations(range(bots), 2):
        if panel is None or (one in panel) != (two in panel):
            share = float(expit(truth.leads[one, two] / ELO))
            met[one, two] = tuple(rng.multinomial(pairs, truth.shares(share)).tolist())
    return Played(bots, met)


def even_pairs(share: float) -> list[float]:
    """Return pairs of which 98 % are even between equal bots; the others are won or lost whole.

    >>> [round(one, 4) for one in even_pairs(0.5)]
    [0.01, 0.0, 0.98, 0.0, 0.01]
    """
    off = max(0.02, abs(2 * share - 1))
    won = (off + 2 * share - 1) / 2
    return [off - won, 0.0, 1 - off, 0.0, won]


def alike_pairs(share: float) -> list[float]:
    """Return pairs whose two games have a correlation of 0.8."""
    rest = 1 - share
    alike = 0.8
    apart = 2 * share * rest * (1 - alike)
    return [rest - apart / 2, 0.0, apart, 0.0, share - apart / 2]


def of_elo(elo: Floats, deviation: float = 0.0, rng: Random | None = None) -> Floats:
    """Return the leads of bots with these Elo, and a normal deviation of each pairing's own."""
    leads = elo[:, None] - elo
    if deviation and rng is not None:
        own = np.triu(rng.normal(scale=deviation, size=leads.shape), 1)
        leads = leads + own - own.T
    return np.asarray(leads)


def _outlier(rng: Random) -> Truth:
    leads = of_elo(rng.normal(scale=50, size=12))
    leads[3, 7] += 300
    leads[7, 3] -= 300
    return Truth(leads)


def _cycle(rng: Random) -> Truth:
    leads = of_elo(rng.normal(scale=30, size=9))
    for one, two in ((0, 1), (1, 2), (2, 0)):
        leads[one, two] += 150
        leads[two, one] -= 150
    return Truth(leads)


def _disc(rng: Random) -> Truth:
    """Return a disc game: a bot's lead depends on the angle between two of them, too."""
    x, y = rng.normal(scale=8, size=(2, 12))
    turn = x[:, None] * y - y[:, None] * x
    return Truth(of_elo(rng.normal(scale=30, size=12)) + turn)


def _families(rng: Random) -> Truth:
    """Return three families of four near copies, which play alike against each other family."""
    family = np.repeat(np.arange(3), 4)
    own = of_elo(np.zeros(3), 60, rng)[np.ix_(family, family)]
    elo = rng.normal(scale=60, size=3)[family] + rng.normal(scale=5, size=12)
    return Truth(of_elo(elo) + own)


def _at_the_ends(rng: Random) -> Truth:
    elo = rng.normal(scale=40, size=10)
    return Truth(of_elo(np.append(elo, [1200, -1200])))


def _normal(deviation: float, bots: int = 12, scale: float = 50) -> Callable[[Random], Truth]:
    return lambda rng: Truth(of_elo(rng.normal(scale=scale, size=bots), deviation, rng))


def _equal(bots: int, shares: Shares = score_shares) -> Callable[[Random], Truth]:
    return lambda _: Truth(np.zeros((bots, bots)), shares)


class Case(NamedTuple):
    """A truth with the pairs of each pairing; `panel` are the bots of a gauntlet's panel."""

    truth: Callable[[Random], Truth]
    pairs: int
    panel: Collection[int] | None = None


CASES: Mapping[str, Case] = {
    "normal": Case(_normal(0), 40),
    "deviation 20": Case(_normal(20), 40),
    "deviation 38": Case(_normal(38), 40),
    "deviation 60": Case(_normal(60), 200),
    "an outlier of 300": Case(_outlier, 40),
    "one at -400": Case(lambda rng: Truth(of_elo(np.append(rng.normal(0, 10, 5), -400.0))), 40),
    "two clusters": Case(
        lambda rng: Truth(of_elo(rng.normal(0, 10, 8) + np.repeat([0.0, 200.0], 4))), 40
    ),
    "a cycle of 150": Case(_cycle, 60),
    "a disc game": Case(_disc, 60),
    "near copies": Case(_families, 60),
    "20 equal": Case(_equal(20), 40),
    "12 equal": Case(_equal(12), 100),
    "2 equal": Case(_equal(2), 40),
    "3 equal": Case(_equal(3), 40),
    "unbeaten and winless": Case(_at_the_ends, 20),
    "5 pairs": Case(_normal(0), 5),
    "6 equal, 5 pairs": Case(_equal(6), 5),
    "98 % even": Case(_equal(6, even_pairs), 200),
    "pairs alike": Case(_equal(6, alike_pairs), 30),
    "gauntlet, 38": Case(_normal(38, 16), 60, range(8, 16)),
    "gauntlet, 60": Case(_normal(60, 16), 60, range(8, 16)),
    "gauntlet of 4 + 4, 60": Case(_normal(60, 8), 60, range(4, 8)),
    "gauntlet, equal": Case(_equal(12), 60, range(4, 12)),
}
"""The fields in which every sentence, interval and probability is tried."""
