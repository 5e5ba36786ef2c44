"""Step thousands of games in lockstep in numpy, and encode them for a learner."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.batch.encoding import Bits
from arena.batch.observer import Observer
from arena.batch.piles import Cards, Indices
from arena.batch.positions import Positions
from arena.batch.tally import DRAW, find_winners
from engine import CITY, KINDS, STANDARD, TAKE, Rules
from engine.encoding import encoder_of
from engine.play import Draw, draw
from engine.rules import first_seat
from engine.seeds import address

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
