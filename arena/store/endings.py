"""Endings: the games of a run added up by how they ended, thousands of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from arena.batch.run_games import Ints
from arena.statistics.counts import MISSING, RESULTS, WIN_TYPES, Endings
from arena.store.counting import CODES, FAULT, Code

_BLOCK = 16_384  # games that are added up at once
_MERGED = 64  # blocks
_BY_POINTS = [WIN_TYPES.index(name) for name in ("points", "tiebreak", "draw")]
_MARGINS = 1 << 34  # more than there are margins in a store


def add_up(games: Iterable[Code]) -> tuple[Endings, tuple[Ints, Ints, Ints]]:
    """Return the endings of games, and the leads of those that points decided."""
    endings, leads = _Sums(2 + 2 + 1 + 1), _Sums(1)
    for block in _blocks(games):
        codes = np.array(block, np.int64)
        endings.add(*_pairs(codes))
        leads.add(*_leads(codes))
    keys, (pairs, *sums) = endings.total()
    both = np.stack([keys // CODES % CODES, keys % CODES], axis=1)
    margin0, margin1, square0, square1, products = sums
    found = Endings(
        pairing=keys // CODES**2,
        games=both % FAULT,
        forfeits=both // FAULT,
        pairs=pairs,
        margins=np.stack([margin0, margin1], axis=1),
        squares=np.stack([square0, square1], axis=1),
        products=products,
    )
    keys, (number,) = leads.total()
    return found, (keys // _MARGINS, keys % _MARGINS - _MARGINS // 2, number)


def _blocks(games: Iterable[Code]) -> Iterator[list[Code]]:
    """Yield the games in blocks; both games of a pair are in one block."""
    rows = iter(games)
    block = [*islice(rows, _BLOCK)]
    while block:
        more = [*islice(rows, 1)]
        pairing, place, _ = block[-1]
        if more and more[0][:2] == (pairing, place ^ 1):
            block += more
            more = []
        yield block
        block = [*more, *islice(rows, _BLOCK)]


def _pairs(codes: Ints) -> tuple[Ints, Ints]:
    """Return the keys of pairs, and of each 1, both margins, their squares and their product."""
    pairing, place, code = codes.T
    pair, seat = place // 2, place % 2
    begins = np.ones(len(pair), bool)
    begins[1:] = (pairing[1:] != pairing[:-1]) | (pair[1:] != pair[:-1])
    number = np.cumsum(begins) - 1
    pairs = int(number[-1]) + 1
    ending = np.full((pairs, 2), MISSING)
    margin = np.zeros((2, pairs), np.int64)
    ending[number, seat] = code % CODES
    margin[seat, number] = code // CODES
    keys = (pairing[begins] * CODES + ending[:, 0]) * CODES + ending[:, 1]
    return keys, np.stack([np.ones(pairs, np.int64), *margin, *margin**2, margin[0] * margin[1]])


def _leads(codes: Ints) -> tuple[Ints, Ints]:
    """Return the keys of the games that points decided, and 1 of each."""
    pairing, _, code = codes[np.isin(codes[:, 2] % FAULT // RESULTS, _BY_POINTS)].T
    keys = pairing * _MARGINS + code // CODES + _MARGINS // 2
    return keys, np.ones((1, len(keys)), np.int64)


class _Sums:
    """Adds up columns of whole numbers by key, a block at a time."""

    def __init__(self, columns: int) -> None:
        self.parts = [(np.zeros(0, np.int64), np.zeros((columns, 0), np.int64))]

    def add(self, keys: Ints, columns: Ints) -> None:
        """Add columns that have a number for each key."""
        self.parts.append(_by_key(keys, columns))
        if len(self.parts) == _MERGED:
            self.parts = [self.total()]

    def total(self) -> tuple[Ints, Ints]:
        """Return the keys in order, and the sums of each column."""
        keys, columns = zip(*self.parts, strict=True)
        return _by_key(np.concatenate(keys), np.concatenate(columns, axis=1))


def _by_key(keys: Ints, columns: Ints) -> tuple[Ints, Ints]:
    if not len(keys):
        return keys, columns
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    return found, np.add.reduceat(columns[:, order], starts, axis=1)
