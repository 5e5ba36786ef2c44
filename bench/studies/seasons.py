"""A season of comparisons: in how many of them a claim is false, and what its levels cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.insight.verdict import make_claim
from arena.statistics.intervals import Estimate
from arena.statistics.sprt import (
    PAIR_SCORES,
    Bounds,
    bounds,
    looks,
    moments,
    round_size,
    season_level,
    share_of,
)
from arena.statistics.stopped import estimate_mean
from arena.tournament.sprt_rounds import Evidence
from arena.tournament.stop import Sprt
from bench.studies.sprt import ERROR_RATE, FAR, MOST, NEAR, Array, tilted

ELO1 = 15.0
PLACES = 20
SEASONS = 2000
SEEDS = (1, 2)
EVEN = (0.01, 0.0, 0.98, 0.0, 0.01)
"""Shares of the pair scores of two versions that do the same in 98 % of the pairs."""

_NEWTON = 60
_NEARER = 0.3  # standard errors: so much wider than a plain interval, one that holds 0 surely does
_VALUES = np.array(PAIR_SCORES)

Counted = npt.NDArray[np.int_]


class Season(NamedTuple):
    """What is simulated: comparisons of 0 against 15 points, whose truths are drawn from some."""

    name: str
    elos: Sequence[float]
    shares: Sequence[float] = FAR
    most: int = MOST


class Level(NamedTuple):
    """The error rate of either verdict, and of the interval."""

    rate: float
    interval: float

    @property
    def ends(self) -> Bounds:
        """The bounds of the test."""
        return bounds(self.rate, self.rate)


ALONE = Level(ERROR_RATE, ERROR_RATE)
"""That of a comparison which is of no season."""


def level_of(place: int) -> Level:
    """Return the level of a comparison by its place in a season."""
    return Level(season_level(place) / 2, season_level(place))


class Finished(NamedTuple):
    """Many simulated tests: the counts (a row each), the ratios, and the true Elo differences."""

    counts: Counted
    ratios: Array
    elos: Array


def ratios_of(counts: Counted, elo1: float = ELO1) -> Array:
    """Return the log-likelihood ratios of many rows of counts, as `log_likelihood_ratio` does."""
    weights = np.maximum(counts, 1e-3)
    shares = weights / weights.sum(1, keepdims=True)
    terms = [np.log1p(_multipliers(shares, at) * at) for at in _leads(elo1)]
    return np.asarray((weights * (terms[0] - terms[1])).sum(1))


def _leads(elo1: float) -> Sequence[Array]:
    return [_VALUES - 1.0, _VALUES - 2 * share_of(elo1)]


def _multipliers(shares: Array, leads: Array) -> Array:
    """Return the multiplier of each row for which the mean is right, by Newton's method."""
    low, high = -(1 - shares[:, -1:] / 2) / leads[-1], -(1 - shares[:, :1] / 2) / leads[0]
    at = np.zeros_like(low)
    for _ in range(_NEWTON):
        terms = leads / (1 + at * leads)
        excess = (shares * terms).sum(1, keepdims=True)
        low, high = np.where(excess > 0, at, low), np.where(excess > 0, high, at)
        after = at + excess / (shares * terms * terms).sum(1, keepdims=True)
        after = np.where((low < after) & (after < high), after, (low + high) / 2)
        step, at = np.abs(after - at).max(), after
        if step < 1e-13:
            break
    return np.asarray(at)


def play_tests(
    season: Season, levels: Sequence[Level], rng: np.random.Generator, elos: Array
) -> Finished:
    """Return a simulated test for each of the true Elo differences, at its level."""
    truths = {elo: tilted(season.shares, PAIR_SCORES, 2 * share_of(elo)) for elo in {*elos}}
    drawn = np.array([truths[elo] for elo in elos])
    low, high = np.array([level.ends for level in levels]).T
    counts, ratios = np.zeros((len(elos), len(PAIR_SCORES)), dtype=int), np.zeros(len(elos))
    active, played = np.arange(len(elos)), 0
    while len(active) and (size := round_size(played, season.most)):
        played += size
        counts[active] += rng.multinomial(size, drawn[active])
        ratios[active] = ratios_of(counts[active])
        active = active[(low[active] < ratios[active]) & (ratios[active] < high[active])]
    return Finished(counts, ratios, elos)


def is_false(counts: Sequence[int], ratio: float, elo: float, level: Level, most: int) -> bool:
    """Return whether what `arena compare` says after a test is not true, `probably` or not."""
    ends = level.ends
    verdict = "better" if ratio >= ends.high else "not better" if ratio <= ends.low else ""
    wrong = {"better": elo <= 0, "not better": elo >= ELO1, "": False}[verdict]
    pairs, seen = sum(counts), moments(counts, PAIR_SCORES)
    score = (seen.mean - 1) / (seen.variance / pairs) ** 0.5
    holds_zero = abs(score) < -NormalDist().inv_cdf(level.interval / 2) - _NEARER
    if holds_zero or (score > 0) == (elo > 0) != (elo == 0):
        return wrong  # the interval says nothing, or what is true
    return _claims_wrongly(counts, elo, level, most)


def _claims_wrongly(counts: Sequence[int], elo: float, level: Level, most: int) -> bool:
    numbers, mean1 = looks(sum(counts)), 2 * share_of(ELO1)
    mean = estimate_mean(counts, PAIR_SCORES, 1.0, mean1, numbers, level.ends, level.interval)
    evidence = Evidence(counts, PAIR_SCORES, 1.0, mean1, level.ends, numbers)
    stop = Sprt(0.0, ELO1, level.rate, level.rate, most)
    lead = Estimate(*map(evidence.elo, mean))
    claim = make_claim(evidence.verdict, lead, stop, evidence.pairs).removeprefix("probably ")
    truths = {"better": elo > 0, "weaker": elo < 0, "not better": elo < ELO1, "undecided": True}
    return not truths[claim]
