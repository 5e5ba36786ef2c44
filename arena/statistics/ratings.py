"""Rate bots by a Bradley-Terry fit: Elo ratings, with intervals from pairs of games.

The pair (one deal played twice, seats swapped) is the statistical unit: its two games are not
independent. Every bot is credited with half a pair more, spread evenly over its opponents and half
won, half lost, in the fit and in its error. So an undefeated bot has a finite rating, and a few
equal pairs do not have an error of 0.

The mean rating is 1500. For a bot that wins every game the likelihood has no maximum: it is
stronger than the others by an unknown amount. So it is left out of the mean, and its interval has
no upper end. The same holds for a bot that loses every game, and for a set of bots that never
scored against the others. A bot that loses one game of a thousand has a finite rating, but its
large error would enter the mean, and so the rating of every other bot: it is left out, too
(bench/STUDIES.md). Sources: Zermelo 1929; Ford 1957, for when ratings are finite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from arena.statistics import bradley_terry as bt
from arena.statistics.bradley_terry import Flags, Floats, Model, Spread
from arena.statistics.bradley_terry import PairScores as PairScores
from arena.statistics.distributions import ELO as ELO
from arena.statistics.distributions import expit, find_root
from arena.statistics.intervals import Z95, Estimate
from arena.threads import one_thread

MEAN = 1500.0
_MOST_STRENGTH = 30.0  # the largest distance from the mean, in log odds
_NEAR = 1e-12
_GRID = np.geomspace(1.0, 400.0, 40) - 1.0  # Elo points by which one bot's pairings may deviate


class Fit:
    """The maximum-likelihood strengths of some bots, in log odds, and their covariance.

    Bots that no chain of games connects are in different groups; the mean of each group is 0.

    With `even` every pairing weighs the same, however many pairs it has, so that the strengths are
    those of an equal round robin even if pairings deviate from the Elo. If pairings weigh
    otherwise, or not all bots met, the spread of the results about the Elo is a part of the error
    (`spread`). With a `known_spread`, in Elo points, a pairing weighs by its information about the
    bots, which hardly grows from hundreds of pairs to thousands. The scores of pairings vary by the
    factors `growth` more than those of independent pairs.
    """

    @one_thread()
    def __init__(
        self,
        bots: int,
        scores: Sequence[PairScores],
        *,
        even: bool = False,
        known_spread: float | None = None,
        growth: Floats | float = 1.0,
    ) -> None:
        credit = bt.share_credit(bots, scores)
        self.scores, self.known_spread = scores, known_spread
        self.model = Model(bots, scores, credit, even_factors(scores) if even else None, growth)
        self.strengths: Floats = self.model.fit()
        if known_spread is not None and scores:
            factors = bt.spread_factors(self.model, self.strengths, known_spread)
            self.model = Model(bots, scores, credit, factors, growth)
            self.strengths = self.model.fit(self.strengths)
        self.groups = self.model.groups

    @cached_property
    @one_thread()
    def covariance(self) -> Floats:
        """The covariance of the strengths by the luck of pairs, about the mean of each group."""
        return self.model.covariance(self.strengths)

    @cached_property
    @one_thread()
    def spread(self) -> Spread:
        """The standard deviation of pairings about the expected scores, beyond luck."""
        return bt.estimate_spread(self.model, self.strengths)

    @cached_property
    def full_covariance(self) -> Floats:
        """The covariance by luck, plus that of the difference to an equal round robin."""
        return np.asarray(np.mean(self.covariances, axis=0))

    @cached_property
    @one_thread()
    def covariances(self) -> list[Floats]:
        """Equally likely full covariances, as the spread is uncertain."""
        if bt.is_equal(self.model):
            return [self.covariance]
        known = self.known_spread
        variances = self.spread.thirds if known is None else [(known / ELO) ** 2]
        lack = bt.unequal_part(self.model, self.strengths)
        return [self.covariance + variance * lack for variance in variances]

    @cached_property
    def gap_errors(self) -> Floats:
        """The standard error by luck of the gap between every two bots, nan between groups."""
        return bt.gap_errors(self.covariance, self.groups)

    @cached_property
    def full_errors(self) -> Floats:
        """The standard errors of the gaps by the full covariance."""
        return bt.gap_errors(self.full_covariance, self.groups)

    @cached_property
    def scored(self) -> Flags:
        """Whether the bot of a row has scored against that of a column (n, n)."""
        scored = np.zeros((len(self.strengths),) * 2, dtype=bool)
        for bot, opponent, pairs, total, _ in self.scores:
            scored[bot, opponent], scored[opponent, bot] = total > 0, total < 2 * pairs
        return scored

    @cached_property
    def reach(self) -> Flags:
        """The reflexive transitive closure of `scored`."""
        return bt.find_reach(self.scored)

    def scale(self, anchors: Mapping[int, float] = MappingProxyType({})) -> Scale:
        """Return the zero of the ratings of each group.

        It is the mean of the largest strongly connected component of the graph of wins: a set of
        bots of which each has scored against each other, directly or through others. If several
        components are largest, it is the mean of the whole group, and in a group with `anchors` it
        is their weighted mean (`anchors` has weights by bot). A bot whose gaps have three times the
        error of those of most bots is left out of the mean.
        """
        bots = len(self.strengths)
        parts = self.reach & self.reach.T
        sizes = parts.sum(axis=1)
        weights = np.zeros((bots, bots))
        no_high, no_low = np.zeros((2, bots), dtype=bool)
        for group in range(int(self.groups.max(initial=-1)) + 1):
            own = self.groups == group
            part = own & (sizes == sizes[own].max())
            is_one = part.sum() == sizes[part][0]
            zero = 1.0 * _well_known(part if is_one else own, self.gap_errors)
            if held := [bot for bot in anchors if own[bot]]:
                part, is_one, zero = parts[held].any(axis=0), True, np.zeros(bots)
                zero[held] = [anchors[bot] for bot in held]
            weights[own] = zero / zero.sum()
            for lacks, reach in ((no_high, self.reach), (no_low, self.reach.T)):
                beyond = ~reach[part].any(axis=0) if is_one else reach.sum(axis=0) == sizes
                lacks |= own & beyond & (sizes < own.sum())
        return Scale(weights, no_high, no_low)


def even_factors(scores: Sequence[PairScores]) -> Floats:
    """Return the weight of a pair of each pairing with which all pairings weigh the same.

    >>> even_factors([PairScores(0, 1, 30, 30.0, 45.0), PairScores(0, 2, 10, 9.0, 15.0)]).tolist()
    [0.6666666666666666, 2.0]
    """
    pairs = np.array([score.pairs for score in scores], dtype=float)
    return np.asarray(pairs.mean() / pairs) if len(pairs) else pairs


def fit_one(anchors: Sequence[float], scores: Sequence[PairScores]) -> Estimate:
    """Return the rating of one bot by its games against others, whose ratings are fixed.

    `anchors` are the others' Elo ratings; in `scores` the bot comes first, and its number is
    `len(anchors)`. It is credited with one pair, spread evenly over the `scores`. The interval is
    for opponents like these: it includes the spread of the bot's own results about the Elo. The
    prior of that spread is Student's t with 2 degrees of freedom; its scale is the upper end of the
    ladder's spread.

    >>> round(fit_one([1405], [PairScores(1, 0, 999, 1499.0, 2500.0)]).value)
    1596
    """
    model = Model(len(anchors) + 1, scores, np.full(len(scores), 1 / max(1, len(scores))))
    strengths = (np.array([*anchors, MEAN]) - MEAN) / ELO
    others = strengths[model.second]

    def slope(strength: float) -> float:
        return float((2 * model.pairs * expit(strength - others) - model.total).sum())

    best = strengths[-1] = find_root(slope, -_MOST_STRENGTH, _MOST_STRENGTH, _NEAR)
    weights = model.weights(strengths)
    luck = float((model.effects(strengths) * weights).sum())
    gaps = (model.total - 2 * model.pairs * model.shares(strengths)) / weights
    beyond = _own_variance(gaps, luck / weights.sum() / weights) * (weights**2).sum()
    error = Z95 * math.sqrt(luck + beyond) / float(weights.sum())
    return Estimate(*(MEAN + ELO * (best + side * error) for side in (0, -1, 1)))


def _own_variance(gaps: Floats, luck: Floats) -> float:
    """Return the expected variance of one bot's pairings about its strength, beyond luck."""
    grid = _GRID / ELO
    logs = bt.weigh_variances(gaps, luck + grid[:, None] ** 2)
    logs -= 1.5 * np.log1p((_GRID / bt.LADDER_SPREAD.high) ** 2 / 2)
    likely = np.exp(logs - logs.max()) * np.gradient(_GRID)
    return float(likely @ grid**2 / likely.sum())


class Scale(NamedTuple):
    """The zero of the ratings of a fit.

    A row of `weights` has the weights of all strengths in the zero of a bot's scale. `no_high`
    marks the bots whose strength has no upper bound, and `no_low` those without a lower one.
    """

    weights: Floats
    no_high: Flags
    no_low: Flags

    def move(self, strengths: Floats) -> Floats:
        """Return the strengths relative to the zero of each bot's scale."""
        return np.asarray(strengths - self.weights @ strengths)

    def errors(self, covariance: Floats) -> Floats:
        """Return the standard error of each bot's strength relative to that zero."""
        moved = covariance - self.weights @ covariance
        return np.sqrt(np.clip(np.diag(moved - moved @ self.weights.T), 0, None))


_LEAST = 3  # bots, the fewest of which one can be left out
_FAR = 3.0  # a bot with more than this many times the typical error is left out of the mean


def _well_known(zero: Flags, errors: Floats) -> Flags:
    """Return the bots of `zero` without those whose gaps have far larger errors than most."""
    places = np.flatnonzero(zero)
    if len(places) < _LEAST:
        return zero
    gaps = np.sort(errors[np.ix_(places, places)])  # a bot's gap to itself, 0, comes first
    typical = gaps[:, len(places) // 2]
    known = zero.copy()
    known[places] = typical <= _FAR * np.sort(typical)[(len(places) - 1) // 2]
    return known
