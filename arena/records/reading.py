"""Read a file of game records line by line, with a bound on the length of a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

MOST_LINE: Final = 1 << 20
"""Bytes of a line: a record has a few hundred, or some thousand with a bot's evidence."""


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; of one that is too long only MOST_LINE + 1 bytes.

    What was left out of a long line is read, and not kept, when the next one is asked for.
    """
    while line := file.readline(MOST_LINE + 1):
        yield line
        rest = line
        while rest and len(line) > MOST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(MOST_LINE)
