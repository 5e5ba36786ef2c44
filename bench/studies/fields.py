"""Fields: bots of known strength, and rounds of a run between them, without any game."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from scipy.special import expit

from arena.statistics.ratings import ELO
from arena.statistics.sequences import Counts
from arena.tournament.leg import Leg
from arena.tournament.schedule import Pairing

NO_PAIRS: Counts = (0, 0, 0, 0, 0)


class Rounds(Protocol):
    """What decides which pairs are played next."""

    def next(self, number: int, counts: Mapping[int, Counts], out: Sequence[str]) -> list[Leg]: ...


def score_shares(share: float) -> list[float]:
    """Return how likely the five scores of a pair are for a bot with this share of the points.

    One half of the pairs are two games that do not depend on each other and have no draw; in the
    others the deal decides more, and draws occur, as if a pair had four half games.

    >>> score_shares(0.5)
    [0.15625, 0.125, 0.4375, 0.125, 0.15625]
    """
    rest = 1 - share
    halves = [rest**4, 4 * share * rest**3, 6 * (share * rest) ** 2, 4 * share**3 * rest, share**4]
    games = [rest**2, 0.0, 2 * share * rest, 0.0, share**2]
    return [(half + game) / 2 for half, game in zip(halves, games, strict=True)]


def draw_pairs(rng: np.random.Generator, lead: float, pairs: int) -> Counts:
    """Return the five counts of some pairs of a bot that leads by so many Elo points."""
    first, second, third, fourth, fifth = rng.multinomial(
        pairs, score_shares(float(expit(lead / ELO)))
    ).tolist()
    return first, second, third, fourth, fifth


def add(counts: Counts, more: Counts) -> Counts:
    """Return the pairs of both."""
    first, second, third, fourth, fifth = (a + b for a, b in zip(counts, more, strict=True))
    return first, second, third, fourth, fifth


def play_rounds(
    rounds: Rounds,
    pairings: Sequence[Pairing],
    elos: Mapping[str, float],
    rng: np.random.Generator,
    known: Callable[[int], Counts | None] = lambda _: None,
) -> Iterator[dict[int, Counts]]:
    """Yield the pairs by pairing after each round of a run of bots with these Elo ratings.

    `known` may give the result of a pairing's first round.
    """
    counts: dict[int, Counts] = {}
    number = 0
    while legs := rounds.next(number, counts, ()):
        for pairing, first, end in legs:
            bot, opponent = pairings[pairing]
            lead = elos[bot] - elos[opponent]
            before = counts.get(pairing, NO_PAIRS)
            more = known(pairing) if number == 0 else None
            counts[pairing] = add(before, more or draw_pairs(rng, lead, end - first))
        yield dict(counts)
        number += 1
