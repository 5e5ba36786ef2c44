"""Products: matrix products in small parts, which no library shares out among threads.

Threads that wait for each other cost more than these products, and the sums would depend on
how many there are.
"""

from __future__ import annotations

import numpy as np

from arena.batch.replay import Ints
from arena.statistics.distributions import Floats

_ROWS = 256  # of a part: OpenBLAS begins with threads at 9,216 numbers
_PARTS = 128  # that are copied at a time


def dot(table: Floats | Ints, weights: Floats) -> Floats:
    """Return the products of the rows of a table with weights."""
    product: Floats = np.einsum("ij,j->i", table, weights)
    return product


def weigh(table: Floats | Ints, weights: Floats) -> Floats:
    """Return the sum of the rows of a table, each times its weight."""
    product: Floats = np.einsum("ij,i->j", table, weights)
    return product


def cross(one: Floats | Ints, other: Floats | Ints, weights: Floats | None = None) -> Floats:
    """Return the transpose of a table times another one of as many columns.

    With `weights` each row of the first one is taken times its weight.
    """
    rows, columns = one.shape
    product = np.zeros((columns, columns))
    for start in range(0, rows, _ROWS * _PARTS):
        some = slice(start, start + _ROWS * _PARTS)
        parts = -(-min(_ROWS * _PARTS, rows - start) // _ROWS)
        padded = np.zeros((2, parts * _ROWS, columns))
        padded[0, : rows - start], padded[1, : rows - start] = one[some], other[some]
        if weights is not None:
            padded[0, : rows - start] *= weights[some, None]
        first, second = padded.reshape(2, parts, _ROWS, columns)
        product += np.matmul(first.swapaxes(1, 2), second).sum(axis=0)
    return product
