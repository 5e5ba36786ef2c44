"""Power analysis before a run: how many pairs separate neighbours, or narrow the ratings.

The field is a ladder: all neighbours have the same gap. Some of its runs are simulated, with the
same random numbers for any number of pairs, and judged as every run is, so that the bounds are
those of the step-down test. The luck of a gap itself is taken from the normal distribution; for
only two bots the sign test gives it exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from arena.statistics.distributions import Floats, expit, find_root, normal_below
from arena.statistics.ratings import Fit, PairScores
from arena.statistics.sprt import Bounds, looks
from arena.statistics.two_bots import ALPHA, sign_power
from arena.statistics.verdicts import Verdicts

_SEED = 46
_DRAWN, _FEWEST = 100, 4  # bots in all simulated runs together, and the least number of runs
_NEIGHBOURS = 4  # pairs of neighbours that are examined in a run
_MOST_PAIRS, _CLOSE = 1e9, 1e-4  # the latter is the tolerance of the logarithm of pairs
_START = 16.0  # the first guess: pairs times the square of a gap
_STEPS, _PART, _NEAR = 6, 0.6, 1e-3  # of the iteration: the bounds depend on the number of pairs
_OPEN = 1e3  # replaces an infinite half-width
_LEAST = 0.25  # the least variance of a gap's distance from its bound
_WALKS = 4000


class Planned(NamedTuple):
    """The design of a run: all bots play each other, or, with a panel, only the panel.

    `gap` is the gap between neighbours; the panel is in the middle of the ladder. `spread` is the
    standard deviation of pairings about the strengths. Both are in log odds. `effect` is the
    variance of a pair's score divided by that of two independent games. With `looks` bounds hold at
    any time.
    """

    bots: int
    panel: int
    gap: float
    effect: float = 1.0
    spread: float = 0.0
    looks: bool = False

    @property
    def strengths(self) -> Floats:
        """The true strengths, in log odds."""
        ladder = self.gap * ((self.bots - 1) / 2 - np.arange(self.bots))
        return np.append(ladder, np.zeros(self.panel))

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The two bots of each pairing."""
        every = combinations(range(self.bots + self.panel), 2)
        return [two for two in every if not self.panel or two[0] < self.bots <= two[1]]

    def shares(self, lead: float) -> tuple[float, float, float]:
        """Return the probabilities that a pair is lost, even and won, for a lead in log odds.

        >>> Planned(2, 0, 0.1).shares(0.0)
        (0.25, 0.5, 0.25)
        """
        share = float(expit(lead))
        ahead = 2 * share - 1
        off = min(1.0, max(abs(ahead), 2 * self.effect * share * (1 - share) + ahead**2))
        return (off - ahead) / 2, 1 - off, (off + ahead) / 2

    def chances(self, pairs: int, *gaps: float) -> list[float]:
        """Return the probability that neighbours are told apart, for each gap in log odds."""
        if self.bots + self.panel == 2:
            return [self._sign_power(pairs, gap) for gap in gaps]
        neighbours = self._neighbours(pairs)
        return [float(normal_below(_quantile(gap, *neighbours))) for gap in gaps]

    def _sign_power(self, pairs: float, gap: float) -> float:
        lost, _, won = self.shares(gap)
        return sign_power(round(pairs), max(lost, _CLOSE), won, ALPHA)

    def pairs_to_tell(self, power: float) -> int | None:
        """Return the pairs of each pairing that separate neighbours with this power, or None.

        >>> [Planned(2, 0, gap).pairs_to_tell(0.8) for gap in (0.1, 2.0)]
        [1612, 9]
        """
        if self.bots + self.panel == 2:
            most = math.log(_MOST_PAIRS)
            found = find_root(
                lambda log: self._sign_power(math.exp(log), self.gap) - power, 0.0, most, _CLOSE
            )
            return round(math.exp(found))
        wanted = NormalDist().inv_cdf(power)

        def judge(pairs: float) -> tuple[float, float, float]:
            neighbours = self._neighbours(pairs)
            luck, held, *_, bound = neighbours.mean(axis=1).tolist()
            now, then = (bound + one for one in (_quantile(self.gap, *neighbours), wanted))
            return luck, held, (now / then) ** 2

        return _settle(1 + _START / self.gap**2, judge)

    def pairs_to_narrow(self, width: float) -> int | None:
        """Return the pairs of each pairing that narrow all ratings to a width, or None.

        `width` is half of an interval. None if no number of pairs is enough, because pairings that
        are not played may differ from the Elo.

        >>> Planned(4, 0, 0.0).pairs_to_narrow(0.1)
        230
        """

        def judge(pairs: float) -> tuple[float, float, float]:
            halves, luck = [], []
            for verdicts in self.runs(pairs):
                fit, scale = verdicts.fit, verdicts.fit.scale()
                _, low, high = verdicts.ratings(scale)
                halves.append(min(float((high - low)[: self.bots].max()) / 2, _OPEN))
                parts = scale.errors(fit.covariance) / scale.errors(fit.full_covariance)
                luck.append(float(parts[: self.bots].mean()) ** 2)
            half, part = float(np.median(halves)), min(float(np.mean(luck)), 1.0)
            return half**2 * part, half**2 * (1 - part), (width / half) ** 2

        return _settle(5 + _START / width**2, judge)

    def runs(self, pairs: float) -> Iterator[Verdicts]:
        """Yield the verdicts of simulated runs with this number of pairs of each pairing."""
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
            met = {}
            if len(scores) == 1:  # for only two bots the counts decide
                whole = max(1, round(pairs))
                won = min(whole, round((squares[0] - total[0]) / 2))
                even = min(whole - won, max(0, round(total[0]) - 2 * won))
                met = {self.pairings[0]: (whole - won - even, 0, even, 0, won)}
            yield Verdicts(Fit(len(self.strengths), scores), met, looks=self.looks)

    def _neighbours(self, pairs: float) -> Floats:
        """Return the arguments of `_quantile` for some gaps in each run (5, gaps)."""
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
        return np.array(rows).T


def _quantile(
    gap: float, luck: Floats, held: Floats, own: Floats, moved: Floats, bound: Floats
) -> float:
    """Return the probability that a gap is detected, as a quantile of the normal distribution.

    In each simulated run a gap has a variance by `luck`, a variance that more pairs do not reduce,
    as the verdict estimates it (`held`) and in truth (`own`), and a `bound`. `moved` is by how many
    standard errors luck has moved the gap. The bound depends on it: if luck has narrowed a gap, the
    gaps beside it are wider and are detected first, so that fewer leads are left in the step-down
    test.
    """
    spread = 1 + np.var(bound) - 2 * np.mean(moved * (bound - bound.mean()))
    beyond = (gap - bound * np.sqrt(luck + held)) / np.sqrt(luck + own)
    return float(beyond.mean() / math.sqrt(max(float(spread), _LEAST)))


def _settle(at: float, judge: Callable[[float], tuple[float, float, float]]) -> int | None:
    """Return the number of pairs that is needed; None if no number is enough.

    `judge` returns, for a number of pairs, the variance by luck, the variance that more pairs do
    not reduce, and the factor by which their sum may grow.
    """
    for step in range(_STEPS):
        luck, held, times = judge(at)
        room = (luck + held) * times - held
        if room * _MOST_PAIRS <= luck * at:
            return None
        growth = max(luck / room, 1 / at)
        at *= growth ** (_PART if step else 1.0)
        if abs(growth - 1) < _NEAR:
            break
    return math.ceil(at - _CLOSE)


class Expected(NamedTuple):
    """The expected number of pairs of a comparison, and its power."""

    pairs: int
    chance: float


def expect_test(planned: Planned, ends: Bounds, most: int) -> Expected:
    """Return the expected cost of the sequential test of 0 against the gap if the gap is true.

    >>> from arena.statistics.sprt import bounds
    >>> expect_test(Planned(2, 0, 0.1), bounds(0.05, 0.2), 20_000)
    Expected(pairs=948, chance=0.84225)
    """
    lost, even, won = planned.shares(planned.gap)
    ahead = won - lost
    drift = ahead**2 / (1 - even - ahead**2)  # twice the drift of a pair's log-likelihood ratio
    times = np.array(looks(most), dtype=float)
    steps = np.diff(times, prepend=0.0)
    luck = np.random.default_rng(_SEED).normal(size=(_WALKS, len(steps)))
    walks = np.cumsum(steps * drift / 2 + np.sqrt(steps * drift) * luck, axis=1)
    out = (walks <= ends.low) | (walks >= ends.high)
    last = np.where(out.any(axis=1), out.argmax(axis=1), len(steps) - 1)
    at = walks[np.arange(_WALKS), last]
    return Expected(math.ceil(times[last].mean()), float((at >= ends.high).mean()))
