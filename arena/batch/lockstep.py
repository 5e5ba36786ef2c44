"""Lockstep: thousands of games that are stepped together, in numpy."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.encoding import Bits
from arena.batch.observer import Observer
from arena.batch.tally import find_winners
from engine import CITY, KINDS, STANDARD, TAKE, Rules
from engine.encoding import NEWEST, encoder_of
from engine.rules import first_seat

Indices: TypeAlias = npt.NDArray[np.intp]
Cards: TypeAlias = npt.NDArray[np.uint8]

_ARRAYS = (
    *("hands", "piles", "in_row", "_row", "length", "taken", "round", "plies", "to_act", "over"),
    "dealt",
)
_KINDS = np.arange(len(KINDS), dtype=np.uint8)
NO_CARD = 255
"""What stands in a row where no card has lain."""


class Lockstep:
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
        self.count = count
        self.rules = rules
        kinds, cards = len(KINDS), len(rules.deck)
        self.hands: Cards = np.zeros((2, kinds, count), np.uint8)
        self.piles: Cards = np.zeros((2, kinds, count), np.uint8)
        self.in_row: Cards = np.zeros((kinds, count), np.uint8)
        self._row: Cards = np.full((NEWEST + cards, count), NO_CARD, np.uint8)
        self.length: Indices = np.zeros(count, np.intp)
        self.taken = np.zeros((2, count), np.bool_)
        self.round: Indices = np.zeros(count, np.intp)  # from 0
        self.plies: Indices = np.zeros(count, np.intp)  # of this round
        self.to_act: Indices = np.zeros(count, np.intp)
        self.over = np.ones(count, np.bool_)
        self.dealt: Cards = np.zeros((rules.rounds, 2, kinds, count), np.uint8)

    @property
    def row(self) -> Cards:
        """The cards of the rows (place, game), the oldest first; `length` of them count."""
        return self._row[NEWEST:]

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
        row = deals[:, 2 * size : 2 * size + opening].T
        self.row[:opening, games] = row
        self.in_row[:, games] = (row == _KINDS[:, None, None]).sum(axis=1)
        self.length[games] = opening
        self.piles[:, :, games] = 0
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
        self._take(games)
        self.over[games] = self.piles[self.to_act[games], CITY, games] >= self.rules.cities_needed
        self.plies += live
        live &= ~self.over
        self.to_act ^= live
        ended = np.flatnonzero(live & (self.plies == self.rules.round_plies))
        if len(ended):
            self._end_round(ended)

    def _play(self, games: Indices, kinds: Indices) -> None:
        """Move cards from the hands to the rows (R5)."""
        columns = kinds * self.count + games
        self.hands.reshape(-1)[self.to_act[games] * self._seat_size + columns] -= 1
        self.in_row.reshape(-1)[columns] += 1
        self.row.reshape(-1)[self.length[games] * self.count + games] = kinds
        self.length[games] += 1

    @property
    def _seat_size(self) -> int:
        return len(KINDS) * self.count

    def _take(self, games: Indices) -> None:
        """Move the newest cards of the rows to the piles (R6, R7)."""
        self.taken[self.to_act[games], games] = True
        columns = self.to_act[games] * self._seat_size + games
        piles, in_row, row = (a.reshape(-1) for a in (self.piles, self.in_row, self.row))
        for _ in range(self.rules.take_size):
            full = self.length[games] > 0
            if not full.all():
                games, columns = games[full], columns[full]
            self.length[games] -= 1
            kinds = row[self.length[games] * self.count + games].astype(np.intp) * self.count
            piles[columns + kinds] += 1
            in_row[kinds + games] -= 1

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
