"""Move cards in many games at once: from hands to rows, and from rows to piles (R5, R6)."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from engine import KINDS
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
        """Return the counts (kind, game) of the `most` newest cards of these games' rows."""
        length = self.length[games]
        found = np.zeros((len(KINDS), len(length)), np.uint8)
        columns = np.arange(self.count)[games]
        for age in range(1, most + 1):
            kept = np.flatnonzero(length >= age)
            found[self.row[length[kept] - age, columns[kept]], kept] += 1
        return found
