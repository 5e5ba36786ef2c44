"""Products: matrix products in small parts, which no library shares out among threads.

Threads that wait for each other cost more than these products, and the sums would depend on
how many there are.
"""

from __future__ import annotations

import numpy as np

from arena.wins.moments import Floats

_ROWS = 256  # of a part: OpenBLAS begins with threads at 9,216 numbers


def dot(table: Floats, weights: Floats) -> Floats:
    """Return the products of the rows of a table with weights."""
    product: Floats = np.einsum("ij,j->i", table, weights)
    return product


def cross(one: Floats, other: Floats) -> Floats:
    """Return the transpose of a table times another table."""
    rows, columns = one.shape
    parts = -(-rows // _ROWS)
    width = max(columns, other.shape[1])
    padded = np.zeros((2, parts * _ROWS, width))
    padded[0, :rows, :columns], padded[1, :rows, : other.shape[1]] = one, other
    first, second = padded.reshape(2, parts, _ROWS, width)
    product: Floats = np.matmul(first.swapaxes(1, 2), second).sum(axis=0)
    return product[:columns, : other.shape[1]]
