"""Standings: what is known of the bots at a barrier, and what is not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from arena.rounds.base import Counts
from arena.statistics.apart import Evidence, pair_scores
from arena.statistics.model import Floats
from arena.statistics.ratings import ELO, Z95, Fit
from arena.tournament.schedule import Pairing


class Standings:
    """The bots that still play, as numbers from 0, and the pairs that they have played.

    `order` is that of their Elo, the strongest first, and `numbers` are the two bots of each
    pairing that can go on. The games of bots that are `out` do not count. `single` is the
    covariance that the fit would have if the two games of a pair did not depend on each other.
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
        scores = [pair_scores(*two, by_score) for two, by_score in met.items()]
        self.fit = Fit(len(self.labels), scores)
        self.scale = self.fit.scale(self.anchor)
        self.evidence = Evidence(self.fit, met)
        self.single = self.fit.model.inverse(self.fit.strengths)
        elos = (ELO * self.fit.strengths).round(1).tolist()
        self.order = sorted(range(len(self.labels)), key=lambda bot: (-elos[bot], self.labels[bot]))
        self._by_two = {frozenset(two): number for number, two in self.numbers.items()}

    def doubtful(self) -> Iterator[tuple[int, int]]:
        """Yield every two neighbours that are not told apart, the upper one first."""
        for upper, lower in zip(self.order, self.order[1:], strict=False):
            if not self.evidence.is_apart(upper, lower):
                yield upper, lower

    def half_widths(self, single: Floats) -> Floats:
        """Return half the width of each bot's interval of 95 %, in Elo points.

        `single` is the covariance now, or when further pairs will have been played.
        """
        now = self._variances(self.single)
        effect = self._variances(self.fit.covariance) / np.where(now > 0, now, 1.0)
        squares = np.clip(effect * self._variances(single), 0, None)
        return np.asarray(ELO * Z95 * np.sqrt(squares))

    def _variances(self, covariance: Floats) -> Floats:
        """Return the variance of each bot's lead over the anchor, or over the mean."""
        return self.scale.variances(covariance)

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

    def pairing_of(self, bot: int, opponent: int) -> int | None:
        """Return the pairing of two bots, None where they do not meet."""
        return self._by_two.get(frozenset((bot, opponent)))

    def further_pairs(self, upper: int, lower: int) -> int | None:
        """Return about how many further pairs would tell two bots apart, None if any number."""
        meet = self.pairing_of(upper, lower) is not None
        return self.evidence.further_pairs(upper, lower, meet=meet)

    def further_of_one(self, bot: int, width: float) -> int:
        """Return about how many further pairs would narrow a bot's interval to this half width."""
        played = sum(self.played[number] for number in self.pairings_of(bot))
        now = float(self.half_widths(self.single)[bot])
        return round(played * max(0.0, (now / width) ** 2 - 1)) or 1
