"""Encoding: views of a seat as bits, for learning bots and `arena.addons.rl`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, NamedTuple

from engine.cards import BITS, KINDS, SUPPORTS, TAKE, UNIT, Pack, counts, pack_of
from engine.errors import RulesError
from engine.rules import STANDARD, Rules, first_seat
from engine.scoring import Piles, points
from engine.state import Seat
from engine.view import View

VERSION: Final = 1
"""The version of the fields and their order; a network needs the version of its training."""

ACTIONS: Final = TAKE + 1
NEWEST: Final = 10
"""Cards of the row whose order an observation shows; older ones are only counted."""

WORTHS: Final = 3 + 2 * len(KINDS)
"""How many leads `worths` returns."""

_SPLIT = BITS * len(SUPPORTS)
_LOW = (1 << _SPLIT) - 1
_KNOWN = 1 << 16  # halves of packs that are cached; the published rules have 10,224

CITIES: Final = 50
"""The points that stand for a win by City in `worths`."""


class Field(NamedTuple):
    """Some bits of an observation that belong together: the first one and their number."""

    name: str
    start: int
    size: int


class Encoder:
    """Encodes views under given rules as bits, one a byte.

    Five fields are thermometer codes of counts: for each kind they have a bit for each of its
    copies, of which the first n are set for n cards. Cards at places, and actions, are one-hot.

    >>> encoder = Encoder()
    >>> encoder.size, encoder.information_size
    (354, 952)
    >>> [field.name for field in encoder.fields][:5]
    ['hand', 'own pile', 'other pile', 'row', 'unseen']
    >>> bits = encoder.observation(View.from_text("0 5678C xy"))
    >>> [*bits[:12]]  # one 5 of five, one 6 of six, the first of the 7s
    [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    """

    def __init__(self, rules: Rules = STANDARD) -> None:
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
            ("taken", 2),  # in this round: by this seat, by the other seat
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

    def observation(self, view: View) -> bytearray:
        """Return the bits of a view without its history; raises RulesError for other rules."""
        return bytearray().join(self._observe(view))

    def information_state(self, view: View) -> bytearray:
        """Return the bits of a view with its history; raises RulesError for other rules."""
        missing = bytes((self.rules.game_plies - len(view.history)) * ACTIONS)
        parts = [*self._observe(view), *map(_CARDS.__getitem__, view.opening)]
        parts += [*map(_ACTIONS.__getitem__, view.history), missing]
        return bytearray().join(parts)

    def _observe(self, view: View) -> list[bytes]:
        """Return the fields of an observation, in order."""
        seat, _, hand, row, piles, taken, history, _, rules = view
        if rules is not self.rules and rules != self.rules:
            raise RulesError(f"a view of {rules!r}; the encoding is for {self.rules!r}")
        low, high = self._thermometer
        first, second = piles
        own, other = (second, first) if seat else piles
        in_row = pack_of(row)
        newest = row[: -NEWEST - 1 : -1]
        parts: list[bytes] = []
        for pack in (hand, own, other, in_row, rules.pack - hand - first - second - in_row):
            parts += (low(pack & _LOW), high(pack >> _SPLIT))
        parts += map(_CARDS.__getitem__, newest)
        over = first >= rules.city_pack or second >= rules.city_pack
        parts.append(self._tail(len(newest), len(history), over, seat, taken))
        return parts

    def _make_tail(
        self, newest: int, plies: int, by_city: bool, seat: Seat, taken: tuple[bool, bool]
    ) -> bytes:
        """Return the last fields, from the empty places on; only a few hundred differ."""
        rules = self.rules
        over = by_city or plies == rules.game_plies
        number, plies = divmod(plies - over, rules.round_plies)
        bits = bytes((NEWEST - newest) * len(KINDS)) + _one_hot(number, rules.rounds)
        bits += bytes((seat, taken[seat], taken[1 - seat]))
        for player in (seat, 1 - seat):
            acted = plies + over + (player == first_seat(number)) >> 1
            bits += _one_hot(rules.hand_size - acted + taken[player], rules.hand_size + 1)
        return bits


def _fields(*sizes: tuple[str, int], start: int = 0) -> tuple[Field, ...]:
    """Return consecutive fields of these sizes."""
    fields = []
    for name, size in sizes:
        fields.append(Field(name, start, size))
        start += size
    return tuple(fields)


def _one_hot(place: int, size: int) -> bytes:
    """Return `size` bits, of which the one at `place` is set."""
    return bytes(place == other for other in range(size))


def _thermometers(rules: Rules) -> tuple[Callable[[Pack], bytes], Callable[[Pack], bytes]]:
    """Return the functions that encode the supports of a pack, and its other kinds."""

    def half(copies: tuple[int, ...]) -> Callable[[Pack], bytes]:
        def bits(pack: Pack) -> bytes:
            pairs = zip(counts(pack), copies, strict=False)
            return b"".join([b"\1" * n + bytes(most - n) for n, most in pairs])

        return lru_cache(_KNOWN)(bits)

    supports = len(SUPPORTS)
    return half(rules.copies[:supports]), half(rules.copies[supports:])


_CARDS = [_one_hot(kind, len(KINDS)) for kind in KINDS]
_ACTIONS = [_one_hot(action, ACTIONS) for action in range(ACTIONS)]


def mask(view: View) -> bytearray:
    """Return which of the 12 actions are legal, one a byte.

    >>> [*mask(View.from_text("0 5678C xy"))]
    [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1]
    """
    bits = bytearray(ACTIONS)
    for action in view.legal:
        bits[action] = 1
    return bits


def worths(view: View) -> list[int]:
    """Return the leads of a view's seat in points; a win by City counts as 50.

    The first is the lead of the piles, the next two are the leads after a take by the own seat and
    after a take by the other. Then for each kind come the leads after these two takes if a card of
    the kind had been played before.

    >>> worths(View.from_text("0 5678C 88"))[:3]  # 8 points for most 8s
    [0, 8, -8]
    """
    rules = view.rules
    own, other = view.piles[view.seat], view.piles[1 - view.seat]
    window = pack_of(view.row[-rules.take_size :])
    before = pack_of(view.row[1 - rules.take_size :]) if rules.take_size > 1 else 0
    windows = [window, *(before + UNIT[kind] for kind in KINDS)]
    leads = [_lead((own, other), rules)]
    for taken in windows:
        leads += (_lead((own + taken, other), rules), _lead((own, other + taken), rules))
    return leads


def _lead(piles: Piles, rules: Rules) -> int:
    """Return the points of the first pile minus those of the second."""
    if piles[0] >= rules.city_pack or piles[1] >= rules.city_pack:
        return CITIES if piles[0] >= rules.city_pack else -CITIES
    first, second = points(piles, rules)
    return first - second


@cache
def encoder_of(rules: Rules) -> Encoder:
    """Return the encoder for these rules, which is shared."""
    return Encoder(rules)
