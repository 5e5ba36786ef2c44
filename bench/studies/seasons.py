"""A season of comparisons: in how many of them a claim is false, and what its levels cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.differences.claims import Claim, make_claim
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
from arena.statistics.stopped import estimate_mean, season_interval
from arena.tournament.sprt_rounds import Evidence
from arena.tournament.stop import Sprt
from bench.studies.sprt import ERROR_RATE, FAR, MOST, NEAR, Array, tilted

ELO1 = 15.0
PLACES = 20
SEASONS = 300
TESTS = 500
SEEDS = (1, 2)
EVEN = (0.01, 0.0, 0.98, 0.0, 0.01)
"""Shares of the pair scores of two versions that do the same in 98 % of the pairs."""

_NEWTON = 60
_NEARER = 0.1  # standard errors: so much wider than a plain interval, one that holds 0 surely does
_VALUES = np.array(PAIR_SCORES)

Counted = npt.NDArray[np.int_]


class Season(NamedTuple):
    """What is simulated: comparisons of 0 against 15 points, whose truths are drawn from some."""

    name: str
    elos: Sequence[float]
    shares: Sequence[float] = FAR
    most: int = MOST


class Level(NamedTuple):
    """The place of a comparison in its season, 0 for one that is of none."""

    place: int

    @property
    def rate(self) -> float:
        """The error rate of either verdict."""
        return season_level(self.place) / 2 if self.place else ERROR_RATE

    @property
    def plain(self) -> float:
        """The level of an interval of any number of pairs."""
        return season_level(self.place) if self.place else ERROR_RATE

    @property
    def ends(self) -> Bounds:
        """The bounds of the test."""
        return bounds(self.rate, self.rate)

    def interval(self, pairs: int) -> float:
        """Return the level of the interval after so many pairs."""
        return season_interval(self.place, pairs) if self.place else ERROR_RATE


ALONE = Level(0)


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


def find_false(counts: Sequence[int], ratio: float, elo: float, level: Level, most: int) -> str:
    """Return what `arena compare` says after a test if that is not true, nothing if it is.

    What it says with `probably` counts as what it says without.
    """
    ends = level.ends
    verdict = "better" if ratio >= ends.high else "not better" if ratio <= ends.low else ""
    pairs, seen = sum(counts), moments(counts, PAIR_SCORES)
    score = (seen.mean - 1) / (seen.variance / pairs) ** 0.5
    holds_zero = abs(score) < -NormalDist().inv_cdf(level.plain / 2) - _NEARER
    if holds_zero or score * elo > 0:  # the interval says nothing, or what is true
        return "" if is_true(verdict, elo) else verdict
    claim = make_claim_of(counts, level, most).removeprefix("probably ")
    return "" if is_true(claim, elo) else claim


def is_true(claim: str, elo: float) -> bool:
    """Return whether a claim is true of an Elo difference."""
    return {"better": elo > 0, "weaker": elo < 0, "not better": elo < ELO1}.get(claim, True)


def make_claim_of(counts: Sequence[int], level: Level, most: int) -> Claim:
    """Return what `arena compare` says after a test."""
    numbers, mean1 = looks(sum(counts)), 2 * share_of(ELO1)
    interval = level.interval(sum(counts))
    mean = estimate_mean(counts, PAIR_SCORES, 1.0, mean1, numbers, level.ends, interval)
    evidence = Evidence(counts, PAIR_SCORES, 1.0, mean1, level.ends, numbers)
    stop = Sprt(0.0, ELO1, level.rate, level.rate, most)
    return make_claim(evidence.verdict, Estimate(*map(evidence.elo, mean)), stop, evidence.pairs)


class Found(NamedTuple):
    """The shares of seasons with a false `better` and with any false claim, and the mean pairs."""

    better: float
    false: float
    pairs: float


def play_seasons(season: Season, levels: Sequence[Level], seasons: int, seed: int) -> Found:
    """Return what so many seasons came to, in which a comparison has each of the levels."""
    key = [seed, round(1000 * season.shares[2]), season.most, *(round(e) + 99 for e in season.elos)]
    rng = np.random.default_rng(key)
    all_levels = [*levels] * seasons
    elos = rng.choice(np.array(season.elos), len(all_levels))
    tests = play_tests(season, all_levels, rng, elos)
    rows = zip(*(column.tolist() for column in tests), all_levels, strict=True)
    found = [
        find_false(counts, ratio, elo, level, season.most) for counts, ratio, elo, level in rows
    ]
    claims = np.array(found).reshape(seasons, -1)
    better, false = (claims == "better").any(1).mean(), (claims != "").any(1).mean()
    return Found(float(better), float(false), float(tests.counts.sum(1).mean()))


LEVELS = [Level(place) for place in range(1, PLACES + 1)]
SEASONS_OF = [
    Season("no gain", (0.0,)),
    Season("no gain", (0.0,), NEAR),
    Season("no gain", (0.0,), EVEN),
    Season("no gain", (0.0,), most=800),
    Season("no gain", (0.0,), most=50),
    Season("no gain", (0.0,), most=16),
    Season("gains and losses", (-15.0, -5.0, 0.0, 5.0, 15.0)),
    Season("small losses", (-2.0,)),
    Season("gains of elo1", (15.0,)),
]
_NAMES: dict[Sequence[float], str] = {FAR: "far", NEAR: "near", EVEN: "even"}


def lines(seasons: int = SEASONS) -> Iterator[str]:
    """Yield the tables of the section, each row as soon as it has been simulated."""
    yield (
        f"Seasons of {PLACES} comparisons of 0 against {ELO1:g} points, {seasons:,} of them a row\n"
        "and seed: in how many at least one claim is false, `probably` or not: `better` where the\n"
        "difference is not above 0, `weaker` where it is not below, `not better` where it is not\n"
        f"below {ELO1:g}. `alone` are a fifth as many without a season, each comparison with\n"
        "its own 5 %. Pair scores are as spread as in the sections before, or even in 98 %.\n"
    )
    seeds = " | ".join(f"season, seed {seed}" for seed in SEEDS)
    yield (
        f"| truth | pair scores | most pairs | alone: better | alone: any claim | {seeds} "
        "| pairs alone | pairs in a season |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for season in SEASONS_OF:
        alone = play_seasons(season, [ALONE] * PLACES, seasons // 5, 0)
        found = [play_seasons(season, LEVELS, seasons, seed) for seed in SEEDS]
        cells = [
            f"{season.name} ({', '.join(f'{elo:g}' for elo in season.elos)})",
            _NAMES[season.shares],
            "none" if season.most == MOST else f"{season.most:,}",
            *(f"{share:.1%}" for share in (*alone[:2], *(one.false for one in found))),
            *(f"{pairs:,.0f}" for pairs in (alone.pairs, found[0].pairs)),
        ]
        yield f"| {' | '.join(cells)} |"
    yield from _power()


def _power() -> Iterator[str]:
    """Yield what a place costs: mean pairs, and how often the verdict is `better`."""
    yield (
        "\nWhat a place costs: the mean number of pairs, and in how many of "
        f"{TESTS:,} tests\nthe verdict is `better` (far).\n"
    )
    places = (1, 10, 20)
    yield f"| true Elo | most pairs | alone | {' | '.join(f'place {n}' for n in places)} |"
    yield "|---|---|---|---|---|---|"
    for elo, most in ((0.0, MOST), (15.0, MOST), (30.0, MOST), (15.0, 3000), (30.0, 3000)):
        cells = [f"{elo:g}", "none" if most == MOST else f"{most:,}"]
        for level in (ALONE, *map(Level, places)):
            rng = np.random.default_rng([round(elo), most, level.place])
            tests = play_tests(
                Season("", (elo,), most=most), [level] * TESTS, rng, np.full(TESTS, elo)
            )
            better = (tests.ratios >= level.ends.high).mean()
            cells.append(f"{tests.counts.sum(1).mean():,.0f} ({better:.1%})")
        yield f"| {' | '.join(cells)} |"
