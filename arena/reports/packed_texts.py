"""Pack many short texts into a page's data: each is stored once, and cells are its numbers.

There are some 90,000 cells for 780 pairs of bots. Numbers are written without separators, with one,
two or three characters of DIGITS each, as the number of texts requires.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_letters, digits
from typing import Any, Final

DIGITS: Final = ascii_letters + digits + "-_"

_MOST_WIDTH = 3


class Cells(list[int]):
    """The numbers of some texts."""


class Texts:
    """Assigns numbers to texts; the empty text has the number 0."""

    def __init__(self) -> None:
        self.numbers = {"": 0}

    def add(self, texts: Iterable[str]) -> Cells:
        """Return the numbers of some texts."""
        numbers = self.numbers
        return Cells(numbers.setdefault(text, len(numbers)) for text in texts)

    def packed(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the texts, with the numbers of texts written as characters."""
        most = range(1, _MOST_WIDTH + 1)
        width = next(one for one in most if len(self.numbers) <= len(DIGITS) ** one)
        packed: dict[str, Any] = _pack(data, width)
        return packed | {"width": width, "digits": DIGITS, "texts": [*self.numbers]}


def _pack(data: Any, width: int) -> Any:
    """Return data in which each list of cells is written as one text.

    >>> _pack({"rows": [[1, Cells([0, 1, 63])]]}, 1), _pack(Cells([65]), 2)
    ({'rows': [[1, 'ab_']]}, 'bb')
    """
    if isinstance(data, Cells):
        size = len(DIGITS)
        places = [size**place for place in reversed(range(width))]
        return "".join([DIGITS[number // place % size] for number in data for place in places])
    if isinstance(data, dict):
        return {name: _pack(value, width) for name, value in data.items()}
    return [_pack(value, width) for value in data] if isinstance(data, list) else data
