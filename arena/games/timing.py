"""Timing: how long a bot's decisions took, in little memory."""

from __future__ import annotations

import math
from collections import Counter

_STEPS = 16  # buckets for each doubling: 4 % wide


class Timing:
    """Counts decisions by their seconds.

    >>> timing = Timing()
    >>> for seconds in (0.5, 0.25, 0.75):
    ...     timing.add(seconds)
    >>> timing.decisions, timing.mean, timing.longest
    (3, 0.5, 0.75)
    """

    def __init__(self) -> None:
        self.decisions = 0
        self.total = 0.0
        self.longest = 0.0
        self._buckets: Counter[int] = Counter()

    def add(self, seconds: float) -> None:
        """Count one decision."""
        self.decisions += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)
        self._buckets[math.floor(math.log2(max(seconds, 1e-9)) * _STEPS)] += 1

    def merge(self, other: Timing) -> None:
        """Count the decisions that another Timing has counted."""
        self.decisions += other.decisions
        self.total += other.total
        self.longest = max(self.longest, other.longest)
        self._buckets += other._buckets

    @property
    def mean(self) -> float:
        """Seconds of a decision on average; 0 where there is none."""
        return self.total / self.decisions if self.decisions else 0.0

    def quantile(self, share: float) -> float:
        """Return the seconds that this share of the decisions did not exceed, within 4 %."""
        wanted = share * self.decisions
        counted = 0
        for bucket in sorted(self._buckets):
            counted += self._buckets[bucket]
            if counted >= wanted:
                return min(self.longest, math.exp2((bucket + 1) / _STEPS))
        return self.longest
