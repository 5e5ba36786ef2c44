"""Fields: bots of known strength, and rounds of a run between them, without any game."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from arena.statistics.distributions import expit
from arena.statistics.ratings import ELO
from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing, PairRange

_BLOCK = 512  # pairs that are drawn at once


class Rounds(Protocol):
    """What decides which pairs are played next."""

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str]
    ) -> list[PairRange]: ...


EFFECT = 0.88
"""The variance of a pair's score over that of two independent games, as the ladder's pairs have."""


def score_shares(share: float) -> list[float]:
    """Return how likely the five scores of a pair are for a bot with this share of the points.

    As in the games of the ladder, none is drawn, and two on the same deal are even more often than
    two that do not depend on each other.

    >>> [round(one, 4) for one in score_shares(0.5)]
    [0.22, 0.0, 0.56, 0.0, 0.22]
    """
    ahead = 2 * share - 1
    off = max(abs(ahead), EFFECT * 2 * share * (1 - share) + ahead**2)
    return [(off - ahead) / 2, 0.0, 1 - off, 0.0, (off + ahead) / 2]


class Simulated:
    """A field of bots with these Elo ratings; a pair has the same score whenever it is played.

    As in a run, the scores of a pairing depend on the seed and the two labels only. Where there is
    a `beyond`, the first bot of a pairing leads by so much more than its Elo says.
    """

    def __init__(
        self,
        elos: Mapping[str, float],
        *seed: int,
        beyond: Mapping[Pairing, float] | None = None,
    ) -> None:
        self.elos = elos
        self.beyond = beyond or {}
        self.seed = seed
        self._scores: dict[Pairing, npt.NDArray[np.int64]] = {}
        self._random: dict[Pairing, np.random.Generator] = {}

    def lead(self, pairing: Pairing) -> float:
        """Return the Elo points by which the first bot leads against the second one."""
        lead = self.elos[pairing.bot] - self.elos[pairing.opponent]
        return lead + self.beyond.get(pairing, 0.0)

    def play(self, pairing: Pairing, pairs: int) -> Counts:
        """Return the five counts of the first pairs of two bots."""
        if pairing not in self._scores:
            path = [ord(letter) for letter in "/".join(pairing)]
            self._random[pairing] = np.random.default_rng([*self.seed, *path])
            self._scores[pairing] = np.empty(0, dtype=np.int64)
        while len(self._scores[pairing]) < pairs:
            lead = self.lead(pairing)
            shares = score_shares(float(expit(lead / ELO)))
            more = self._random[pairing].choice(5, _BLOCK, p=shares)
            self._scores[pairing] = np.append(self._scores[pairing], more)
        first, second, third, fourth, fifth = np.bincount(
            self._scores[pairing][:pairs], minlength=5
        ).tolist()
        return first, second, third, fourth, fifth

    def rounds(self, rounds: Rounds, pairings: Sequence[Pairing]) -> Iterator[dict[int, Counts]]:
        """Yield all pairs by pairing after each round of a run."""
        counts: dict[int, Counts] = {}
        number = 0
        while ranges := rounds.next(number, counts, ()):
            for pairing, _, end in ranges:
                counts[pairing] = self.play(pairings[pairing], end)
            yield dict(counts)
            number += 1
