"""Narrowing: which pairings say most about a difference, and so get the next pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from arena.statistics.distributions import Floats
from arena.tournament.barrier import Standings

_DIGITS = 6  # of a number of pairs, so that its last bits do not decide
_BISECTIONS = 100
_MOST = 1e9  # pairs


class Narrowing:
    """Gives pairs to pairings so that the variance of a difference falls with the fewest of them.

    Every pairing weighs the same in a difference, so each adds to its variance what its own pairs
    leave open: a number of its own over its pairs. The fewest pairs go in proportion to the roots
    of these numbers. `given` are the pairs of each pairing, which has `room` for so many. Source:
    Neyman 1934 for the allocation.
    """

    def __init__(self, standings: Standings, room: Mapping[int, int]) -> None:
        self.given: Counter[int] = Counter()
        self._standings = standings
        self._numbers = [*standings.met]  # pairings, in the order of the fit
        self._pairs = np.array([standings.played[n] for n in self._numbers], dtype=float)
        self._room = np.array([max(0, room.get(n, 0)) for n in self._numbers], dtype=float)

    def narrow(
        self, contrast: Floats, pairings: Iterable[int], growth: float, least: int = 1
    ) -> int:
        """Give pairs as if all had grown so many times, and return how many they are.

        What earlier calls gave counts. A pairing at most gets half of what the largest of these
        pairings has, or `least`.
        """
        chosen = np.isin(self._numbers, [*pairings])
        if not chosen.any():
            return 0
        most = max(float(least), float(self._pairs[chosen].max()) // 2)
        room = np.where(chosen, np.minimum(self._room, most), 0.0)
        wanted = self._wanted(contrast, growth, room)
        for number, more in zip(self._numbers, wanted.tolist(), strict=True):
            if more:
                self.given[number] += int(more)
        return int(wanted.sum())

    def count_wanted(self, contrast: Floats, pairings: Iterable[int], growth: float) -> int:
        """Return how many pairs would be given if there were room for any number."""
        chosen = np.isin(self._numbers, [*pairings])
        return int(self._wanted(contrast, growth, np.where(chosen, np.inf, 0.0)).sum())

    def _wanted(self, contrast: Floats, growth: float, room: Floats) -> Floats:
        """Return the further pairs of each pairing, by which the variance is so many times less."""
        cost = self._standings.open_by_pairing(contrast)
        given = np.array([self.given[number] for number in self._numbers], dtype=float)
        now = self._pairs + given
        most = np.maximum(now, self._pairs + np.maximum(room, given))
        target = float(np.sum(cost / self._pairs)) / growth
        roots = np.sqrt(cost)
        if float(np.sum(cost / now)) <= target:
            return np.zeros(len(now))
        low, high = 0.0, _MOST / max(float(roots.max()), 1e-300)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            reached = float(np.sum(cost / np.clip(middle * roots, now, most))) <= target
            low, high = (low, middle) if reached else (middle, high)
        ends = np.ceil(np.round(np.clip(high * roots, now, most), _DIGITS))
        return np.asarray(ends - now)
