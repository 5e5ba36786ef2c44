"""Add up what each bot did against each opponent, by pair: how games ended, and its takes.

A side is a pairing as one of its bots sees it: its number is twice that of the pairing, and one
more for the second bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from arena.insight.pair_counts import BOT_PARTS, TURNED
from arena.insight.run_games import Batch
from arena.statistics.counts import MISSING
from arena.statistics.intervals import Ints, Moments
from arena.store.counting import Counts
from arena.tournament.schedule import Pairing

_SUMS = len(Moments(0, 0).sums)

MOST_MET: Final = 200
"""Bots of a run whose takes are kept by opponent: these sums have 17 MB then."""

PARTS: Final = tuple(BOT_PARTS)
"""What is counted of a bot's games: its score, and how they ended."""

BROUGHT: Final = ("cards", "gain")
"""What is added up of takes: their cards, and the points that they add to the pile."""


def number_sides(pairings: Sequence[Pairing], order: Sequence[str]) -> Ints:
    """Return the bot and the opponent of each side by their places in an order.

    A bot that is not in it has the place behind the last one.

    >>> number_sides([Pairing("b", "a")], ["a", "b"]).tolist()
    [[1, 0], [0, 1]]
    """
    places = {label: place for place, label in enumerate(order)}
    first = np.array([[places.get(one, len(order)) for one in two] for two in pairings])
    first = first.reshape(-1, 2)
    return np.stack([first, first[:, ::-1]], axis=1).reshape(-1, 2)


def count_endings(pairings: int, counts: Counts) -> Moments:
    """Return how the games of each side ended, by the keys of PARTS; a game has two units."""
    moments = Moments(2 * pairings, len(PARTS), scale=2)
    games = np.broadcast_to((counts.games != MISSING).sum(axis=1), (len(PARTS), len(counts.pairs)))
    weights = np.stack([*BOT_PARTS.values()])
    for side, seen in enumerate((weights, weights[:, TURNED])):
        halves = np.zeros((len(PARTS), MISSING + 1), np.int64)
        halves[:, :MISSING] = 4 * seen[:, :MISSING]
        moments.add(
            2 * counts.pairing + side, games, halves[:, counts.games].sum(axis=2), counts.pairs
        )
    return moments


class TakesByOpponent:
    """Adds up the takes of each side: at which action of the round, and what they brought."""

    def __init__(self, pairings: int, actions: int) -> None:
        self.when = Moments(2 * pairings, actions)
        self.brought = Moments(2 * pairings, len(BROUGHT))

    @property
    def actions(self) -> range:
        """The actions of a round, from 1 on."""
        return range(1, self.when.sums.shape[2] + 1)

    @property
    def is_known(self) -> bool:
        """Whether takes were added up: not for very many bots."""
        return bool(self.when.sums.size)

    @classmethod
    def of(cls, table: pd.DataFrame) -> TakesByOpponent:
        """Return what a table is made of."""
        keys = len(table.columns) // _SUMS
        sums = np.moveaxis(table.to_numpy(np.int64).reshape(len(table), _SUMS, keys), 0, 1)
        made = cls(len(table) // 2, keys - len(BROUGHT))
        made.when.sums[:], made.brought.sums[:] = np.split(sums, [made.when.sums.shape[2]], axis=2)
        return made

    def table(self) -> pd.DataFrame:
        """Return the sums as a table with a row for each side."""
        sums = np.concatenate([self.when.sums, self.brought.sums], axis=2)
        rows, keys = sums.shape[1:]
        return pd.DataFrame(np.moveaxis(sums, 0, 1).reshape(rows, _SUMS * keys))

    def add(self, batch: Batch, by_action: Ints, totals: Ints) -> None:
        """Add the takes of a batch by action, and their sums by BROUGHT.

        The columns are the pairs of the batch as the first bot sees them, then as the second one.
        """
        takes = by_action.sum(axis=0)
        for side in (0, 1):
            some = slice(side * batch.pairs, (side + 1) * batch.pairs)
            for moments, sums in ((self.when, by_action), (self.brought, totals)):
                counts = np.broadcast_to(takes[some], (len(sums), batch.pairs))
                moments.add(2 * batch.pairing + side, counts, sums[:, some])
