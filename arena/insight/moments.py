"""Moments: sums over pairs, from which a mean and its interval follow.

The pair is the statistical unit: the two games of a pair share their luck. A mean is a ratio
of two sums over pairs, and its error comes from how the pairs differ (Cochran 1977, chapter
6). All sums are of whole numbers, so that the order of the games changes no bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arena.batch.run_games import Ints
from arena.statistics.distributions import student_bound
from arena.statistics.ratings import Z95

Floats = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """Means with their 95 % intervals; NaN where nothing can be said."""

    mean: Floats
    low: Floats
    high: Floats


class Moments:
    """Sums of a count and of a total over pairs, for each group and each key.

    `scale` is how many units of the total make one: 2 where a draw is half a win.
    """

    def __init__(self, groups: int, keys: int, scale: int = 1) -> None:
        self.sums = np.zeros((6, groups, keys), np.int64)
        self.scale = scale

    @classmethod
    def independent(cls, counts: Ints, totals: Ints, squares: Ints, scale: int = 1) -> Moments:
        """Return the moments of games of different pairs, one key for each group."""
        moments = cls(len(counts), 1, scale)
        parts = (counts, counts, totals, counts, totals, squares)
        moments.sums[:, :, 0] = np.stack(parts)
        return moments

    def add(self, groups: Ints, counts: Ints, totals: Ints) -> None:
        """Add pairs: the group of each, and its counts and totals by key (pairs x keys)."""
        if not len(groups):
            return
        order = np.argsort(groups, kind="stable")
        found, starts = np.unique(groups[order], return_index=True)
        n, y = counts[order], totals[order]
        for index, part in enumerate(((n > 0) * 1, n, y, n * n, n * y, y * y)):
            self.sums[index][found] += np.add.reduceat(part, starts, axis=0)

    @property
    def counts(self) -> Ints:
        """The sums of the counts."""
        counts: Ints = self.sums[1]
        return counts

    @property
    def totals(self) -> Ints:
        """The sums of the totals, in units."""
        totals: Ints = self.sums[2]
        return totals

    def means(self) -> Interval:
        """Return the means, with an interval from as few as two pairs (Student's t)."""
        pairs, count, mean, between = self._between()
        few = pairs < 2
        spread = np.divide(pairs * between, pairs - 1, where=~few, out=np.full_like(mean, np.nan))
        half = np.where(few, np.nan, student_bound(np.maximum(pairs - 1, 1)))
        half = half * np.sqrt(spread) / np.maximum(count, 1)
        return Interval(mean, mean - half, mean + half)

    def shares(self) -> Interval:
        """Return shares from 0 to 1, with Wilson's interval at the error between pairs.

        One more pair of full variance is added, so that few pairs cannot look certain, as in
        `arena.statistics.ratings.score_interval`. Where pairs do not differ, because nobody or
        everybody did it, games count as independent.
        """
        pairs, count, mean, between = self._between()
        some = np.maximum(count, 1)
        each = some / np.maximum(pairs, 1)  # counted in a pair
        prior = (mean * count + each / 2) / (count + each)
        full = prior * (1 - prior)
        more = full * self.sums[3] / np.maximum(pairs, 1)
        known = count > 0
        seen = full * some**2 / np.where(known, between + more, 1.0)
        alike = np.where(known, some * mean * (1 - mean) + full * each, 1.0)
        seen = np.minimum(seen, some * alike / np.where(known, between + full * each, 1.0))
        seen = np.where(known, seen, 1.0)
        centre = (mean + Z95**2 / (2 * seen)) / (1 + Z95**2 / seen)
        half = Z95 * np.sqrt(np.maximum(0, mean * (1 - mean)) / seen + (Z95 / (2 * seen)) ** 2)
        half /= 1 + Z95**2 / seen
        return Interval(mean, np.maximum(0, centre - half), np.minimum(1, centre + half))

    def _between(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return pairs, counts, means and the squared deviations of pairs from their mean."""
        pairs, n, y, nn, ny, yy = self.sums.astype(float)
        y, ny, yy = y / self.scale, ny / self.scale, yy / self.scale**2
        mean = np.divide(y, n, where=n > 0, out=np.full_like(y, np.nan))
        return pairs, n, mean, np.maximum(0, yy - 2 * mean * ny + mean**2 * nn)
