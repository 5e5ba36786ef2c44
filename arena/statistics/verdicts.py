"""Verdicts on every two bots: which is ahead, by how much, and whether that is significant.

A lead is the difference of two fitted ratings. Intervals of leads are simultaneous: in 95 of 100
runs all of them hold at once, including those of the first bot, which was selected by its results.
They follow the likelihood ratio, so that they are sensible for unbeaten bots, too.

Two bots are `apart` if their lead is significant in a step-down test of all leads, which makes a
wrong claim in at most 5 % of runs. So bots may be apart although the interval of their lead ends at
0. They are not apart, but the order `leans`, if the bot ahead is the stronger one with a
probability of at least 0.9, by the prior of the field. Any other two are `open`. For only two
bots a sign test decides. With repeated looks (`looks`) the bounds hold at every number of pairs.

Sources: Romano and Wolf 2005 for step-down tests; Bretz, Hothorn and Westfall 2010 for the largest
of many correlated estimates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from arena.statistics.bradley_terry import Flags, Numbers
from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import Floats, draw, find_root, limit, quantile
from arena.statistics.intervals import Z95, Ints
from arena.statistics.posterior import Posterior
from arena.statistics.ratings import Fit, Scale
from arena.statistics.two_bots import ALPHA, Duel, boundary, log_capital, weigh_duel
from arena.threads import one_thread

Word: TypeAlias = Literal["apart", "leans", "open"]

LEANS = 0.9
"""The least probability that the bot ahead is the stronger one with which the order leans."""

_FEW = 60  # bots: with more, no likelihood ratio and fewer points are used
_POINTS, _FEWER_POINTS = 8192, 2048
_STEPS, _FEWER_STEPS = 8, 3
_LENT = 20.0  # degrees of freedom that are added, as if this many games had a known variance
_LEAST, _MOST = 1e-9, 700.0
_CHANCE = 4  # digits of a chance, so that comparisons agree with the numbers shown
_DIGITS = 9  # of strengths and bounds, so that comparisons are the same on any machine
_MOST_GROWTH, _CLOSE = math.log(1e6), 1e-6  # limit and tolerance of the log factor of games
_CORRECTIONS = 3  # secant steps for an end, which is then right to the last digit shown


class Verdict(NamedTuple):
    """The verdict on two bots, the leader first: its lead with simultaneous ends, in log odds.

    An end without a bound is infinite. `likely` is the probability that the leader is stronger.
    """

    lead: float
    low: float
    high: float
    likely: float
    word: Word


def _judge(lead: float, low: float, high: float, likely: float, is_apart: bool) -> Verdict:
    if is_apart:
        return Verdict(lead, max(low, 0.0), high, likely, "apart")
    return Verdict(lead, low, high, likely, "leans" if likely >= LEANS else "open")


class Verdicts:
    """The verdicts on bots numbered from 0; `met` has the pairs of every two that met."""

    def __init__(
        self, fit: Fit, met: Mapping[tuple[int, int], ScoreCounts], *, looks: bool = False
    ) -> None:
        self.fit = fit
        self.met = met
        self.looks = looks
        self.bots = len(fit.strengths)
        self._ranked: Floats = fit.strengths.round(_DIGITS)
        self.leads: Floats = fit.strengths[:, None] - fit.strengths
        self.errors: Floats = np.where(fit.full_errors > 0, fit.full_errors, np.nan)
        two = np.triu(np.isfinite(self.errors), 1)
        self.known = np.nonzero(two)  # every two that games connect
        # of each test, with repeated looks; two bots have two tests
        self._level = ALPHA / max(2, int(two.sum()))
        self._level_of_neighbours = 2 * ALPHA / (self.bots - 1) if self.bots > 2 else self._level

    def on(self, bot: int, others: Sequence[int]) -> list[Verdict | None]:
        """Return the verdicts on a bot and each of others; None if no games connect the two.

        Of 300 bots on every two that takes a tenth of the time of reading cell by cell.
        """
        columns = (
            self.leads[bot, others],
            -self.ends[others, bot],
            self.ends[bot, others],
            self.likely[bot, others],
            self.apart[bot, others],
            np.isnan(self.errors[bot, others]),
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [None if unknown else _judge(*cells) for *cells, unknown in rows]

    @cached_property
    def apart(self) -> Flags:
        """Whether the bot of a row is significantly stronger than that of a column (n, n)."""
        if self.looks:
            return self._apart_at_any_time()
        if self.duel:
            return np.asarray((self.leads > 0) & (self.duel.chance <= ALPHA))
        return np.asarray(self._roots > self._bounds[-1])

    def _apart_at_any_time(self) -> Flags:
        """Return `apart` by bounds that hold at every number of pairs at once.

        A gap between neighbours in the order is tested with a lower bound, as there are few. It
        splits the field: bots above it are apart from bots below it that are at least as far away.
        """
        found, lower = (
            self._roots > self.bounds_at_any_time(level)
            for level in (self._level, self._level_of_neighbours)
        )
        order = self._order
        for place in range(1, self.bots):
            if lower[order[place - 1], order[place]]:
                split = np.ix_(order[:place], order[place:])
                found[split] |= lower[split]
        if self._counts:
            both = [self._counts, self._counts[::-1]]
            found |= np.diag(log_capital(both, 0.5) >= math.log(2 / self._level))[:, ::-1]
        return np.asarray(found)

    @cached_property
    def _counts(self) -> ScoreCounts | None:
        """The pairs by score of the first bot in a run of only two bots, else None.

        Pairs that depend on each other count as fewer independent ones.
        """
        if self.bots != 2 or not any(map(any, self.met.values())):
            return None
        ((first, _), counts), *_ = self.met.items()
        counts = tuple(round(one / float(np.max(self.fit.model.growth))) for one in counts)
        return counts if first == 0 else counts[::-1]

    @cached_property
    def duel(self) -> Duel | None:
        """The evidence of the pairs in a run of only two bots, for the first one, else None."""
        return weigh_duel(self._counts, ALPHA) if self._counts else None

    @cached_property
    @one_thread()
    def likely(self) -> Floats:
        """The probability that the bot of a row is stronger than that of a column (n, n)."""
        if self.duel:
            chance = self.duel.likely
            return np.round([[0.5, chance], [1 - chance, 0.5]], _CHANCE)
        surely = (1 - ALPHA) * self.apart  # so that no test says more than the chance
        bounded = np.clip(self.posterior.likely, surely, 1 - surely.T)
        return np.asarray(np.round(bounded, _CHANCE))

    @one_thread()
    def first(self) -> Floats:
        """Return the probability of each bot to be the strongest one.

        It is at most the least probability that the bot is stronger than another one.
        """
        if self.duel:
            return self.likely[:, ::-1].diagonal().copy()
        most = (self.likely + np.eye(self.bots)).min(axis=1, initial=1.0)
        return np.round(limit(self.posterior.first(), most), _CHANCE)

    @cached_property
    @one_thread()
    def posterior(self) -> Posterior:
        """The posterior of the strengths."""
        return Posterior(self.fit.strengths, self.seen, np.eye(self.bots) - self.fit.model.means())

    @property
    def seen(self) -> list[tuple[float, Floats]]:
        """Possible covariances, with weights; extreme errors follow the likelihood ratio."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = self.leads / self.errors / self._roots
        size = np.nanmedian(np.where(abs(self.leads) > 2, ratio, 1.0), axis=1)
        covariances = self.fit.covariances
        return [(1 / len(covariances), np.outer(size, size) * one) for one in covariances]

    @cached_property
    @one_thread()
    def ends(self) -> Floats:
        """The simultaneous upper end of every lead (n, n); inf without a bound.

        The lower end is the negative upper end of the other bot's lead.
        """
        if self.duel:
            high = np.array([[0.0, self.duel.high], [-self.duel.low, 0.0]])
            if not self.apart.any():
                high = np.maximum(high, 0.0)
        else:
            high = self._fit_ends()
        return np.where(self.fit.reach.T | np.isnan(self.errors), high, np.inf)

    def _fit_ends(self) -> Floats:
        at_once = self.bounds_at_any_time(self._level) if self.looks else self._bounds[0]
        bound = np.broadcast_to(at_once, self.leads.shape)
        x, y = np.nonzero(np.isfinite(self.errors))
        high = self.leads.copy()
        high[x, y] += self._reach(self._contrasts(x, y), self.errors[x, y], bound[x, y])
        return high

    def _contrasts(self, x: Ints, y: Ints) -> Floats | None:
        """Return leads of x over y as contrasts of the strengths; None for many bots."""
        return np.eye(self.bots)[x] - np.eye(self.bots)[y] if self.bots <= _FEW else None

    def _reach(self, contrasts: Floats | None, errors: Floats, bounds: Floats) -> Floats:
        """Return how far differences of strengths can be above the fit, at bounds in errors.

        With the contrasts, which are the weights of strengths, the likelihood ratio is used.
        """
        move = bounds * errors
        if contrasts is None:
            return move
        slope, step, before = np.ones_like(move), np.zeros_like(move), np.zeros_like(move)
        for _ in range(_CORRECTIONS):
            missing = np.log(bounds / np.maximum(self._root_at(contrasts, errors, move), _LEAST))
            moved = step != 0
            slope[moved] = np.clip(((before - missing)[moved] / step[moved]), 0.3, 3.0)
            step, before = np.clip(missing / slope, -1.0, 1.0), missing  # secants, in logarithms
            move = move * np.exp(step)
        return np.asarray(move)

    @one_thread()
    def bounds_at_any_time(self, level: float) -> Floats:
        """Return, in errors, the bound that a lead (n, n) ever exceeds with probability `level`."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(boundary(1 / self.errors**2, level)).round(_DIGITS)

    @cached_property
    @one_thread()
    def _roots(self) -> Floats:
        """The signed distance of every lead from 0, in errors (n, n)."""
        roots = self.leads / self.errors
        x, y = np.nonzero(np.isfinite(self.errors) & (self.leads != 0))
        contrasts = self._contrasts(x, y)
        if contrasts is not None:
            found = self._root_at(contrasts, self.errors[x, y], -self.leads[x, y])
            roots[x, y] = np.sign(self.leads[x, y]) * found
        return np.round(roots, _DIGITS)

    def _root_at(self, contrasts: Floats, errors: Floats, moves: Floats) -> Floats:
        """Return the distance, in errors, of strengths whose differences move by `moves`.

        It is the signed root of the profile likelihood ratio, to first order, scaled to the full
        standard error.
        """
        model = self.fit.model
        ways = contrasts @ self._inverse
        curvature = np.maximum((ways * contrasts).sum(axis=1), _LEAST)
        ways *= (moves / curvature)[:, None]
        at = self.fit.strengths[model.first] - self.fit.strengths[model.second]
        to = ways[:, model.first] - ways[:, model.second]
        totals, games = model.factors * model.total, 2 * model.factors * model.pairs
        loss = -(to @ totals) - np.logaddexp(0, at) @ games
        to += at
        loss += np.log1p(np.exp(np.minimum(to, _MOST, out=to), out=to), out=to) @ games
        return np.asarray(np.sqrt(np.maximum(2 * loss * curvature, 0)) / errors)

    @cached_property
    @one_thread()
    def _inverse(self) -> Floats:
        return self.fit.model.inverse(self.fit.strengths)

    @cached_property
    def _points(self) -> Floats:
        """Random errors of all strengths (points, n), drawn from the full covariance."""
        covariances = self.fit.covariances
        count = (_POINTS if self.bots <= _FEW else _FEWER_POINTS) // len(covariances)
        means = self.fit.model.means()
        return np.concatenate([draw(count, one, means, self._order) for one in covariances])

    @cached_property
    def _order(self) -> Numbers:
        """The bots, the strongest first; of equal ones, the most precisely rated."""
        known = np.diag(self.fit.full_covariance).round(_DIGITS)
        return np.lexsort((known, -self._ranked))

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        """The bound of all leads, and that of the leads left after the step-down test."""
        return self._step_down(np.abs(self._roots))

    def _step_down(self, sizes: Floats) -> tuple[float, float]:
        """Return the first and the last bound of the step-down test of leads, in errors."""
        left = np.zeros(sizes.shape, dtype=bool)
        left[self.known] = True
        points = np.ascontiguousarray(self._points.T)  # by bot: half the time
        found: list[float] = []
        for _ in range(_STEPS if self.bots <= _FEW else _FEWER_STEPS):
            most = np.zeros(len(self._points))
            for bot in np.flatnonzero(left.any(axis=1)):
                others = np.flatnonzero(left[bot])
                gaps = np.abs(points[bot] - points[others]) / self.errors[bot, others, None]
                np.maximum(most, gaps.max(axis=0), out=most)
            found.append(round(self._widen(quantile(most, 1 - ALPHA)), _DIGITS))
            before, left = int(left.sum()), left & (sizes <= found[-1])
            if left.sum() == before or not left.any():
                break
        return found[0], found[-1]

    def times(self, bot: int, opponent: int, lead: float) -> float:
        """Return how many times as many games are needed to detect a lead of this size, or inf."""
        luck = float(self.fit.gap_errors[bot, opponent]) ** 2
        rest = max(0.0, float(self.errors[bot, opponent]) ** 2 - luck)

        def excess(growth: float) -> float:
            variance = max(rest + luck / math.exp(growth), _LEAST**2)
            return lead**2 - variance * self._bound_with(bot, opponent, variance) ** 2

        if excess(0.0) >= 0:
            return 1.0
        if excess(_MOST_GROWTH) <= 0:
            return math.inf
        return math.exp(find_root(excess, 0.0, _MOST_GROWTH, _CLOSE))

    def _bound_with(self, bot: int, opponent: int, variance: float) -> float:
        """Return the bound of a lead that has this variance."""
        if not self.looks:
            return Z95 if self.duel else self._bounds[-1]
        ends = sorted((self._ranked[bot], self._ranked[opponent]))
        between = (self._ranked > ends[0]) & (self._ranked < ends[1])
        level = self._level if between.any() else self._level_of_neighbours
        return math.sqrt(boundary(1 / variance, level))

    @one_thread()
    def ratings(self, scale: Scale) -> tuple[Floats, Floats, Floats]:
        """Return all strengths relative to the zero of the scale, with simultaneous ends.

        An end without a bound is infinite.
        """
        strengths = scale.move(self.fit.strengths)
        known, errors, contrasts = self._select_counted(scale)
        bounds = np.full(len(known), self.rating_bound(scale))
        ends = []
        for side, is_open in ((-1, scale.no_low), (1, scale.no_high)):
            end = strengths.copy()
            if self.duel:  # a part of the lead; with an anchor, the whole lead
                leads = self.ends if side > 0 else -self.ends.T
                end[known] = contrasts[range(len(known)), known] * leads[known, 1 - known]
            else:
                turned = side * contrasts if self.bots <= _FEW else None
                end[known] += side * self._reach(turned, errors, bounds)
            ends.append(np.where(is_open, side * np.inf, end))
        return strengths, ends[0], ends[1]

    def rating_bound(self, scale: Scale) -> float:
        """Return, in errors, the simultaneous 95 % bound of all ratings."""
        known, errors, contrasts = self._select_counted(scale)
        if not len(known):
            return 0.0
        most = (abs(self._points @ contrasts.T) / errors).max(axis=1)
        return self._widen(quantile(most, 1 - ALPHA))

    def _select_counted(self, scale: Scale) -> tuple[Ints, Floats, Floats]:
        """Return the bots with an error above 0 on a scale, their errors, and contrasts."""
        errors = scale.errors(self.fit.full_covariance)
        known = np.flatnonzero(errors > 0)
        return known, errors[known], (np.eye(self.bots) - scale.weights)[known]

    def _widen(self, bound: float) -> float:
        """Return a normal bound widened to Student's t, because variances are estimated.

        Source: Fisher 1925, the first term of the expansion in 1 / degrees of freedom.
        """
        model = self.fit.model
        ends = np.concatenate([model.first, model.second])
        pairs = np.bincount(ends, np.tile(model.played, 2), self.bots)
        freedom = 2 * float(pairs.min()) + _LENT
        return bound * (1 + (bound**2 + 1) / (4 * freedom))
