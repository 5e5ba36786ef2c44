"""What version 2.0 took away, and what to use instead: the only trace of what has left."""

from __future__ import annotations

from typing import Final

REMOVED: Final = {
    "arena compare --season": "divide --alpha by the number of comparisons",
    "key halves": "leave it out: the two games of a pair are played as with halves: together",
}
"""What to use instead, by the name: "arena worth", "arena compare --season", "key halves"."""


def advise(name: str) -> str:
    """Return a sentence about a command, option, key or name of the library that has left.

    It is empty if there was never one of that name.

    >>> advise("arena dance")
    ''
    """
    instead = REMOVED.get(name)
    return f"{name} has left with version 2.0: {instead}" if instead else ""
