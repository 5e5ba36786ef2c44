"""Observer: fills the observations of many games, a bit of all of them at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.rl.encoding import Bits
from engine import KINDS, TAKE, Rules
from engine.encoding import ACTIONS, NEWEST, encoder_of

if TYPE_CHECKING:
    from arena.rl.lockstep import Lockstep

_KIND_COUNT = len(KINDS)
_KINDS = np.arange(_KIND_COUNT, dtype=np.uint8)[:, None]
_PACKS = 5  # hand, own pile, other pile, row, unseen


class Plan(NamedTuple):
    """Where the bits of an observation are under some rules, and what the first of them count.

    `fields` has the rows of each field, `counted` which count (pack, kind) a bit of the
    first five fields is of, and `level` the least count at which it is set.
    """

    size: int
    fields: dict[str, slice]
    copies: npt.NDArray[np.uint8]
    counted: npt.NDArray[np.intp]
    level: npt.NDArray[np.uint8]


@lru_cache(64)
def plan(rules: Rules) -> Plan:
    """Return the plan for these rules, made once: 15 us."""
    encoding = encoder_of(rules)
    kinds = np.repeat(np.arange(_KIND_COUNT), rules.copies)
    counted = np.concatenate([pack * _KIND_COUNT + kinds for pack in range(_PACKS)])
    levels = np.concatenate([np.arange(1, copies + 1) for copies in rules.copies])
    return Plan(
        encoding.size,
        {field.name: slice(field.start, field.start + field.size) for field in encoding.fields},
        np.array(rules.copies, np.uint8)[:, None],
        counted,
        np.tile(levels, _PACKS).astype(np.uint8)[:, None],
    )


class Observer:
    """The observations of so many games, and their masks.

    In memory a bit of all games is one run of bytes: numpy fills it at once. So the arrays that
    `fill` returns are transposed, with a row for each game.
    """

    def __init__(self, count: int, rules: Rules) -> None:
        self.rules = rules
        self._plan = plan(rules)
        self._bits = np.empty((self._plan.size, count), np.bool_)
        self._masks = np.empty((ACTIONS, count), np.bool_)
        self._counts = np.empty((_PACKS, _KIND_COUNT, count), np.uint8)
        self._spread = np.empty((len(self._plan.counted), count), np.uint8)

    def fill(self, games: Lockstep) -> tuple[Bits, Bits]:
        """Return the observations of the seats to act, and the masks of their actions."""
        masks = self.fill_masks(games)
        hand, own, other, in_row, unseen = self._counts
        _of_both(games.piles, games.to_act, own, other)
        np.copyto(in_row, games.in_row)
        np.subtract(self._plan.copies, hand, out=unseen)
        for seen in (own, other, in_row):
            unseen -= seen
        flat = self._counts.reshape(_PACKS * _KIND_COUNT, -1)
        np.take(flat, self._plan.counted, axis=0, out=self._spread, mode="clip")
        np.greater_equal(self._spread, self._plan.level, out=self._bits[: len(self._spread)])
        newest = self._field("newest").reshape(NEWEST, _KIND_COUNT, -1)
        np.equal(games.newest()[:, None], _KINDS, out=newest)
        self._fill_seats(games)
        return self._bits.T.view(np.int8), masks

    def fill_masks(self, games: Lockstep) -> Bits:
        """Return the masks of the legal actions alone (R4-R8)."""
        hand, other = self._counts[:2]  # the other hand is overwritten by what is seen
        _of_both(games.hands, games.to_act, hand, other)
        np.greater(hand, 0, out=self._masks[:_KIND_COUNT])
        np.greater(games.length, 0, out=self._masks[TAKE])
        self._masks[TAKE] &= ~np.where(games.to_act, games.taken[1], games.taken[0])
        self._masks &= ~games.over
        return self._masks.T.view(np.int8)

    def _field(self, name: str) -> npt.NDArray[np.bool_]:
        return self._bits[self._plan.fields[name]]

    def _fill_seats(self, games: Lockstep) -> None:
        """Fill in the round, the seat, and what the two seats have taken and hold."""
        _one_hot(games.round, self._field("round"))
        np.copyto(self._field("seat")[0], games.to_act, casting="unsafe")
        taken = self._field("taken")
        first, second = games.taken
        np.copyto(taken[0], np.where(games.to_act, second, first))
        np.copyto(taken[1], np.where(games.to_act, first, second))
        for player, name in enumerate(("own cards", "other cards")):
            began = games.to_act ^ player ^ games.round & 1 ^ 1
            held = self.rules.hand_size - (games.plies + began >> 1) + taken[player]
            _one_hot(held, self._field(name))


def _one_hot(places: npt.NDArray[np.intp], out: npt.NDArray[np.bool_]) -> None:
    """Set the bit of each game that is at its place."""
    wanted = np.arange(len(out), dtype=np.int16)[:, None]  # the longest round has 341 cards
    np.equal(places.astype(np.int16), wanted, out=out)


def _of_both(
    packs: npt.NDArray[np.uint8],
    seats: npt.NDArray[np.intp],
    own: npt.NDArray[np.uint8],
    other: npt.NDArray[np.uint8],
) -> None:
    """Fill in the packs (kind, game) of these seats, and those of the other seats.

    Bits are exchanged where seat 1 is to act: a third of the time of a copy with a condition.
    """
    differing = packs[0] ^ packs[1]
    differing &= -seats.astype(np.int8).view(np.uint8)
    np.bitwise_xor(packs[0], differing, out=own)
    np.bitwise_xor(packs[1], differing, out=other)
