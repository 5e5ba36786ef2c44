"""Sources and archives that cost whoever reads them far more than their size."""

from __future__ import annotations

import struct

MARK = b"import bots.greedy  # strangers' own\n"
"""How each source begins; the arena looks for imports of bots in it."""


def make_crowded(number: int) -> bytes:
    """Return an archive whose directory lists so many files, with a size of 47 bytes for each."""
    one = struct.pack("<4s6H3L5H2L", b"PK\1\2", *[0] * 9, 1, *[0] * 6) + b"a"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, number * len(one), 4, 0)
    return b"PK\3\4" + one * number + end
