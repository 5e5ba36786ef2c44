"""Schedule: which games a run has, and the place of each one in it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

from engine import STANDARD, Rules
from engine.play import Draw, draw
from engine.seeds import address
from engine.state import Seat


class Pairing(NamedTuple):
    """Two bots that meet, by label; `bot` is the one that the run names first."""

    bot: str
    opponent: str

    @property
    def name(self) -> str:
        """Both labels, for messages."""
        return " - ".join(self)


class Fixture(NamedTuple):
    """The place of one game in a run: the pairing, the pair, and the first bot's seat."""

    pairing: Pairing
    pair: int
    seat: Seat

    @property
    def labels(self) -> tuple[str, str]:
        """Who sits where: the labels in the order of the seats.

        >>> Fixture(Pairing("greedy", "uniform"), pair=3, seat=1).labels
        ('uniform', 'greedy')
        """
        bot, opponent = self.pairing
        return (bot, opponent) if self.seat == 0 else (opponent, bot)

    @property
    def name(self) -> str:
        """The game's name in files and messages.

        >>> Fixture(Pairing("greedy", "uniform"), pair=3, seat=1).name
        'greedy/uniform/3/1'
        """
        return "/".join([*self.pairing, str(self.pair), str(self.seat)])

    def draw(self, seed: int, rules: Rules = STANDARD) -> Draw:
        """Return the deal and the luck of both seats: the same in both games of a pair.

        The labels are sorted, so that it does not matter which bot the run names first.
        """
        return draw(address(seed, "deal", *sorted(self.pairing), self.pair), rules)


def round_robin(labels: Sequence[str]) -> list[Pairing]:
    """Return every pairing of the labels once, in their order.

    >>> [pairing.name for pairing in round_robin(["a", "b", "c"])]
    ['a - b', 'a - c', 'b - c']
    """
    return [Pairing(*two) for two in combinations(labels, 2)]


def gauntlet(challengers: Sequence[str], panel: Sequence[str]) -> list[Pairing]:
    """Return every pairing of a challenger and a member of the panel, in their order.

    >>> [pairing.name for pairing in gauntlet(["a", "b"], ["c", "d"])]
    ['a - c', 'a - d', 'b - c', 'b - d']
    """
    return [Pairing(*two) for two in product(challengers, panel)]
