"""Step thousands of games together in numpy, and encode what their seats know for a learner."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.positions import Cards, Indices, Positions
from arena.batch.replay import DRAW, find_winners
from arena.errors import InputError
from engine import CITY, KINDS, STANDARD, TAKE, Rules, View
from engine import encoding as bits
from engine.cards import MOST_COPIES
from engine.encoding import ACTIONS, NEWEST, VERSION, encoder_of
from engine.play import Draw, draw
from engine.rules import first_seat
from engine.seeds import address

Bits: TypeAlias = npt.NDArray[np.int8]


class Encoding:
    """Makes arrays of views under given rules.

    `fields`, and for an information state also `history_fields`, list the fields in order. Raises
    InputError for a version that is not this arena's.

    >>> encoding = Encoding()
    >>> [field.name for field in encoding.fields][:5]
    ['hand', 'own pile', 'other pile', 'row', 'unseen']
    >>> seen = View.from_text("0 5678C xy")
    >>> encoding.observation(seen).shape, encoding.information_state(seen).shape
    ((354,), (952,))
    >>> Encoding(version=2)
    Traceback (most recent call last):
        ...
    arena.errors.InputError: encoding: version 2; this arena has version 1
    """

    def __init__(self, rules: Rules = STANDARD, version: int = VERSION) -> None:
        if version != VERSION:
            raise InputError(f"encoding: version {version}; this arena has version {VERSION}")
        self.rules = rules
        self._encoder = encoder_of(rules)
        self.fields = self._encoder.fields
        self.history_fields = self._encoder.history_fields
        self.size = self._encoder.size
        self.information_size = self._encoder.information_size

    def __reduce__(self) -> tuple[type[Encoding], tuple[Rules]]:
        """Pickle only the rules: a process makes one encoder for them."""
        return Encoding, (self.rules,)

    def observation(self, view: View) -> Bits:
        """Return a view without its history as `size` bits; raises RulesError."""
        return np.frombuffer(self._encoder.observation(view), np.int8)

    def information_state(self, view: View) -> Bits:
        """Return a view with its history as `information_size` bits; raises RulesError."""
        return np.frombuffer(self._encoder.information_state(view), np.int8)


def mask(view: View) -> Bits:
    """Return which of the 12 actions are legal.

    >>> mask(View.from_text("0 5678C xy"))
    array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1], dtype=int8)
    """
    return np.frombuffer(bits.mask(view), np.int8)


Memory: TypeAlias = npt.NDArray[np.bool_]
_KIND_COUNT = len(KINDS)
_KINDS = np.arange(_KIND_COUNT, dtype=np.uint8)[:, None]
_LEVELS = np.arange(1, MOST_COPIES + 1, dtype=np.uint8)[:, None]
_PLACES = np.arange(MOST_COPIES * _KIND_COUNT + 1, dtype=np.int16)[:, None]
_PACKS = 5  # hand, own pile, other pile, row, unseen


class Observer:
    """Writes the observations of many games, and holds the memory of their masks.

    One bit of all games is contiguous in memory, which is fast in numpy. The masks that are
    returned are transposed, with a row for each game.
    """

    def __init__(self, count: int, rules: Rules) -> None:
        self.rules = rules
        self._fields = {
            field.name: slice(field.start, field.start + field.size)
            for field in encoder_of(rules).fields
        }
        self._copies = np.array(rules.copies, np.uint8)[:, None]
        self._masks = np.empty((ACTIONS, count), np.bool_)
        self._counts = np.empty((_PACKS, _KIND_COUNT, count), np.uint8)

    def fill(self, games: Positions, memory: Memory) -> Bits:
        """Write the observations of the seats to act (bit, game); return their masks."""
        masks = self.fill_masks(games)
        hand, own, other, in_row, unseen = self._counts
        of_both(games.piles, games.to_act, own, other)
        np.copyto(in_row, games.in_row)
        np.subtract(self._copies, hand, out=unseen)
        for seen in (own, other, in_row):
            unseen -= seen
        self._fill_packs(memory[: self._fields["newest"].start])
        newest = memory[self._fields["newest"]].reshape(NEWEST, _KIND_COUNT, -1)
        np.equal(games.newest()[:, None], _KINDS, out=newest)
        self._fill_seats(games, memory)
        return masks

    def fill_masks(self, games: Positions) -> Bits:
        """Return only the masks of the legal actions (R4-R8)."""
        hand, other = self._counts[:2]  # the other hand is overwritten
        of_both(games.hands, games.to_act, hand, other)
        np.greater(hand, 0, out=self._masks[:_KIND_COUNT])
        np.greater(games.length, 0, out=self._masks[TAKE])
        self._masks[TAKE] &= ~np.where(games.to_act, games.taken[1], games.taken[0])
        self._masks &= ~games.over
        return self._masks.T.view(np.int8)

    def _fill_packs(self, memory: Memory) -> None:
        """Write the thermometer codes: for each kind a bit for each of its cards in the deck."""
        packs = memory.reshape(_PACKS, -1, memory.shape[1])
        start = 0
        for kind, copies in enumerate(self.rules.copies):
            levels, counts = _LEVELS[:copies], self._counts[:, None, kind]
            np.greater_equal(counts, levels, out=packs[:, start : start + copies])
            start += copies

    def _fill_seats(self, games: Positions, memory: Memory) -> None:
        """Write the round, the seat, and for both seats whether it has taken and how many cards."""
        fields = self._fields
        _one_hot(games.round, memory[fields["round"]])
        np.copyto(memory[fields["seat"]], games.to_act, casting="unsafe")
        taken = memory[fields["taken"]]
        first, second = games.taken
        np.copyto(taken[0], np.where(games.to_act, second, first))
        np.copyto(taken[1], np.where(games.to_act, first, second))
        for player, name in enumerate(("own cards", "other cards")):
            began = games.to_act ^ player ^ 1 ^ first_seat(games.round)
            held = self.rules.hand_size - (games.plies + began >> 1) + taken[player]
            _one_hot(held, memory[fields[name]])


def _one_hot(places: npt.NDArray[np.intp], out: Memory) -> None:
    """Set the bit at the place of each game."""
    np.equal(places.astype(np.int16), _PLACES[: len(out)], out=out)


def of_both(packs: Cards, seats: Indices, own: Cards, other: Cards) -> None:
    """Write the packs (kind, game) of these seats, and those of the other seats.

    Bits are exchanged by masks if seat 1 is to act: 10 us for 4,096 games; `copyto` with a
    condition takes 190.
    """
    differing = packs[0] ^ packs[1]
    differing &= -seats.astype(np.int8).view(np.uint8)
    np.bitwise_xor(packs[0], differing, out=own)
    np.bitwise_xor(packs[1], differing, out=other)


_SEEDS = 1 << 62


class Lockstep(Positions):
    """Many games under the same rules, stepped together, from a deal or from a view.

    >>> from engine import State
    >>> games = Lockstep(2)
    >>> deal = State.from_text("555556666667777777888888882222334xxxyyyyzzCCC").deal()
    >>> games.begin(np.arange(2), np.frombuffer(deal * 2, np.uint8).reshape(2, -1))
    >>> games.step(np.array([TAKE, 0]))
    >>> games.length.tolist(), games.to_act.tolist(), games.taken[:, 0].tolist()
    ([0, 3], [1, 1], [True, False])
    """

    def begin(self, games: Indices, deals: Cards) -> None:
        """Begin these games anew; `deals` has a row for each, cards in the notation's order."""
        rules = self.rules
        size, opening = rules.hand_size, rules.opening_row
        hands = np.delete(deals, np.s_[2 * size : 2 * size + opening], axis=1)
        hands = hands[:, : 2 * size * rules.rounds].reshape(len(games), rules.rounds, 2, size)
        self.dealt[..., games] = _count(hands)
        self.open_rows(games, deals[:, 2 * size : 2 * size + opening].T)
        self.over[games] = False
        self._begin_round(games, np.zeros(len(games), np.intp))

    def _begin_round(self, games: Indices, numbers: Indices) -> None:
        """Deal the hands of a round (R10, R3)."""
        self.round[games] = numbers
        cells = np.arange(2 * len(KINDS))[:, None] * self.count + games
        dealt = self.dealt.reshape(-1).take(numbers * 2 * self._seat_size + cells, mode="clip")
        self.hands.reshape(-1)[cells] = dealt  # 26 us for 352 of 4,096 games; indexed by axes, 50
        self.taken[:, games] = False
        self.plies[games] = 0
        self.to_act[games] = first_seat(numbers)

    def step(self, actions: npt.NDArray[Any], some: npt.NDArray[np.bool_] | None = None) -> None:
        """Carry out a legal action in each game that is not over, or in `some`, unchecked."""
        live = ~self.over if some is None else some.copy()
        taking = (actions == TAKE) & live
        games = np.flatnonzero(live ^ taking)
        self._play(games, actions[games].astype(np.intp))
        games = np.flatnonzero(taking)
        self.taken[self.to_act[games], games] = True  # (R7)
        self.take(games, self.to_act[games])
        self.over[games] = self.piles[self.to_act[games], CITY, games] >= self.rules.cities_needed
        self.plies += live
        live &= ~self.over
        self.to_act ^= live
        ended = np.flatnonzero(live & (self.plies == self.rules.round_plies))
        if len(ended):
            self._end_round(ended)

    def _play(self, games: Indices, kinds: Indices) -> None:
        """Move cards from the hands to the rows (R5)."""
        cells = self.to_act[games] * self._seat_size + kinds * self.count + games
        self.hands.reshape(-1)[cells] -= 1
        self.lay(games, kinds)

    @property
    def _seat_size(self) -> int:
        return len(KINDS) * self.count

    def _end_round(self, games: Indices) -> None:
        """Begin the next round of these games, or end them after the last (R10)."""
        numbers = self.round[games] + 1
        is_last = (numbers == self.rules.rounds) | self.by_round
        last = games[is_last]
        self.over[last] = True
        self.to_act[last] ^= 1
        self._begin_round(games[~is_last], numbers[~is_last])

    def winners(self, games: Indices) -> Indices:
        """Return the winning seats of finished games, or DRAW."""
        return find_winners(self.piles[:, :, games].astype(np.intp), self.rules)

    def results(self) -> npt.NDArray[np.float64]:
        """Return the results of finished games for seat 0: 1, 0.5 or 0."""
        winners = self.winners(np.arange(self.count))
        return np.where(winners == DRAW, 0.5, 1.0 - winners)

    def observe(self, memory: npt.NDArray[np.bool_] | None = None) -> tuple[Bits, Bits]:
        """Return the observations of the seats to act and their masks, written in place.

        The arrays have a row for each game, in the order of `Encoding`'s fields, and the next call
        overwrites them. A game that is over has no legal action. If `memory` (bit, game) is given,
        the observations are written there.
        """
        if memory is None:
            memory = self._memory
        masks = self._observer.fill(self, memory)
        return memory.T.view(np.int8), masks

    def legal(self) -> Bits:
        """Return only the masks, the second array of `observe`, written in place."""
        return self._observer.fill_masks(self)

    @cached_property
    def _memory(self) -> npt.NDArray[np.bool_]:
        return np.empty((encoder_of(self.rules).size, self.count), np.bool_)

    @cached_property
    def _observer(self) -> Observer:
        return Observer(self.count, self.rules)


class History:
    """The opening rows and all actions so far of many games, stored by bit.

    `bits` (bit, game) come after those of an observation. A bit is set once in a game, so a step
    does not cost more late in a game.
    """

    def __init__(self, count: int, rules: Rules) -> None:
        self.rules = rules
        encoding = encoder_of(rules)
        self.bits = np.zeros((encoding.information_size - encoding.size, count), np.bool_)

    def begin(self, games: Indices, deals: Cards) -> None:
        """Clear these games, and set the bits of their opening rows."""
        self.bits[:, games] = False
        first = 2 * self.rules.hand_size
        for place in range(self.rules.opening_row):
            kinds = deals[:, first + place].astype(np.intp)
            self.bits[place * len(KINDS) + kinds, games] = True

    def note(self, games: Lockstep, actions: npt.NDArray[Any], some: Memory) -> None:
        """Set the bits of the actions that some games are about to carry out."""
        live = np.flatnonzero(some)
        plies = games.round[live] * self.rules.round_plies + games.plies[live]
        first = self.rules.opening_row * len(KINDS)
        self.bits[first + plies * ACTIONS + actions[live], live] = True


def _count(hands: Cards) -> Cards:
    """Return the counts (round, seat, kind, game) of hands (game, round, seat, card)."""
    games, rounds, seats, _ = hands.shape
    place = np.arange(rounds * seats).reshape(rounds, seats, 1) * len(KINDS)
    cells = (place + hands) * games + np.arange(games)[:, None, None, None]
    shape = rounds, seats, len(KINDS), games
    counted = np.bincount(cells.reshape(-1), minlength=rounds * seats * len(KINDS) * games)
    return counted.reshape(shape).astype(np.uint8)


def draw_game(rng: np.random.Generator, rules: Rules) -> Draw:
    """Return the `Draw` of `engine.play_game` for a seed from the generator."""
    return draw(address(int(rng.integers(_SEEDS)), "deal"), rules)


def random_deals(
    count: int, rng: np.random.Generator, rules: Rules = STANDARD
) -> npt.NDArray[np.uint8]:
    """Return deals (game, card) in the notation's order; equal generators give equal deals.

    >>> random_deals(1000, np.random.default_rng(7)).shape
    (1000, 45)
    """
    decks = np.broadcast_to(np.frombuffer(rules.deck, np.uint8), (count, len(rules.deck)))
    return rng.permuted(decks, axis=1)
