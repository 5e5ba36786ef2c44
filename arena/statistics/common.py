"""Compare bots that have not met, by common opponents, or of two runs on one scale."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from arena.statistics.cycles import Field
from arena.statistics.difference import Difference
from arena.statistics.distributions import Floats, expit, normal_below, student_bound
from arena.statistics.intervals import Z95, Estimate, Estimates, Ints, Moments
from arena.statistics.ratings import ELO


class Against(NamedTuple):
    """The values of each bot against each opponent (bot, opponent, key), nan if they never met.

    `freedom` are the degrees of freedom of a variance, infinite if it is treated as known.
    """

    value: Floats
    variance: Floats
    freedom: Floats


class Compared(NamedTuple):
    """A bot compared with others, by key: its value, theirs, and theirs minus its own.

    `opponents` is the number of common opponents; without any the values are nan. The p-values are
    two-sided, against no difference.
    """

    opponents: Ints
    own: Floats
    other: Floats
    difference: Estimates
    p_value: Floats


def shares_against(moments: Moments, two: Ints, size: tuple[int, int]) -> Against:
    """Return the shares of some bots; `two` has the bot and the opponent of each group.

    `size` is the number of bots, the first ones, and the number of opponents.
    """
    moments, two = _choose_shown(moments, two, size)
    variance = moments.share_variances()
    value = np.where(moments.counts > 0, moments.shares().value, np.nan)
    return _spread_out(Against(value, variance, np.full_like(variance, np.inf)), two, size)


def means_against(moments: Moments, two: Ints, size: tuple[int, int]) -> Against:
    """Return the means of some bots, as `shares_against`."""
    moments, two = _choose_shown(moments, two, size)
    return _spread_out(Against(moments.means().value, *moments.mean_variances()), two, size)


def _choose_shown(moments: Moments, two: Ints, size: tuple[int, int]) -> tuple[Moments, Ints]:
    shown = two[:, 0] < size[0]
    return moments.choose(shown), two[shown]


def _spread_out(of_groups: Against, two: Ints, size: tuple[int, int]) -> Against:
    tables = []
    for part in of_groups:
        table = np.full((*size, part.shape[1]), np.nan)
        table[two[:, 0], two[:, 1]] = part
        tables.append(table)
    return Against(*tables)


def join(*parts: Against) -> Against:
    """Return several concatenated along their keys."""
    return Against(*(np.concatenate(of, axis=2) for of in zip(*parts, strict=True)))


def compare(against: Against, bot: int, others: Ints) -> Compared:
    """Compare a bot with each of some others (others x keys), by their common opponents.

    No bot is an opponent of itself, so the games of the two against each other do not count.

    >>> moments = Moments(4, 1)
    >>> moments.add(np.array([0, 1, 2, 3]), np.array([[20] * 4]), np.array([[2, 5, 8, 14]]))
    >>> two = np.array([[0, 2], [0, 3], [1, 2], [1, 3]])
    >>> beside = compare(shares_against(moments, two, (2, 4)), 0, np.array([1]))
    >>> beside.difference.value.round(3).tolist(), beside.opponents.tolist()
    ([[0.375]], [[2]])
    """
    own, other = (Against(*(part[who] for part in against)) for who in ([bot], others))
    is_common = ~np.isnan(own.value + other.value)
    opponents = is_common.sum(axis=1)
    number = np.where(opponents, opponents, np.nan)

    def add(values: Floats) -> Floats:
        return np.asarray(np.where(is_common, values, 0.0).sum(axis=1))

    one, two = (add(side.value) / number for side in (own, other))
    variance = add(own.variance + other.variance)
    less_free = add(own.variance**2 / own.freedom + other.variance**2 / other.freedom)
    some = less_free > 0
    freedom = np.divide(variance**2, less_free, where=some, out=np.full_like(variance, np.inf))
    bound = np.where(some, student_bound(np.where(some, np.maximum(freedom, 1), 1)), Z95)
    error = np.sqrt(variance) / number
    ends = (two - one + side * bound * error for side in (-1, 1))
    p_value = find_p_values(two - one, error, freedom)
    return Compared(opponents, one, two, Estimates(two - one, *ends), p_value)


def find_p_values(values: Floats, errors: Floats, freedom: Floats) -> Floats:
    """Return the two-sided p-values of numbers against 0; nan for numbers without an error.

    The tails of Student's t are approximated by the normal distribution. Source: Wallace 1959.

    >>> find_p_values(np.array([1.96, 3.182]), np.ones(2), np.array([np.inf, 3])).round(2).tolist()
    [0.05, 0.05]
    """
    known = errors > 0
    scaled = np.divide(values, errors, where=known, out=np.full_like(values, np.nan))
    few = np.where(np.isfinite(freedom), freedom, 1.0)
    drawn = np.sqrt(few * np.log1p(scaled**2 / few)) * (8 * few + 1) / (8 * few + 3)
    return 2 * normal_below(-np.where(np.isfinite(freedom), drawn, np.abs(scaled)))


def subtract(one: Estimates, other: Estimates, direct: Floats) -> tuple[Estimates, Floats]:
    """Return the differences of other bots' numbers from one bot's, and their p-values.

    `direct` is the share of the two bots' pairs that they played against each other. There one
    number may rise as the other falls, so half the width is that of independent numbers plus the
    most that the covariance of these pairs can add (Cauchy-Schwarz inequality).

    >>> sides = [Estimates(*np.array([[one], [one - 1], [one + 1]])) for one in (1.0, 3.0)]
    >>> [[round(end.item(), 2) for end in subtract(*sides, np.array([part]))[0]] for part in (0, 1)]
    [[2.0, 0.59, 3.41], [2.0, 0.0, 4.0]]
    """
    first, second = ((side.high - side.low) / 2 for side in (one, other))
    half = np.sqrt(first**2 + second**2 + 2 * direct * first * second)
    value = other.value - one.value
    p_value = find_p_values(value, half / Z95, np.full_like(half, np.inf))
    return Estimates(value, value - half, value + half), p_value


class Shared(NamedTuple):
    """The scores of two runs in the pairs on the same deals, of one pairing.

    The numbers are those of the pairing's bots in the field of each run, and the scores, 0 to 2,
    are those of its first bot: how many pairs, the sums of both, and of their products.
    """

    base: tuple[int, int]
    other: tuple[int, int]
    pairs: int
    base_total: float
    other_total: float
    products: float


class CommonScale:
    """The ratings of two runs on one scale, that of the first run, the base.

    A rating is a bot's difference to the mean of the bots that are the same in both runs, which
    is the same number in both. `same` are the labels of these bots in the base and in the other
    run; of bots that no chain of games connects only the largest group counts. `same` is empty
    where there is no such scale. Bots that a run leaves out of its own mean are left out of this.
    """

    def __init__(
        self,
        base: Field,
        other: Field,
        same: Sequence[tuple[str, str]],
        shared: Iterable[Shared] = (),
    ) -> None:
        self.same = _find_connected(base, other, same)
        if not self.same:
            return
        self.zero = _well_known(base, other, self.same)
        labels = zip(*self.zero, strict=True)
        self._base, self._other = (
            _Side(field, [*common]) for field, common in zip((base, other), labels, strict=True)
        )
        elo = base.ratings
        self._mean = math.fsum(elo[label].value for label, _ in self.zero) / len(self.zero)
        self._between = _covariance(base, other, shared)

    def base_elo(self, label: str) -> float | None:
        """Return the Elo of a bot in the base, None where the scale does not reach it."""
        return self._elo(self._base, label) if self.same else None

    def other_elo(self, label: str) -> float | None:
        """Return the Elo that a bot of the other run has on the scale of the base."""
        return self._elo(self._other, label) if self.same else None

    def change(self, label: str, other: str) -> Difference | None:
        """Return how much stronger a bot of the other run is than one of the base.

        The covariance of the two fits is that of the pairs on the same deals. It is None where
        the scale does not reach both, for the only bot that is the same, which has no error, and
        where one of them is unbeaten or winless.
        Source: Liang and Zeger 1986.
        """
        elo = self.base_elo(label), self.other_elo(other)
        if elo[0] is None or elo[1] is None or self.zero == [(label, other)]:
            return None
        if not (self._base.is_bounded(label) and self._other.is_bounded(other)):
            return None
        one, two = self._base.contrast(label), self._other.contrast(other)
        variance = float(one @ self._base.field.fit.full_covariance @ one)
        variance += float(two @ self._other.field.fit.full_covariance @ two)
        variance -= 2 * float(one @ self._between @ two)
        error = ELO * math.sqrt(max(0.0, variance))
        change = elo[1] - elo[0]
        interval = change - Z95 * error, change + Z95 * error
        return Difference(elo[0], elo[1], Estimate(change, *interval, error))

    def _elo(self, side: _Side, label: str) -> float | None:
        number = side.field.numbers.get(label)
        if number is None or side.field.fit.groups[number] != side.group:
            return None  # no games connect it with the bots of the scale
        return self._mean + ELO * float(side.contrast(label) @ side.field.fit.strengths)


class _Side:
    """The field of one run, and the bots whose mean is the zero of the scale."""

    def __init__(self, field: Field, common: Sequence[str]) -> None:
        self.field = field
        self.common = [field.numbers[label] for label in common]
        self.group = field.fit.groups[self.common[0]]

    def is_bounded(self, label: str) -> bool:
        """Return whether a bot's interval has two ends."""
        scale, number = self.field.fit.scale(), self.field.numbers[label]
        return not (scale.no_low[number] or scale.no_high[number])

    def contrast(self, label: str) -> Floats:
        """Return the weights of the strengths in the difference of a bot to the mean."""
        every = np.eye(len(self.field.labels))
        return np.asarray(every[self.field.numbers[label]] - every[self.common].mean(axis=0))


def _find_connected(
    base: Field, other: Field, same: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the bots that are rated in both runs, and connected by games in both; the most."""
    groups: dict[tuple[int, int], list[tuple[str, str]]] = defaultdict(list)
    for one, two in same:
        if one in base.numbers and two in other.numbers:
            group = base.fit.groups[base.numbers[one]], other.fit.groups[other.numbers[two]]
            groups[group].append((one, two))
    return max(groups.values(), key=len, default=[])


def _well_known(
    base: Field, other: Field, same: Sequence[tuple[str, str]]
) -> Sequence[tuple[str, str]]:
    """Return the bots that count for the mean of both runs, all of them if none does."""
    in_base, in_other = (np.diag(field.fit.scale().weights) > 0 for field in (base, other))
    known = (in_base[base.numbers[one]] and in_other[other.numbers[two]] for one, two in same)
    return [*compress(same, known)] or same


def _covariance(base: Field, other: Field, shared: Iterable[Shared]) -> Floats:
    """Return the covariance of the strengths of two runs: pairs on the same deals go together."""
    one, two = base.fit, other.fit
    middle = np.zeros((len(base.labels), len(other.labels)))
    factors = one.model.pair_factors(), two.model.pair_factors()
    for deals in shared:
        expected = [
            2 * float(expit(fit.strengths[bots[0]] - fit.strengths[bots[1]]))
            for fit, bots in ((one, deals.base), (two, deals.other))
        ]
        product = deals.products + deals.pairs * expected[0] * expected[1]
        product -= expected[1] * deals.base_total + expected[0] * deals.other_total
        product *= factors[0][deals.base] * factors[1][deals.other]
        middle[np.ix_(deals.base, deals.other)] += product * np.outer((1, -1), (1, -1))
    left, right = one.model.inverse(one.strengths), two.model.inverse(two.strengths)
    return np.asarray(left @ middle @ right.T)
