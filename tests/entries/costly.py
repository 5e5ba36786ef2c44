"""Sources and archives that cost whoever reads them far more than their size."""

from __future__ import annotations

import struct

MARK = b"import bots.greedy  # strangers' own\n"
"""How each source begins; the arena looks for imports of bots in it."""

COSTLY = {
    "statements": MARK + b"a;" * 520_000,  # 930 MB
    "f_string": MARK + b"x = f'''" + b"{a}" * 300_000 + b"'''",  # a minute
    "signs": MARK + b"-" * 100_000 + b"1",  # Python's parser ends in a MemoryError
    "branches": MARK + b"if a: pass\n" + b"elif b: pass\n" * 50_000,
}
"""Sources that no reader can finish."""

ODD = {
    "brackets": MARK + b"(" * 100_000,
    "digits": MARK + b"x = " + b"1" * 500_000,
    "attributes": MARK + b"x" + b".a" * 200_000,
    "zero": MARK + b"\0",
    "coding": b"# coding: none\n" + MARK,
    "bytes": MARK + b"\xff",
}
"""Sources that Python refuses to compile."""


def make_crowded(number: int) -> bytes:
    """Return an archive whose directory lists so many files, with a size of 47 bytes for each."""
    one = struct.pack("<4s6H3L5H2L", b"PK\1\2", *[0] * 9, 1, *[0] * 6) + b"a"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, number * len(one), 4, 0)
    return b"PK\3\4" + one * number + end
