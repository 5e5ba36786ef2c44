"""Observer: fills the observations of many games, a bit of all of them at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arena.rl.encoding import Bits
from engine import KINDS, TAKE, Rules
from engine.encoding import ACTIONS, NEWEST, encoder_of

if TYPE_CHECKING:
    from arena.rl.lockstep import Lockstep

_NO_CARD = 255
_KIND_COUNT = len(KINDS)
_PACKS = 5  # hand, own pile, other pile, row, unseen


class Observer:
    """The observations of so many games, and their masks.

    In memory a bit of all games is one run of bytes: numpy fills it at once. So the arrays that
    `fill` returns are transposed, with a row for each game.
    """

    def __init__(self, count: int, rules: Rules) -> None:
        self.rules = rules
        encoding = encoder_of(rules)
        self._start = {field.name: field.start for field in encoding.fields}
        self._bits = np.zeros((encoding.size, count), np.bool_)
        self._masks = np.zeros((ACTIONS, count), np.bool_)
        self._counts = np.zeros((_PACKS, _KIND_COUNT, count), np.uint8)
        kind_of_bit = np.repeat(np.arange(_KIND_COUNT), rules.copies)
        level = np.concatenate([np.arange(1, copies + 1) for copies in rules.copies])
        self._count_of_bit = np.concatenate(
            [pack * _KIND_COUNT + kind_of_bit for pack in range(_PACKS)]
        )
        self._level = np.tile(level, _PACKS).astype(np.uint8)[:, None]
        self._spread = np.zeros((len(self._level), count), np.uint8)
        self._copies = np.array(rules.copies, np.uint8)[:, None]
        self._games = np.arange(count)
        self._ages = np.arange(1, NEWEST + 1)[:, None]

    def fill(self, games: Lockstep) -> tuple[Bits, Bits]:
        """Return the observations of the seats to act, and the masks of their actions."""
        masks = self.fill_masks(games)
        second = games.to_act == 1
        hand, own, other, in_row, unseen = self._counts
        for pile, first in ((own, 0), (other, 1)):
            np.copyto(pile, games.piles[first])
            np.copyto(pile, games.piles[1 - first], where=second)
        np.copyto(in_row, games.in_row)
        np.subtract(self._copies, hand, out=unseen)
        for seen in (own, other, in_row):
            unseen -= seen
        flat = self._counts.reshape(_PACKS * _KIND_COUNT, -1)
        np.take(flat, self._count_of_bit, axis=0, out=self._spread, mode="clip")
        np.greater_equal(self._spread, self._level, out=self._bits[: len(self._spread)])
        self._fill_newest(games)
        self._fill_seats(games, second)
        return self._bits.T.view(np.int8), masks

    def fill_masks(self, games: Lockstep) -> Bits:
        """Return the masks of the legal actions alone (R4-R8)."""
        second = games.to_act == 1
        hand = self._counts[0]
        np.copyto(hand, games.hands[0])
        np.copyto(hand, games.hands[1], where=second)
        np.greater(hand, 0, out=self._masks[:_KIND_COUNT])
        taken = np.where(second, games.taken[1], games.taken[0])
        np.greater(games.length, 0, out=self._masks[TAKE])
        self._masks[TAKE] &= ~taken
        self._masks &= ~games.over
        return self._masks.T.view(np.int8)

    def _field(self, name: str, size: int) -> npt.NDArray[np.bool_]:
        start = self._start[name]
        return self._bits[start : start + size]

    def _fill_newest(self, games: Lockstep) -> None:
        """Fill in the newest cards of the rows, the newest first."""
        places = games.length - self._ages
        cards = games.row[places, self._games]  # a negative place is one at the other end
        cards[places < 0] = _NO_CARD
        bits = self._field("newest", NEWEST * _KIND_COUNT).reshape(NEWEST, _KIND_COUNT, -1)
        for kind in KINDS:
            np.equal(cards, kind, out=bits[:, kind])

    def _fill_seats(self, games: Lockstep, second: npt.NDArray[np.bool_]) -> None:
        """Fill in the round, the seat, and what the two seats have taken and hold."""
        rules = self.rules
        for number in range(rules.rounds):
            np.equal(games.round, number, out=self._field("round", rules.rounds)[number])
        self._field("seat", 1)[0] = second
        taken = self._field("taken", 2)
        taken[0] = np.where(second, games.taken[1], games.taken[0])
        taken[1] = np.where(second, games.taken[0], games.taken[1])
        for player, name in enumerate(("own cards", "other cards")):
            began = games.to_act ^ player ^ games.round & 1 ^ 1
            held = rules.hand_size - (games.plies + began >> 1) + taken[player]
            for cards in range(rules.hand_size + 1):
                np.equal(held, cards, out=self._field(name, rules.hand_size + 1)[cards])
