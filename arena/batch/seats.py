"""The information of the seats to act in many games, and the cards that takes would bring.

The bots of this repository score actions in many games with it, as their `choose` does with a View.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep
from arena.batch.piles import Indices
from engine import KINDS

Counts: TypeAlias = npt.NDArray[np.int8]

_ONE_EACH = np.eye(len(KINDS), dtype=np.int8)[:, :, None]


class Seats:
    """The information of the seats to act; arrays have a column for each game.

    Packs are (kind, game). `own` and `other` are the piles of the seats to act and of their
    opponents, and `hand` are the hands of the seats to act. `taken` and `cards` have the seat to
    act first, then its opponent: whether it has taken in this round, and the number of its cards.
    All are of the position at which the object is made; its methods are valid until the games are
    stepped.

    >>> from engine import TAKE, State
    >>> games = Lockstep(1)
    >>> deal = State.from_text("555556666667777777888888882222334xxxyyyyzzCCC").deal()
    >>> games.begin(np.arange(1), np.frombuffer(deal, np.uint8)[None])
    >>> games.step(np.array([TAKE]))
    >>> seats = Seats(games)
    >>> seats.cards[:, 0].tolist(), seats.taken[:, 0].tolist(), seats.other[:4, 0].tolist()
    ([5, 5], [False, True], [0, 1, 1, 0])
    """

    def __init__(self, games: Lockstep) -> None:
        self._games = games
        self._second = games.to_act == 1
        self.hand = self._of(games.hands.view(np.int8))
        self.own, self.other = (self._of(games.piles.view(np.int8)[::step]) for step in (1, -1))
        self.taken = np.stack([self._of(games.taken[::step]) for step in (1, -1)])
        played = np.stack([games.plies, games.plies + 1]) // 2 - self.taken
        self.cards = games.rules.hand_size - played

    def _of(self, both: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the part of the seats to act from an array of both seats (seat, ...)."""
        mine: npt.NDArray[Any] = np.where(self._second, both[1], both[0])
        return mine

    def piles(self, own: npt.NDArray[np.bool_]) -> tuple[Counts, Counts]:
        """Return two piles for each game: the own one first if `own`, else the other one first."""
        return np.where(own, self.own, self.other), np.where(own, self.other, self.own)

    @property
    def unseen(self) -> Counts:
        """The cards unseen by the seats to act."""
        copies = np.array(self._games.rules.copies, np.int8)[:, None]
        seen: Counts = self.hand + self.own + self.other + self._games.in_row.view(np.int8)
        return copies - seen

    def newest(self, most: int) -> Counts:
        """Return the `most` newest cards of the rows."""
        return self._games.count_newest(slice(None), max(0, most)).view(np.int8)

    @cached_property
    def take(self) -> Counts:
        """The cards that a take brings."""
        return self.newest(self._games.take_size)

    @property
    def next_take(self) -> Counts:
        """The cards that the next take brings if this one is carried out."""
        return self.newest(2 * self._games.take_size) - self.take

    @property
    def after_play(self) -> Counts:
        """The cards that a take brings after one more card of each kind (kind, card, game)."""
        return self.newest(self._games.take_size - 1)[:, None] + _ONE_EACH

    def after_plays(self, cards: Indices, games: Indices) -> Counts:
        """Return the cards that takes bring after two more cards (kind, second card, play).

        The first card is `cards` in each of `games`; the second is of each kind.
        """
        row = self.newest(self._games.take_size - 2)[:, games]
        if self._games.take_size > 1:
            row[cards, np.arange(len(games))] += 1
        return row[:, None] + _ONE_EACH
