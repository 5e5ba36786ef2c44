"""Plan a run before it is played: the pairs with which neighbours are told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from arena.entries.resolve import resolve
from arena.errors import InputError, counted
from arena.library.request import Bot, list_bots, plain
from arena.statistics.ratings import ELO
from arena.statistics.two_bots import ALPHA
from arena.tournament.keys import MOST_WIDTH, POWER
from engine.errors import show

_MOST_BOTS = 60


class Plan(NamedTuple):
    """The plan of a round robin: the pairs of every two bots, all games, and a sentence.

    >>> print(plan(2, gap=100))
    With 52 pairs of every two bots, neighbours 100 Elo points apart are told apart
    with a chance of 80 %: 104 games in all.
    """

    pairs: int
    games: int
    sentence: str

    def __str__(self) -> str:
        return "\n".join(wrap(self.sentence, 80))


def plan(bots: Sequence[Bot] | int, *, gap: float, power: float = POWER) -> Plan:
    """Compute the pairs that tell neighbours apart in a round robin with `power`.

    `bots` are bots or their number, and each is `gap` Elo points stronger than the next one. Raises
    InputError.

    >>> plan(6, gap=20).games
    14220
    """
    gap, power, bots = plain((gap, power, bots))
    if not (type(gap) in (int, float) and 1 <= gap <= MOST_WIDTH):
        raise InputError(f"gap: {show(gap)} is not a number from 1 to {MOST_WIDTH:,}")
    if not (type(power) is float and 0.5 <= power <= 0.99):
        raise InputError(f"power: {show(power)} is not a number from 0.5 to 0.99")
    number = _count(bots)
    pairs = pairs_to_tell(number, gap, power)
    games = pairs * number * (number - 1)
    sentence = (
        f"With {counted(pairs, 'pair')} of every two bots, neighbours {gap:g} Elo points apart are "
        f"told apart with a chance of {100 * power:.0f} %: {counted(games, 'game')} in all."
    )
    return Plan(pairs, games, sentence)


def _count(bots: Any) -> int:
    """Return the number of bots; raises InputError."""
    if type(bots) is not int:
        for bot in (found := list_bots(bots)):
            if isinstance(bot, str):
                resolve(bot)
            elif bot is None or isinstance(bot, int | float):
                raise InputError(f"{show(bot)} is neither a bot nor how many there are")
        bots = len(found)
    if not 2 <= bots <= _MOST_BOTS:
        raise InputError(f"bots: {bots:,} is not a number from 2 to {_MOST_BOTS}")
    return int(bots)


def pairs_to_tell(bots: int, gap: float, power: float) -> int:
    """Return the pairs of every two bots of a ladder with which neighbours are told apart.

    A gap must exceed its bound and the luck of the power, in standard errors. The bound is that of
    Bonferroni for the gap and those others that are not told apart yet, as the test steps down. The
    error is that of the Bradley-Terry model, where the two games of a pair are independent. The
    study (bench/STUDIES.md) says by how much that misses.

    >>> [pairs_to_tell(bots, 20, 0.8) for bots in (2, 6, 20)]
    [1189, 474, 207]
    """
    strengths = gap / ELO * np.arange(bots)
    information = 1 / (1 + np.cosh(strengths[:, None] - strengths))  # of the two games of a pair
    np.fill_diagonal(information, 0.0)
    inverse = np.linalg.pinv(np.diag(information.sum(axis=0)) - information)
    upper, lower = np.arange(bots - 1), np.arange(1, bots)
    variances = inverse[upper, upper] + inverse[lower, lower] - 2 * inverse[upper, lower]
    normal, open_gaps = NormalDist(), 1 + (1 - power) * (bots - 2)
    errors = normal.inv_cdf(1 - ALPHA / 2 / open_gaps) + normal.inv_cdf(power)
    return math.ceil(float(variances.mean()) * (errors * ELO / gap) ** 2)
