"""Step thousands of games together in numpy, from random deals, and encode them for a learner."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.encoding import Bits
from arena.batch.piles import Cards, Indices, Piles
from arena.batch.tally import find_points, find_winners
from engine import CITY, KINDS, STANDARD, SUPPORTS, TAKE, VALUES, Rules
from engine.cards import MOST_COPIES
from engine.encoding import ACTIONS, CITIES, NEWEST, encoder_of
from engine.play import Draw, draw
from engine.rules import first_seat
from engine.seeds import address

Memory: TypeAlias = npt.NDArray[np.bool_]
_KIND_COUNT = len(KINDS)
_ARRAYS = (
    *("hands", "piles", "in_row", "_row", "length", "taken", "round", "plies", "to_act", "over"),
    "dealt",
)
_KINDS = np.arange(_KIND_COUNT, dtype=np.uint8)[:, None]
_LEVELS = np.arange(1, MOST_COPIES + 1, dtype=np.uint8)[:, None]
_PLACES = np.arange(MOST_COPIES * _KIND_COUNT + 1, dtype=np.int16)[:, None]
_SEEDS = 1 << 62
_PACKS = 5  # hand, own pile, other pile, row, unseen


class Lockstep(Piles):
    """So many games under the same rules, each with a deal of its own.

    Arrays of the games have a column for each of them, so that an operation on a kind is one on
    neighbours: `hands` and `piles` have (seat, kind, game), `row` has (place, game), the oldest
    card first, of which `length` count. `over` games are not stepped; their `to_act` is the
    seat that acted last. A new object's games are over: `deal` begins them.

    >>> from engine import State
    >>> games = Lockstep(2)
    >>> deal = State.from_text("555556666667777777888888882222334xxxyyyyzzCCC").deal()
    >>> games.begin(np.arange(2), np.frombuffer(deal * 2, np.uint8).reshape(2, -1))
    >>> games.step(np.array([TAKE, 0]))
    >>> games.length.tolist(), games.to_act.tolist(), games.taken[:, 0].tolist()
    ([0, 3], [1, 1], [True, False])
    """

    def __init__(self, count: int, rules: Rules = STANDARD) -> None:
        super().__init__(count, rules.take_size, len(rules.deck))
        self.rules = rules
        kinds = len(KINDS)
        self.hands: Cards = np.zeros((2, kinds, count), np.uint8)
        self.taken = np.zeros((2, count), np.bool_)
        self.round: Indices = np.zeros(count, np.intp)  # from 0
        self.plies: Indices = np.zeros(count, np.intp)  # of this round
        self.to_act: Indices = np.zeros(count, np.intp)
        self.over = np.ones(count, np.bool_)
        self.dealt: Cards = np.zeros((rules.rounds, 2, kinds, count), np.uint8)

    def newest(self) -> Cards:
        """Return the newest cards of the rows (age, game), NO_CARD where a row is shorter.

        NO_CARD lies before the oldest card, so that no place needs a check: 15 ns a game, with
        checks 34, and with an index in place of `take` 66.
        """
        places = self.length * self.count + self._ages
        return self._row.reshape(-1).take(places, mode="clip")

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
        self.hands.reshape(-1)[cells] = dealt  # 26 us for 352 of 4,096 games, by axes 50
        self.taken[:, games] = False
        self.plies[games] = 0
        self.to_act[games] = first_seat(numbers)

    def step(self, actions: npt.NDArray[Any]) -> None:
        """Carry out a legal action in each game that is not over, unchecked."""
        live = ~self.over
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
        is_last = numbers == self.rules.rounds
        last = games[is_last]
        self.over[last] = True
        self.to_act[last] ^= 1
        self._begin_round(games[~is_last], numbers[~is_last])

    def winners(self, games: Indices) -> Indices:
        """Return the winning seats of games that are over, DRAW for nobody."""
        return find_winners(self.piles[:, :, games].astype(np.intp), self.rules)

    def observe(self, memory: npt.NDArray[np.bool_] | None = None) -> tuple[Bits, Bits]:
        """Return what the seats to act know, and their legal actions, filled in place.

        The arrays have a row for each game, in the order of `Encoding`'s fields, and the next
        call overwrites them. A game that is over has no legal action. The observations are
        filled into `memory` (bit, game) where it is given.
        """
        if memory is None:
            memory = self._memory
        masks = self._observer.fill(self, memory)
        return memory.T.view(np.int8), masks

    def legal(self) -> Bits:
        """Return the legal actions alone, the second array of `observe`, filled in place."""
        return self._observer.fill_masks(self)

    @cached_property
    def _ages(self) -> Indices:
        """Places (age, game) of the newest cards in the memory of rows without a card."""
        return np.arange(NEWEST)[::-1, None] * self.count + np.arange(self.count)

    @cached_property
    def _memory(self) -> npt.NDArray[np.bool_]:
        return np.empty((encoder_of(self.rules).size, self.count), np.bool_)

    @cached_property
    def _observer(self) -> Observer:
        return Observer(self.count, self.rules)

    def select(self, games: Indices) -> Lockstep:
        """Return a copy of some of the games, in this order."""
        twin = Lockstep(len(games), self.rules)
        for name in _ARRAYS:  # 5 us for 88 of the hands dealt to 4,096 games, indexed 23
            getattr(self, name).take(games, axis=-1, out=getattr(twin, name))
        return twin


def _count(hands: Cards) -> Cards:
    """Return the counts (round, seat, kind, game) of hands (game, round, seat, card)."""
    games, rounds, seats, _ = hands.shape
    place = np.arange(rounds * seats).reshape(rounds, seats, 1) * len(KINDS)
    cells = (place + hands) * games + np.arange(games)[:, None, None, None]
    shape = rounds, seats, len(KINDS), games
    counted = np.bincount(cells.reshape(-1), minlength=rounds * seats * len(KINDS) * games)
    return counted.reshape(shape).astype(np.uint8)


class Observer:
    """Fills the observations of so many games, and has the memory of their masks.

    In memory a bit of all games is one run of bytes: numpy fills it at once. So the masks that
    are returned are transposed, with a row for each game.
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

    def fill(self, games: Lockstep, memory: Memory) -> Bits:
        """Fill in what the seats to act know (bit, game); return the masks of their actions."""
        masks = self.fill_masks(games)
        hand, own, other, in_row, unseen = self._counts
        _of_both(games.piles, games.to_act, own, other)
        np.copyto(in_row, games.in_row)
        np.subtract(self._copies, hand, out=unseen)
        for seen in (own, other, in_row):
            unseen -= seen
        self._fill_packs(memory[: self._fields["newest"].start])
        newest = memory[self._fields["newest"]].reshape(NEWEST, _KIND_COUNT, -1)
        np.equal(games.newest()[:, None], _KINDS, out=newest)
        self._fill_seats(games, memory)
        return masks

    def fill_masks(self, games: Lockstep) -> Bits:
        """Return the masks of the legal actions alone (R4-R8)."""
        hand, other = self._counts[:2]  # the other hand is overwritten by what is seen
        _of_both(games.hands, games.to_act, hand, other)
        np.greater(hand, 0, out=self._masks[:_KIND_COUNT])
        np.greater(games.length, 0, out=self._masks[TAKE])
        self._masks[TAKE] &= ~np.where(games.to_act, games.taken[1], games.taken[0])
        self._masks &= ~games.over
        return self._masks.T.view(np.int8)

    def _fill_packs(self, memory: Memory) -> None:
        """Fill in the thermometers: for each kind as many bits as there are cards of it."""
        packs = memory.reshape(_PACKS, -1, memory.shape[1])
        start = 0
        for kind, copies in enumerate(self.rules.copies):
            levels, counts = _LEVELS[:copies], self._counts[:, None, kind]
            np.greater_equal(counts, levels, out=packs[:, start : start + copies])
            start += copies

    def _fill_seats(self, games: Lockstep, memory: Memory) -> None:
        """Fill in the round, the seat, and what the two seats have taken and hold."""
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
    """Set the bit of each game that is at its place."""
    np.equal(places.astype(np.int16), _PLACES[: len(out)], out=out)


def _of_both(
    packs: npt.NDArray[np.uint8],
    seats: npt.NDArray[np.intp],
    own: npt.NDArray[np.uint8],
    other: npt.NDArray[np.uint8],
) -> None:
    """Fill in the packs (kind, game) of these seats, and those of the other seats.

    Bits are exchanged where seat 1 is to act: 10 us for 4,096 games, by `copyto` with a
    condition 190.
    """
    differing = packs[0] ^ packs[1]
    differing &= -seats.astype(np.int8).view(np.uint8)
    np.bitwise_xor(packs[0], differing, out=own)
    np.bitwise_xor(packs[1], differing, out=other)


def find_worths(games: Lockstep) -> npt.NDArray[np.signedinteger[Any]]:
    """Return `engine.encoding.worths` of the seats to act, a row for each game.

    They are numbers of 16 bits, or of 32 under rules whose leads need them.
    """
    rules, count = games.rules, games.count
    number = _number(rules)
    own, other = (_of(games, seat).astype(number) for seat in (0, 1))
    before = games.count_newest(slice(None), rules.take_size - 1)
    added = np.zeros((len(KINDS), 2 + len(KINDS), count), number)
    added[:, 1] = games.count_newest(slice(None), rules.take_size)
    added[:, 2:] = before[:, None]
    added[np.arange(len(KINDS)), 2 + np.arange(len(KINDS))] += 1
    piles = np.empty((2, len(KINDS), 2 * added.shape[1] - 1, count), number)
    piles[0] = own[:, None]
    piles[1] = other[:, None]
    piles[0, :, 1::2] += added[:, 1:]
    piles[1, :, 2::2] += added[:, 1:]
    flat = piles.reshape(2, len(KINDS), -1)
    score = find_points(flat, rules)
    leads = score[0] - score[1]
    won = flat[:, CITY] >= rules.cities_needed
    worths: npt.NDArray[Any] = np.select(won, [CITIES, -CITIES], leads)
    return worths.reshape(-1, count).T.astype(number)


def _number(rules: Rules) -> type[np.signedinteger[Any]]:
    """Return the type of numbers that holds the difference of any two piles' points."""
    values = sum(copies * abs(value) for copies, value in zip(rules.copies, VALUES, strict=True))
    sets = abs(rules.set_bonus) * min(rules.copies[: len(SUPPORTS)])
    most = sum(rules.majority_values) + sets + values
    return np.int16 if 2 * most <= np.iinfo(np.int16).max else np.int32


def _of(games: Lockstep, other: int) -> npt.NDArray[Any]:
    """Return the piles of the seats to act, or of the other ones."""
    piles: npt.NDArray[Any] = np.where(games.to_act == other, games.piles[0], games.piles[1])
    return piles


def draw_game(rng: np.random.Generator, rules: Rules) -> Draw:
    """Return what `engine.play_game` draws for one seed, which the generator gives."""
    return draw(address(int(rng.integers(_SEEDS)), "deal"), rules)


def random_deals(
    count: int, rng: np.random.Generator, rules: Rules = STANDARD
) -> npt.NDArray[np.uint8]:
    """Return deals (game, card) in the notation's order; equal generators give equal deals."""
    decks = np.broadcast_to(np.frombuffer(rules.deck, np.uint8), (count, len(rules.deck)))
    return rng.permuted(decks, axis=1)
