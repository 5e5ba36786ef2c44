"""Standings: what is known of the bots at a barrier, and what is not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from arena.statistics.apart import FieldOrder, pair_scores
from arena.statistics.intervals import Z95
from arena.statistics.model import Floats
from arena.statistics.ratings import ELO, Fit
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
        self.evidence = FieldOrder(self.fit, met)
        self._inverse = self.fit.model.inverse(self.fit.strengths)
        elos = (ELO * self.fit.strengths).round(1).tolist()
        self.order = sorted(range(len(self.labels)), key=lambda bot: (-elos[bot], self.labels[bot]))

    def doubtful(self) -> Iterator[tuple[int, int]]:
        """Yield every two neighbours that are not told apart, the upper one first."""
        for upper, lower in zip(self.order, self.order[1:], strict=False):
            if not self.evidence.is_apart(upper, lower):
                yield upper, lower

    def half_widths(self, *, luck: bool = False) -> Floats:
        """Return half the width of each bot's interval of 95 %, in Elo points.

        With `luck` it is the part of it that further pairs would narrow.
        """
        covariance = self.fit.covariance if luck else self.fit.full_covariance
        return np.asarray(ELO * Z95 * np.sqrt(np.clip(self._variances(covariance), 0, None)))

    def open_by_pairing(self, contrast: Floats) -> Floats:
        """Return what each pairing that was met adds to a difference's variance, times its pairs.

        It is that of games which do not depend on each other: few pairs do not tell by how much
        theirs vary.
        """
        model = self.fit.model
        moved = contrast @ self._inverse
        weights = model.weights(self.fit.strengths)
        squares = (moved[model.first] - moved[model.second]) ** 2
        return np.asarray(squares * weights * model.factors * (model.pairs - model.credit))

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

    def growth_of_one(self, bot: int, width: float) -> float | None:
        """Return how many times as many pairs would narrow a bot's interval to this half width.

        None if none would, because the rest of it is wider.
        """
        whole, luck = (float(self.half_widths(luck=only)[bot]) for only in (False, True))
        rest = width**2 - max(0.0, whole**2 - luck**2)
        return max(1.0, luck**2 / rest) if rest > 0 else None
