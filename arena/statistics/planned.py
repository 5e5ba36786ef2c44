"""Say before a run how many pairs tell neighbours apart, or narrow the ratings.

The field is a ladder: every two neighbours are as far apart. Some of its runs are drawn, with the
same luck for any number of pairs, and judged as every run is. So the bounds are those after the
steps down. The luck of a gap itself is taken from the normal distribution; of two bots alone the
test of signs says it exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.statistics.apart import ALPHA
from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import Floats, expit, find_root, normal_below
from arena.statistics.ratings import Fit, PairScores
from arena.statistics.sprt import Bounds, looks
from arena.statistics.two_bots import sign_power
from arena.statistics.verdicts import Verdicts

_SEED = 46
_DRAWN, _FEWEST = 100, 4  # bots in the runs that are drawn, and runs
_NEIGHBOURS = 4  # that are looked at in a run
_STEPS, _PART, _NEAR = 6, 0.6, 1e-3  # towards the number of pairs: the bounds change with it
_MOST_PAIRS, _CLOSE = 1e9, 1e-4  # the latter of the logarithm of pairs
_LEAST = 0.25  # of the variance of how far a gap is beyond its bound
_OPEN = 1e3  # stands for half a width that nothing bounds
_START = 16.0  # pairs at first, times the square of a gap
_WALKS = 4000


class _Gaps(NamedTuple):
    """Of gaps in the runs drawn: the variance by luck, what stays of it, luck, and the bound.

    `held` is the variance that stays by the verdict, `own` by the truth. `moved` is how many errors
    luck has moved the gap, on which the bound depends: a gap that luck has narrowed has wider ones
    beside it, which are told, so that fewer are left.
    """

    luck: Floats
    held: Floats
    own: Floats
    moved: Floats
    bound: Floats

    def chance(self, gap: float, growth: float = 1.0) -> float:
        """Return how likely a gap is told, with so many times as many pairs."""
        luck = self.luck / growth
        beyond = gap - self.bound * np.sqrt(luck + self.held)
        spread = 1 + np.var(self.bound) - 2 * np.mean(self.moved * (self.bound - self.bound.mean()))
        place = np.mean(beyond / np.sqrt(luck + self.own)) / math.sqrt(max(float(spread), _LEAST))
        return float(normal_below(place))


class Planned:
    """Bots before they play, each against every other one or, with a panel, against it alone.

    `gap` is that between neighbours; the bots of the panel are in the middle. Pairings differ from
    strengths by a standard deviation of `spread`. Both are in log odds. `effect` is the variance
    of a pair's score over that of two independent games.
    """

    def __init__(
        self, bots: int, panel: int, gap: float, effect: float = 1.0, spread: float = 0.0
    ) -> None:
        self.bots, self.panel, self.gap = bots, panel, gap
        self.effect, self.spread = effect, spread
        ladder = gap * ((bots - 1) / 2 - np.arange(bots))
        self.strengths: Floats = np.append(ladder, np.zeros(panel))
        every = combinations(range(bots + panel), 2)
        self.pairings = [two for two in every if not panel or two[0] < bots <= two[1]]

    def shares(self, lead: float) -> tuple[float, float, float]:
        """Return how likely a pair is lost, even and won, for a lead in log odds.

        >>> Planned(2, 0, 0.1).shares(0.0)
        (0.25, 0.5, 0.25)
        """
        share = float(expit(lead))
        ahead = 2 * share - 1
        off = min(1.0, max(abs(ahead), 2 * self.effect * share * (1 - share) + ahead**2))
        return (off - ahead) / 2, 1 - off, (off + ahead) / 2

    def chances(self, pairs: int, *gaps: float) -> list[float]:
        """Return how likely neighbours are told apart, for each of these gaps, in log odds."""
        if len(self.strengths) == 2:
            return [self._sign_power(pairs, gap) for gap in gaps]
        return [*map(self._gaps(pairs).chance, gaps)]

    def _sign_power(self, pairs: int, gap: float) -> float:
        lost, _, won = self.shares(gap)
        return sign_power(pairs, max(lost, _CLOSE), won, ALPHA)

    def pairs_to_tell(self, power: float) -> int | None:
        """Return the pairs of each pairing that tell neighbours apart so likely; None if none do.

        >>> [Planned(2, 0, gap).pairs_to_tell(0.8) for gap in (0.1, 2.0)]
        [1612, 9]
        """
        if len(self.strengths) == 2:
            return self._pairs_of_two(power)

        def judge(pairs: float) -> Callable[[float], float]:
            gaps = self._gaps(pairs)
            return lambda growth: gaps.chance(self.gap, growth) - power

        return _settle(1 + _START / self.gap**2, judge)

    def _pairs_of_two(self, power: float) -> int:
        def excess(pairs: float) -> float:
            return self._sign_power(round(math.exp(pairs)), self.gap) - power

        return round(math.exp(find_root(excess, 0.0, math.log(_MOST_PAIRS), _CLOSE)))

    def pairs_to_narrow(self, width: float) -> int | None:
        """Return the pairs of each pairing with which all ratings are known so closely.

        `width` is half of an interval. None if no number of pairs does it, because pairings that
        are missing would differ.

        >>> Planned(4, 0, 0.0).pairs_to_narrow(0.1)
        230
        """

        def judge(pairs: float) -> Callable[[float], float]:
            rows = np.array([self._widths(verdicts) for verdicts in self.runs(pairs)])
            luck, held = rows[:, 0], rows[:, 1]
            return lambda growth: (
                width - float(np.median(np.sqrt(luck / growth + held).max(axis=1)))
            )

        return _settle(5 + _START / width**2, judge)

    def runs(self, pairs: float) -> Iterator[Verdicts]:
        """Yield the verdicts of some runs with so many pairs of each pairing."""
        random = np.random.default_rng(_SEED)
        first, second = np.array(self.pairings).T
        leads = self.strengths[first] - self.strengths[second]
        for _ in range(max(_FEWEST, _DRAWN // len(self.strengths))):
            luck, own = random.normal(size=(2, len(leads)))
            share = expit(leads + self.spread * own)
            variance = self.effect * 2 * pairs * share * (1 - share)
            total = np.clip(pairs * 2 * share + np.sqrt(variance) * luck, 0, 2 * pairs)
            squares = np.maximum(variance + total**2 / pairs, total)
            sums = zip(self.pairings, total.tolist(), squares.tolist(), strict=True)
            scores = [PairScores(*two, pairs, *both) for two, *both in sums]  # type: ignore[arg-type]
            counts: ScoreCounts = (0, 0, 0, 0, 0)
            if len(scores) == 1:  # of two bots alone the counts decide
                whole = max(1, round(pairs))
                won = min(whole, round((squares[0] - total[0]) / 2))
                even = min(whole - won, max(0, round(total[0]) - 2 * won))
                counts = (whole - won - even, 0, even, 0, won)
            yield Verdicts(Fit(len(self.strengths), scores), {self.pairings[0]: counts})

    def _gaps(self, pairs: float) -> _Gaps:
        """Return what decides whether some neighbours are told apart, in each run."""
        rows = []
        step = max(1, (self.bots - 1) // _NEIGHBOURS)
        for verdicts in self.runs(pairs):
            fit = verdicts.fit
            for bot in range(0, self.bots - 1, step):
                luck, whole = fit.gap_errors[bot, bot + 1] ** 2, fit.full_errors[bot, bot + 1] ** 2
                held = max(0.0, whole - luck)
                own = held * self.spread**2 / fit.spread.variance if held else 0.0
                moved = (verdicts.leads[bot, bot + 1] - self.gap) / math.sqrt(luck)
                rows.append((luck, held, own, moved, verdicts.bound_of(bot, bot + 1)))
        return _Gaps(*np.array(rows).T)

    def _widths(self, verdicts: Verdicts) -> tuple[Floats, Floats]:
        """Return the squares of half the intervals' widths: the part by luck, and the rest."""
        fit = verdicts.fit
        scale = fit.scale()
        _, low, high = (ends[: self.bots] for ends in verdicts.ratings(scale))
        luck, whole = (
            scale.errors(covariance)[: self.bots] ** 2
            for covariance in (fit.covariance, fit.full_covariance)
        )
        part = np.minimum(luck / whole, 1.0)
        square = np.minimum((high - low) / 2, _OPEN) ** 2
        return square * part, square * (1 - part)


def _settle(at: float, judge: Callable[[float], Callable[[float], float]]) -> int | None:
    """Return how many pairs it takes; None if no number does.

    `judge` returns, for runs of so many pairs, by how much so many times as many are more than
    enough.
    """
    for step in range(_STEPS):
        enough = judge(at)

        def excess(growth: float, enough: Callable[[float], float] = enough) -> float:
            return enough(math.exp(growth))

        least, most = -math.log(at), math.log(_MOST_PAIRS / at)
        if excess(most) <= 0:
            return None
        growth = least if excess(least) >= 0 else find_root(excess, least, most, _CLOSE)
        at *= math.exp(growth * (_PART if step else 1.0))
        if abs(growth) < _NEAR:
            break
    return math.ceil(at - _CLOSE)


class Expected(NamedTuple):
    """What a comparison is expected to take: its mean number of pairs, and how likely it tells."""

    pairs: int
    chance: float


def expect_test(planned: Planned, ends: Bounds, most: int) -> Expected:
    """Return what the sequential test of 0 against the gap takes where the gap is true.

    >>> from arena.statistics.sprt import bounds
    >>> expect_test(Planned(2, 0, 0.1), bounds(0.05, 0.2), 20_000)
    Expected(pairs=948, chance=0.84225)
    """
    lost, even, won = planned.shares(planned.gap)
    ahead = won - lost
    drift = ahead**2 / (1 - even - ahead**2)  # twice that of a pair's log-likelihood ratio
    times = np.array(looks(most), dtype=float)
    steps = np.diff(times, prepend=0.0)
    luck = np.random.default_rng(_SEED).normal(size=(_WALKS, len(steps)))
    walks = np.cumsum(steps * drift / 2 + np.sqrt(steps * drift) * luck, axis=1)
    out = (walks <= ends.low) | (walks >= ends.high)
    last = np.where(out.any(axis=1), out.argmax(axis=1), len(steps) - 1)
    at = walks[np.arange(_WALKS), last]
    return Expected(math.ceil(times[last].mean()), float((at >= ends.high).mean()))
