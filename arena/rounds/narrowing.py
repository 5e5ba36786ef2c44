"""Narrowing: which pairings say most about a difference, and so get the next pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from arena.rounds.standings import Standings
from arena.statistics.distributions import Floats, expit

_DIGITS = 9  # of a gain that count, so that its last bits do not decide


class Narrowing:
    """Gives pairs to pairings, always to the one whose pairs narrow a difference most.

    `single` is the covariance of the fit when those pairs will have been played, and `given`
    are the pairs of each pairing, which has `room` for so many. Source: the greedy form of an
    optimal design, Fedorov 1972.
    """

    def __init__(self, standings: Standings, room: Mapping[int, int]) -> None:
        self.single = standings.single.copy()
        self.room = dict(room)
        self.given: Counter[int] = Counter()
        self._standings = standings
        self._strengths = standings.fit.strengths

    def spend(self, contrast: Floats, pairings: Iterable[int], pairs: int, step: int) -> int:
        """Give so many pairs to some pairings, `step` at a time, and return how many had room."""
        pairings = [*pairings]
        left = pairs
        while left > 0:
            able = [pairing for pairing in pairings if self.room.get(pairing, 0) > 0]
            if not able:
                break
            best = max(able, key=lambda pairing: self._gain(contrast, pairing))
            share = min(step, left, self.room[best])
            self._give(best, share)
            left -= share
        return pairs - left

    def _gain(self, contrast: Floats, pairing: int) -> float:
        """Return the variance of a contrast that one pair takes away."""
        bot, opponent = self._standings.numbers[pairing]
        moved = self.single @ contrast
        gain = self._weight(pairing) * (moved[bot] - moved[opponent]) ** 2
        return float(f"{gain:.{_DIGITS}g}")

    def _give(self, pairing: int, pairs: int) -> None:
        """Take note of further pairs: a rank one change of the information."""
        bot, opponent = self._standings.numbers[pairing]
        column = self.single[:, bot] - self.single[:, opponent]
        weight = pairs * self._weight(pairing)
        lost = weight / (1 + weight * (column[bot] - column[opponent]))
        self.single -= lost * np.outer(column, column)
        self.room[pairing] -= pairs
        self.given[pairing] += pairs

    def _weight(self, pairing: int) -> float:
        """Return the information of one pair on its two bots' difference."""
        bot, opponent = self._standings.numbers[pairing]
        share = float(expit(self._strengths[bot] - self._strengths[opponent]))
        return 2 * share * (1 - share)
