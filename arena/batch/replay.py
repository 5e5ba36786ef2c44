"""Replay: many games played again at once, from their actions and their opening rows.

No hand is needed: what is played is in the record, and the hand of a seat is empty after
`hand_size` plays of a round. `engine.State` says the same of every ply (tests/wins).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.batch.run_games import NOTHING, Batch, Bytes, Ints
from engine import KINDS, SUPPORTS, TAKE, VALUES, Rules

_KINDS = len(KINDS)
_VALUES = np.array(VALUES)
_DEALS = np.stack([np.maximum(_VALUES, 0), np.minimum(_VALUES, 0)], axis=1).astype(float)


@dataclass(frozen=True)
class Takes:
    """Every take of a batch, in the order of the plies: an array has a number for each.

    `before` are both piles before it, by seat and kind; `cards` what was taken, by kind;
    `action` says how many actions of the seat in this round it was, from 1; `round` counts
    from 1.
    """

    game: Ints
    ply: Ints
    seat: Ints
    round: Ints
    action: Ints
    before: Ints
    cards: Ints

    @property
    def after(self) -> Ints:
        """Both piles after it, by seat and kind."""
        piles = self.before.copy()
        piles[np.arange(len(self.seat)), self.seat] += self.cards
        return piles


@dataclass(frozen=True)
class Replay:
    """What a batch of games led to.

    `piles` are those of both seats before each ply and at the end (games x plies + 1 x seats
    x kinds), `row` the cards of the row and `within` those of them that a take would bring,
    counted by kind (games x plies + 1 x kinds); after the end of a game they stay as they
    are. `plies` is how many a game has, `played` what each seat played (games x seats x
    kinds).
    """

    batch: Batch
    rules: Rules
    plies: Ints
    piles: Bytes
    row: Bytes
    within: Bytes
    played: Ints
    takes: Takes


def replay(batch: Batch, rules: Rules) -> Replay:
    """Play the games of a batch again."""
    games, plies = batch.actions.shape
    piles = np.zeros((games, plies + 1, 2, _KINDS), np.uint8)
    row, within = (np.zeros((games, plies + 1, _KINDS), np.uint8) for _ in range(2))
    table = _Table(batch.opening, plies, rules.take_size)
    row[:, 0], within[:, 0] = table.row, table.within
    taken = []
    for ply in range(plies):
        actions = batch.actions[:, ply]
        seat = rules.seat_at(ply)
        piles[:, ply + 1] = piles[:, ply]
        table.play(np.flatnonzero(actions < TAKE), actions)
        takers = np.flatnonzero(actions == TAKE)
        if len(takers):
            cards = table.take(takers)
            piles[takers, ply + 1, seat] += cards
            taken.append((takers, np.full(len(takers), ply), cards))
        row[:, ply + 1], within[:, ply + 1] = table.row, table.within
    return Replay(
        batch,
        rules,
        (batch.actions != NOTHING).sum(axis=1),
        piles,
        row,
        within,
        _played(batch.actions, rules),
        _takes(taken, piles, rules),
    )


class _Table:
    """The rows of many games; `row` are their cards by kind, `within` those that a take brings."""

    def __init__(self, opening: Bytes, plies: int, take_size: int) -> None:
        games, dealt = opening.shape
        self.size = take_size
        self.cards = np.zeros((games, dealt + plies), np.uint8)  # the oldest first
        self.cards[:, :dealt] = opening
        self.length = np.full(games, dealt)
        self.row = self._count(np.arange(games), dealt)
        self.within = self._count(np.arange(games), take_size)

    def play(self, games: Ints, actions: Bytes) -> None:
        """Put a card to the end of the row of these games."""
        cards, length = actions[games], self.length[games]
        self.cards[games, length] = cards
        self.row[games, cards] += 1
        self.within[games, cards] += 1
        long = np.flatnonzero(length >= self.size)
        beyond = self.cards[games[long], length[long] - self.size]
        self.within[games[long], beyond] -= 1
        self.length[games] += 1

    def take(self, games: Ints) -> Bytes:
        """Remove the last cards of these games' rows, and return them counted by kind (R6)."""
        taken = self.within[games]
        self.length[games] = np.maximum(self.length[games] - self.size, 0)
        self.row[games] -= taken
        self.within[games] = self._count(games, self.size)
        return taken

    def _count(self, games: Ints, size: int) -> Bytes:
        """Return so many cards from the end of these games' rows, counted by kind."""
        length = self.length[games]
        counts = np.zeros((len(games), _KINDS), np.uint8)
        for back in range(1, min(size, int(length.max(initial=0))) + 1):
            some = np.flatnonzero(length >= back)
            counts[some, self.cards[games[some], length[some] - back]] += 1
        return counts


def _played(actions: Bytes, rules: Rules) -> Ints:
    """Return how many cards of each kind the seats have played in each game."""
    games, plies = actions.shape
    played = np.zeros((games, 2, _KINDS), np.int64)
    seats = rules.seat_at(np.arange(plies))
    for seat in (0, 1):
        own = actions[:, seats == seat]
        for kind in KINDS:
            played[:, seat, kind] = (own == kind).sum(axis=1)
    return played


def _takes(taken: list[tuple[Ints, Ints, Bytes]], piles: Bytes, rules: Rules) -> Takes:
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, _KINDS), np.uint8))
    game, ply, cards = (np.concatenate(parts) for parts in zip(empty, *taken, strict=True))
    number, within = np.divmod(ply, rules.round_plies)
    return Takes(
        game=game,
        ply=ply,
        seat=rules.seat_at(ply),
        round=number + 1,
        action=within // 2 + 1,
        before=piles[game, ply].astype(np.int64),
        cards=cards.astype(np.int64),
    )


def sources(piles: Ints | Bytes, rules: Rules) -> Ints:
    """Return the points of both seats by source: 5, 6, 7, 8, sets, alliances, betrayals (R12-R14).

    `piles` end in the axes seats and kinds, the result in seats and sources.
    """
    supports = piles[..., : len(SUPPORTS)]
    more = supports > supports[..., ::-1, :]
    whole = count_sets(piles).astype(np.int64)
    deals = np.einsum("...k,ks->...s", piles.astype(float), _DEALS)  # exact
    parts = np.empty((*piles.shape[:-1], len(SUPPORTS) + 3), np.int64)
    parts[..., : len(SUPPORTS)] = more * np.array(rules.majority_values)
    parts[..., len(SUPPORTS)] = whole * rules.set_bonus
    parts[..., len(SUPPORTS) + 1 :] = deals
    return parts


def points(piles: Ints | Bytes, rules: Rules) -> Ints:
    """Return the points of both seats (R12-R15)."""
    by_source = np.moveaxis(sources(piles, rules), -1, 0)
    total: Ints = by_source[0]
    for more in by_source[1:]:  # a third of the time of `sum` over a short axis
        total = total + more
    return total


def count_sets(piles: Any) -> Any:
    """Return how many sets there are in piles, in the type of their counts (R13)."""
    fives, sixes, sevens, eights = (piles[..., kind] for kind in SUPPORTS)
    return np.minimum(np.minimum(fives, sixes), np.minimum(sevens, eights))
