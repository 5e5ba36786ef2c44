"""What many games are at: hands, rows and piles, whose turn it is, and how cards move."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from arena.errors import InputError
from engine import KINDS, STANDARD, Pack, Rules, View, counts, pack_text
from engine.cards import BITS
from engine.encoding import NEWEST

Indices: TypeAlias = npt.NDArray[np.intp]
Cards: TypeAlias = npt.NDArray[np.uint8]

NO_CARD: Final = 255
"""The entry of an empty place in a row."""

_KINDS = np.arange(len(KINDS), dtype=np.uint8)


class Piles:
    """The rows and piles of many games; rows have a fixed number of places.

    Arrays have a column for each game, so that the numbers of a kind are contiguous: `piles` is
    (seat, kind, game), `row` is (place, game), the oldest card first, of which the first `length`
    are valid, and `in_row` (kind, game) counts the cards of the rows by kind.
    """

    def __init__(self, count: int, take_size: int, room: int) -> None:
        self.count = count
        self.take_size = take_size
        self.piles: Cards = np.zeros((2, len(KINDS), count), np.uint8)
        self.in_row: Cards = np.zeros((len(KINDS), count), np.uint8)
        self._row: Cards = np.full((NEWEST + room, count), NO_CARD, np.uint8)
        self.length: Indices = np.zeros(count, np.intp)

    @property
    def row(self) -> Cards:
        """The cards of the rows (place, game), the oldest first; the first `length` are valid."""
        return self._row[NEWEST:]

    def open_rows(self, games: Any, opening: Cards) -> None:
        """Begin the rows of these games with their opening cards (place, game) (R2)."""
        self.row[: len(opening), games] = opening
        self.in_row[:, games] = (opening == _KINDS[:, None, None]).sum(axis=1)
        self.length[games] = len(opening)
        self.piles[:, :, games] = 0

    def lay(self, games: Indices, kinds: Indices) -> None:
        """Append a card to the row of each of these games (R5)."""
        self.in_row.reshape(-1)[kinds * self.count + games] += 1
        self.row.reshape(-1)[self.length[games] * self.count + games] = kinds
        self.length[games] += 1

    def take(self, games: Indices, seats: Any) -> None:
        """Move the newest cards of the rows of these games to the piles of these seats (R6)."""
        columns = seats * len(KINDS) * self.count + games
        piles, in_row, row = (a.reshape(-1) for a in (self.piles, self.in_row, self.row))
        for _ in range(self.take_size):
            full = self.length[games] > 0
            if not full.all():
                games, columns = games[full], columns[full]
            self.length[games] -= 1
            kinds = row[self.length[games] * self.count + games].astype(np.intp) * self.count
            piles[columns + kinds] += 1
            in_row[kinds + games] -= 1

    def count_newest(self, games: Any, most: int) -> Cards:
        """Return the counts (kind, game) of the `most` newest cards of these games' rows.

        The places before the oldest card, and the first of all, have NO_CARD. Comparing each card
        with all kinds takes 90 us for three cards of 4,096 games; counting up by index, 300.
        """
        places = (self.length[games] + NEWEST) * self.count + np.arange(self.count)[games]
        found = np.zeros((len(KINDS), len(places)), np.uint8)
        for _ in range(most):
            places -= self.count
            cards = self._row.reshape(-1).take(places, mode="clip")
            found += (cards == _KINDS[:, None]).view(np.uint8)
        return found


_ARRAYS = (
    *("hands", "piles", "in_row", "_row", "length", "taken", "round", "plies", "to_act", "over"),
    "dealt",
)
_SHIFTS = BITS * np.arange(len(KINDS), dtype=np.int64)[:, None]
_Self = TypeVar("_Self", bound="Positions")


class Positions(Piles):
    """The positions of many games under the same rules.

    Arrays have a column for each game, so that the numbers of a kind are contiguous: `hands` and
    `piles` are (seat, kind, game), `row` is (place, game), the oldest card first, of which the
    first `length` are valid. `dealt` are the hands of each round (round, seat, kind, game). `over`
    games are not stepped; their `to_act` is the seat that acted last. A new object's games are
    over. With `by_round` a game also ends with its round, so that the hands of the next round need
    not be known.
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
        cls: type[_Self], view: View, hands: Sequence[Pack], luck: np.random.Generator | None = None
    ) -> _Self:
        """Return the worlds of a view, one for each of these hands of the opponent.

        With the generator `luck` the remaining unseen cards are dealt at random to the later
        rounds. Without it the games are `by_round`. Raises InputError for a hand that the opponent
        cannot hold.

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
        """Return the newest cards of the rows (age, game), with NO_CARD in shorter rows.

        NO_CARD is stored before the oldest card, so that places need no check: 15 ns a game; 34
        with checks, and 66 with an index instead of `take`.
        """
        places = self.length * self.count + self._ages
        return self._row.reshape(-1).take(places, mode="clip")

    @cached_property
    def _ages(self) -> Indices:
        """Positions in memory (age, game) of the newest cards, for empty rows."""
        return np.arange(NEWEST)[::-1, None] * self.count + np.arange(self.count)

    def select(self: _Self, games: Indices, *, to_come: bool = True) -> _Self:
        """Return a copy of some games in this order; a game may be repeated.

        Without `to_come` it lacks the hands of later rounds, which no seat knows, and takes two
        thirds of the time.
        """
        twin = type(self)(len(games), self.rules)
        twin.by_round = self.by_round
        for name in _ARRAYS if to_come else _ARRAYS[:-1]:
            # 5 us for the dealt hands of 88 of 4,096 games; 23 with an index
            getattr(self, name).take(games, axis=-1, out=getattr(twin, name), mode="clip")
        return twin


def _counts(packs: Sequence[Pack]) -> Cards:
    """Return how many cards of each kind are in packs (kind, pack)."""
    together = np.fromiter(packs, np.int64, len(packs))
    return (together >> _SHIFTS & (1 << BITS) - 1).astype(np.uint8)


def packs_of(held: Cards) -> npt.NDArray[np.int64]:
    """Return packs from counts of cards (kind, pack)."""
    packs: npt.NDArray[np.int64] = (held.astype(np.int64) << _SHIFTS).sum(axis=0)
    return packs


def by_kind(cards: npt.NDArray[np.integer[Any]], places: int) -> Indices:
    """Return counted cards (kind, game) as lists of cards (place, game), with `places` places.

    Empty places have the number of kinds.

    >>> by_kind(np.array([[1, 0], [2, 1]]), 3).tolist()
    [[0, 1], [1, 2], [1, 2]]
    """
    sums = cards.cumsum(axis=0)[:, None]
    kinds: Indices = (np.arange(places)[:, None] >= sums).sum(axis=0)
    return kinds


def hands_by_keys(unseen: npt.NDArray[Any], sizes: Indices, keys: npt.NDArray[Any]) -> Cards:
    """Return hands (kind, game, world) of the unseen cards (kind, game), of `sizes` by game.

    A hand has the cards with the lowest `keys` (game, world, place); there is a place for each
    unseen card. With random keys below 2 every hand is equally likely.
    """
    cards = by_kind(unseen, keys.shape[2]).T[:, None]  # (game, 1, place)
    keys = np.where(cards == len(KINDS), 2, keys)  # after all cards
    first = keys.argsort(axis=2, kind="stable")[..., : int(sizes.max(initial=0))]
    drawn = np.take_along_axis(np.broadcast_to(cards, keys.shape), first, axis=2)
    np.copyto(drawn, len(KINDS), where=np.arange(drawn.shape[2]) >= sizes[:, None, None])
    kinds = np.arange(len(KINDS))[:, None, None, None]
    hands: Cards = (drawn == kinds).sum(axis=3, dtype=np.uint8)
    return hands


def deal_rest(cards: Cards, rules: Rules, played: int, luck: np.random.Generator) -> Cards:
    """Return the hands (round, seat, kind, game) of the later rounds, dealt from these cards.

    All games have the same number of cards left, and have played `played` rounds.
    """
    deal = rules.hand_size
    rounds = rules.rounds - played
    left = by_kind(cards, cards.sum(axis=0).max(initial=0))
    kinds = luck.permuted(left, axis=0)[: 2 * rounds * deal]
    hands = kinds.reshape(rounds, 2, deal, cards.shape[1])
    of_kind = hands[:, :, None] == np.arange(len(KINDS))[:, None, None]
    dealt: Cards = of_kind.sum(axis=3, dtype=np.uint8)
    return dealt
