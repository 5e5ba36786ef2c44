"""Encoding: what a seat knows as an array of zeros and ones, from its View alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.errors import InputError
from engine import KINDS, STANDARD, SUPPORTS, TAKE, Pack, Rules, Seat, View, counts, pack_of
from engine.cards import BITS

VERSION: Final = 1
"""Of the fields and their order; a network belongs to the version that it was trained on."""

ACTIONS: Final = TAKE + 1
NEWEST: Final = 10
"""Cards of the row whose order an observation shows; older ones are only counted."""

Bits: TypeAlias = npt.NDArray[np.int8]

_SPLIT = BITS * len(SUPPORTS)
_LOW = (1 << _SPLIT) - 1
_KNOWN = 1 << 16  # halves of packs that are kept; the published rules have 10,224


class Field(NamedTuple):
    """Some bits of an observation that belong together: the first one and their number."""

    name: str
    start: int
    size: int


class Encoding:
    """How the views of a game under some rules become arrays.

    Five fields are thermometers of counts: for each kind as many bits as the rules have copies
    of it, of which the first n are set for n cards. Places of cards and actions are one-hot.
    Raises InputError for a version that is not this one.

    >>> encoding = Encoding()
    >>> encoding.size, encoding.information_size
    (354, 952)
    >>> [field.name for field in encoding.fields][:5]
    ['hand', 'own pile', 'other pile', 'row', 'unseen']
    >>> bits = encoding.observation(View.from_text("0 5678C xy"))
    >>> [int(n) for n in bits[:12]]  # one 5 of five, one 6 of six, the first of the 7s
    [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    """

    def __init__(self, rules: Rules = STANDARD, version: int = VERSION) -> None:
        if version != VERSION:
            raise InputError(f"encoding: version {version}; this arena has version {VERSION}")
        self.rules = rules
        cards = len(rules.deck)
        self.fields = _fields(
            ("hand", cards),
            ("own pile", cards),
            ("other pile", cards),
            ("row", cards),
            ("unseen", cards),
            ("newest", NEWEST * len(KINDS)),  # of the row, the newest first
            ("round", rules.rounds),
            ("seat", 1),
            ("taken", 2),  # this round: this seat, the other one
            ("own cards", rules.hand_size + 1),
            ("other cards", rules.hand_size + 1),
        )
        self.size = sum(field.size for field in self.fields)
        self.history_fields = _fields(
            ("opening row", rules.opening_row * len(KINDS)),
            ("history", rules.game_plies * ACTIONS),
            start=self.size,
        )
        self.information_size = self.size + sum(field.size for field in self.history_fields)
        self._thermometer = _thermometers(rules)
        self._tail = lru_cache(_KNOWN)(self._make_tail)

    def observation(self, view: View) -> Bits:
        """Return the bits of a view, without the history: an int8 array of `size`."""
        return np.frombuffer(bytearray().join(self._observe(view)), np.int8)

    def information_state(self, view: View) -> Bits:
        """Return the bits of all that a view knows: an int8 array of `information_size`."""
        missing = bytes((self.rules.game_plies - len(view.history)) * ACTIONS)
        parts = [*self._observe(view), *map(_CARDS.__getitem__, view.opening)]
        parts += [*map(_ACTIONS.__getitem__, view.history), missing]
        return np.frombuffer(bytearray().join(parts), np.int8)

    def _observe(self, view: View) -> list[bytes]:
        """Return the fields of an observation, in order."""
        seat, _, hand, row, piles, taken, history, _, rules = view
        if rules is not self.rules and rules != self.rules:
            raise InputError(f"encoding: a view of {rules!r}; the encoding is for {self.rules!r}")
        low, high = self._thermometer
        first, second = piles
        own, other = (second, first) if seat else piles
        in_row = pack_of(row)
        newest = row[: -NEWEST - 1 : -1]
        parts = []
        for pack in (hand, own, other, in_row, rules.pack - hand - first - second - in_row):
            parts += (low(pack & _LOW), high(pack >> _SPLIT))
        parts += map(_CARDS.__getitem__, newest)
        over = first >= rules.city_pack or second >= rules.city_pack
        parts.append(self._tail(len(newest), len(history), over, seat, taken))
        return parts

    def _make_tail(
        self, newest: int, plies: int, by_city: bool, seat: Seat, taken: tuple[bool, bool]
    ) -> bytes:
        """Return the fields from the places without a card on; a few hundred differ."""
        rules = self.rules
        over = by_city or plies == rules.game_plies
        number, plies = divmod(plies - over, rules.round_plies)
        bits = bytes((NEWEST - newest) * len(KINDS)) + _one_hot(number, rules.rounds)
        bits += bytes((seat, taken[seat], taken[1 - seat]))
        for player in (seat, 1 - seat):
            acted = plies + over + (player == number & 1) >> 1  # they begin alternately (R3)
            bits += _one_hot(rules.hand_size - acted + taken[player], rules.hand_size + 1)
        return bits


def _fields(*sizes: tuple[str, int], start: int = 0) -> tuple[Field, ...]:
    """Return fields that follow each other."""
    fields = []
    for name, size in sizes:
        fields.append(Field(name, start, size))
        start += size
    return tuple(fields)


def _one_hot(place: int, size: int) -> bytes:
    """Return so many bits, of which one is set."""
    return bytes(place == other for other in range(size))


def _thermometers(rules: Rules) -> tuple[Callable[[Pack], bytes], Callable[[Pack], bytes]]:
    """Return what makes the bits of a pack's supports, and of the rest as if it were a pack."""

    def half(copies: tuple[int, ...]) -> Callable[[Pack], bytes]:
        def bits(pack: Pack) -> bytes:
            pairs = zip(counts(pack), copies, strict=False)
            return b"".join([b"\1" * n + bytes(most - n) for n, most in pairs])

        return lru_cache(_KNOWN)(bits)

    supports = len(SUPPORTS)
    return half(rules.copies[:supports]), half(rules.copies[supports:])


_CARDS = [_one_hot(kind, len(KINDS)) for kind in KINDS]
_ACTIONS = [_one_hot(action, ACTIONS) for action in range(ACTIONS)]


def mask(view: View) -> Bits:
    """Return which of the 12 actions are legal: an int8 array of ones and zeros.

    >>> [int(bit) for bit in mask(View.from_text("0 5678C xy"))]
    [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1]
    """
    bits = bytearray(ACTIONS)
    for action in view.legal:
        bits[action] = 1
    return np.frombuffer(bits, np.int8)


@cache
def encoding_of(rules: Rules) -> Encoding:
    """Return the encoding for these rules, one for all who ask."""
    return Encoding(rules)
