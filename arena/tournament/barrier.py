"""Fit the ratings between two rounds, and share out the pairs of the next one.

`Standings` says which neighbours are not told apart and how wide the intervals are; `Narrowing`
gives pairs to the pairings that say most about a difference.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from arena.statistics.apart import pair_scores
from arena.statistics.model import Floats
from arena.statistics.ratings import ELO, Fit
from arena.statistics.verdicts import Verdicts
from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing


class Standings:
    """The bots that still play, as numbers from 0, and the pairs that they have played.

    `order` is that of their Elo, the strongest first, and `numbers` are the two bots of each
    pairing that can go on. The games of bots that are `out` do not count. `met` are the pairings
    that have pairs, in the order of the fit, in which every pairing weighs the same.
    `anchor` is the number of the bot from which the Elo is counted, None if that is the mean.
    """

    def __init__(
        self,
        pairings: Sequence[Pairing],
        counts: Mapping[int, Counts],
        out: Collection[str],
        anchor: str | None = None,
    ) -> None:
        every = dict.fromkeys(label for pairing in pairings for label in pairing)
        self.labels = [label for label in every if label not in out]
        places = {label: place for place, label in enumerate(self.labels)}
        self.anchor = places.get(anchor or "")
        self.numbers = {
            number: (places[bot], places[opponent])
            for number, (bot, opponent) in enumerate(pairings)
            if bot in places and opponent in places
        }
        self.played = {number: sum(counts.get(number, ())) for number in self.numbers}
        met = {two: counts[number] for number, two in self.numbers.items() if self.played[number]}
        self.met = [number for number in self.numbers if self.played[number]]
        scores = [pair_scores(*two, by_score) for two, by_score in met.items()]
        self.fit = Fit(len(self.labels), scores, even=True)
        self.scale = self.fit.scale(self.anchor)
        self.verdicts = Verdicts(self.fit, met, looks=True)
        self._inverse = self.fit.model.inverse(self.fit.strengths)
        elos = (ELO * self.fit.strengths).round(1).tolist()
        self.order = sorted(range(len(self.labels)), key=lambda bot: (-elos[bot], self.labels[bot]))

    def doubtful(self) -> Iterator[tuple[int, int]]:
        """Yield every two neighbours that are not told apart, the upper one first."""
        for upper, lower in zip(self.order, self.order[1:], strict=False):
            if not self.verdicts.apart[upper, lower]:
                yield upper, lower

    def growth(self, upper: int, lower: int, *, hope: float = 0.0) -> float | None:
        """Return how many times as many pairs would tell two bots apart, all of them in all.

        It supposes that the lead stays what it seems to be, or so many errors more as there is
        `hope`. None if no number of pairs tells, or no games lead from one to the other.
        """
        error = float(self.fit.gap_errors[upper, lower])
        lead = float(self.verdicts.leads[upper, lower]) + hope * error
        times = self.verdicts.times(upper, lower, lead) if lead > 0 else math.inf
        return None if math.isnan(error) or math.isinf(times) else times

    def half_widths(self, *, luck: bool = False) -> Floats:
        """Return half the width of each bot's interval, in Elo points; all hold at once.

        With `luck` it is the part of it that further pairs would narrow.
        """
        covariance = self.fit.covariance if luck else self.fit.full_covariance
        bound = ELO * self.verdicts.rating_bound(self.scale)
        return bound * self.scale.errors(covariance)

    def open_by_pairing(self, contrast: Floats) -> Floats:
        """Return what each pairing that was met adds to a difference's variance, times its pairs.

        It is that of games which do not depend on each other: few pairs do not tell by how much
        theirs vary.
        """
        model = self.fit.model
        moved = contrast @ self._inverse
        weights = model.weights(self.fit.strengths)
        squares = (moved[model.first] - moved[model.second]) ** 2
        return np.asarray(squares * weights * model.factors * model.played)

    def contrast(self, bot: int, opponent: int | None = None) -> Floats:
        """Return the weights of the strengths in one bot's lead over another, or over the mean."""
        weights = np.zeros(len(self.labels))
        if opponent is None:
            weights -= self.scale.weights[bot]
        else:
            weights[opponent] = -1.0
        weights[bot] += 1.0
        return weights

    def pairings_of(self, *bots: int) -> list[int]:
        """Return the pairings of any of these bots, in the order of the schedule."""
        return [number for number, two in self.numbers.items() if not {*bots}.isdisjoint(two)]

    def growth_of_one(self, bot: int, width: float) -> float | None:
        """Return how many times as many pairs would narrow a bot's interval to this half width.

        None if none would, because the rest of it is wider.
        """
        whole, luck = (float(self.half_widths(luck=only)[bot]) for only in (False, True))
        rest = width**2 - max(0.0, whole**2 - luck**2)
        return max(1.0, luck**2 / rest) if rest > 0 else None


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
