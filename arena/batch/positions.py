"""What many games are at: their hands, rows and piles, and whose turn it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arena.batch.piles import Cards, Indices, Piles
from arena.errors import InputError
from engine import KINDS, STANDARD, Pack, Rules, View, counts, pack_text
from engine.cards import BITS
from engine.encoding import NEWEST

_ARRAYS = (
    *("hands", "piles", "in_row", "_row", "length", "taken", "round", "plies", "to_act", "over"),
    "dealt",
)
_SHIFTS = BITS * np.arange(len(KINDS), dtype=np.int64)[:, None]
_Self = TypeVar("_Self", bound="Positions")


class Positions(Piles):
    """So many games under the same rules, each at a position of its own.

    Arrays of the games have a column for each of them, so that an operation on a kind is one on
    neighbours: `hands` and `piles` have (seat, kind, game), `row` has (place, game), the oldest
    card first, of which `length` count. `dealt` are the hands of each round (round, seat, kind,
    game). `over` games are not stepped; their `to_act` is the seat that acted last. A new object's
    games are over. With `by_round` a game is over at the end of the round, too: what the hands of
    the next one are need not be known.
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
        self.by_round = False
        self.dealt: Cards = np.zeros((rules.rounds, 2, kinds, count), np.uint8)

    @classmethod
    def from_view(
        cls: type[_Self],
        view: View,
        hands: Sequence[Pack],
        luck: np.random.Generator | None = None,
    ) -> _Self:
        """Return the worlds of a view in which the opponent holds these hands, one for each.

        With `luck` the unseen cards that are left are dealt to the rounds to come, at random.
        Without it the games are `by_round`. Raises InputError for a hand that the opponent cannot
        hold.

        >>> from engine import hands
        >>> view = View.from_text("0 5678C xy")
        >>> games = Positions.from_view(view, [hand for hand, _ in hands(view)])
        >>> games.count, games.hands[0, :, 0].tolist()
        (2444, [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1])
        """
        games = cls(len(hands), view.rules)
        rules, opponent = view.rules, view.opponent
        games.hands[opponent] = held = _counts(hands)
        games.hands[view.seat] = np.array(counts(view.hand), np.uint8)[:, None]
        unseen = np.array(counts(view.unseen), np.uint8)[:, None]
        wrong = (held > unseen).any(axis=0) | (held.sum(axis=0) != view.opponent_cards)
        if wrong.any():
            text = pack_text(hands[int(wrong.argmax())])
            raise InputError(f"hand {text}: the opponent cannot hold it in {view.to_text()}")
        row = np.frombuffer(view.row, np.uint8)[:, None]
        games.open_rows(slice(None), np.broadcast_to(row, (len(row), len(hands))))
        for seat in (0, 1):
            games.piles[seat] = np.array(counts(view.piles[seat]), np.uint8)[:, None]
            games.taken[seat] = view.taken[seat]
        games.round[:] = view.round - 1
        games.plies[:] = len(view.history) - games.round * rules.round_plies
        games.to_act[:] = rules.seat_at(len(view.history) - view.over)
        games.over[:] = view.over
        games.by_round = luck is None
        if luck is not None:
            games.dealt[view.round :] = deal_rest(unseen - held, rules, view.round, luck)
        return games

    def newest(self) -> Cards:
        """Return the newest cards of the rows (age, game), NO_CARD where a row is shorter.

        NO_CARD lies before the oldest card, so that no place needs a check: 15 ns a game, with
        checks 34, and with an index in place of `take` 66.
        """
        places = self.length * self.count + self._ages
        return self._row.reshape(-1).take(places, mode="clip")

    @cached_property
    def _ages(self) -> Indices:
        """Places (age, game) of the newest cards in the memory of rows without a card."""
        return np.arange(NEWEST)[::-1, None] * self.count + np.arange(self.count)

    def select(self: _Self, games: Indices) -> _Self:
        """Return a copy of some of the games, in this order; one may be there several times."""
        twin = type(self)(len(games), self.rules)
        twin.by_round = self.by_round
        for name in _ARRAYS:  # 5 us for 88 of the hands dealt to 4,096 games, indexed 23
            getattr(self, name).take(games, axis=-1, out=getattr(twin, name), mode="clip")
        return twin

    def join(self: _Self, others: Sequence[_Self]) -> _Self:
        """Return a copy of these games and of others under the same rules, in this order."""
        parts = [self, *others]
        twin = type(self)(sum(part.count for part in parts), self.rules)
        twin.by_round = self.by_round
        for name in _ARRAYS:
            arrays = [getattr(part, name) for part in parts]
            np.concatenate(arrays, axis=-1, out=getattr(twin, name))
        return twin


def _counts(packs: Sequence[Pack]) -> Cards:
    """Return how many cards of each kind are in packs (kind, pack)."""
    together = np.fromiter(packs, np.int64, len(packs))
    return (together >> _SHIFTS & (1 << BITS) - 1).astype(np.uint8)


def by_kind(cards: npt.NDArray[np.integer[Any]], places: int) -> Indices:
    """Return cards that are counted (kind, game) one by one (place, game), in so many places.

    Places that are left have the number of the kinds.

    >>> by_kind(np.array([[1, 0], [2, 1]]), 3).tolist()
    [[0, 1], [1, 2], [1, 2]]
    """
    sums = cards.cumsum(axis=0)[:, None]
    kinds: Indices = (np.arange(places)[:, None] >= sums).sum(axis=0)
    return kinds


def hands_by_keys(unseen: npt.NDArray[Any], sizes: Indices, keys: npt.NDArray[Any]) -> Cards:
    """Return hands (kind, game, world) of so many of the unseen cards (kind, game) of each game.

    They are those of the lowest `keys` (game, world, place), of which there are enough places for
    all unseen cards: with random keys below 2 each hand is equally likely.
    """
    cards = by_kind(unseen, keys.shape[2]).T[:, None]  # (game, 1, place)
    keys = np.where(cards == len(KINDS), 2, keys)  # behind all cards
    first = keys.argsort(axis=2, kind="stable")[..., : int(sizes.max(initial=0))]
    drawn = np.take_along_axis(np.broadcast_to(cards, keys.shape), first, axis=2)
    np.copyto(drawn, len(KINDS), where=np.arange(drawn.shape[2]) >= sizes[:, None, None])
    kinds = np.arange(len(KINDS))[:, None, None, None]
    hands: Cards = (drawn == kinds).sum(axis=3, dtype=np.uint8)
    return hands


def deal_rest(cards: Cards, rules: Rules, played: int, luck: np.random.Generator) -> Cards:
    """Return the hands (round, seat, kind, game) of the rounds to come, dealt of these cards.

    All games have as many cards left, and `played` rounds behind them.
    """
    deal = rules.hand_size
    rounds = rules.rounds - played
    left = by_kind(cards, cards.sum(axis=0).max(initial=0))
    kinds = luck.permuted(left, axis=0)[: 2 * rounds * deal]
    hands = kinds.reshape(rounds, 2, deal, cards.shape[1])
    of_kind = hands[:, :, None] == np.arange(len(KINDS))[:, None, None]
    dealt: Cards = of_kind.sum(axis=3, dtype=np.uint8)
    return dealt
