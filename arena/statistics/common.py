"""Put the ratings of two runs on one scale."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from arena.statistics.cycles import Field
from arena.statistics.difference import Difference
from arena.statistics.distributions import Floats, expit
from arena.statistics.intervals import Z95, Estimate
from arena.statistics.ratings import ELO


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
