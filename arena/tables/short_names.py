"""Shorten long labels of bots: a piece in the middle is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import NamedTuple

from arena.errors import columns, pad

WIDTH = 28
"""Small letters of a name beside a chart; half of a telephone's screen is left to the chart."""

_WIDE = "mwMW@%&\N{EM DASH}"
_DOTS = "\N{HORIZONTAL ELLIPSIS}"


class Names(NamedTuple):
    """The short name of each label."""

    short: Mapping[str, str]

    def of(self, label: object) -> str:
        """Return the name of a label, and any other text unchanged."""
        return self.short.get(str(label), str(label))

    def column(self, least: int) -> tuple[int, Callable[[object], str]]:
        """Return the width of a column of names, `least` or more, and what writes a cell of it."""
        width = max([least, *map(columns, self.short.values())])
        return width, lambda label: pad(self.of(label), width)


def short_names(
    labels: Iterable[str], width: int | None, measure: Callable[[str], int] = columns
) -> Names:
    """Return names of at most `width` columns, all different, which `measure` counts in a text.

    Labels that fit are kept, and all of them without a width. Those that would have the name of
    another one end with a number.

    >>> short_names(["ismcts(depth=3,seed=7)", "ismcts(depth=3,seed=8)", "greedy"], 16).short
    {'greedy': 'greedy', 'ismcts(depth=3,seed=7)': 'ismcts(d…seed=7)', ...}
    """
    texts = sorted({*labels})
    short, taken = {text: text for text in texts}, {*texts}
    for text in texts:
        if width is not None and measure(text) > width:
            short[text] = next(name for name in _cut(text, width, measure) if name not in taken)
            taken.add(short[text])
    return Names(short)


def names_on_page(labels: Iterable[str], width: int = WIDTH) -> Names:
    """Return names as wide on a page as so many small letters, where capitals are wider.

    >>> names_on_page(["w" * 30, "greedy"]).short
    {'greedy': 'greedy', 'wwwwwwwwwwwwwwwwwwwwwwwwwwwwww': 'wwwwwww…wwwwww'}
    """
    return short_names(labels, width, _measure_letters)


def _measure_letters(text: str) -> int:
    """Return about how many small letters are as wide as a text in a proportional font."""
    capitals, wide = sum(map(str.isupper, text)), sum(char in _WIDE for char in text)
    return columns(text) + wide + (capitals + 1) // 2


def _cut(text: str, width: int, measure: Callable[[str], int]) -> Iterator[str]:
    """Yield a text without a piece of the middle, then shorter ones that end with a number."""
    for number in count(1):
        end = f"({number})" if number > 1 else ""
        room = max(0, width - measure(_DOTS + end))
        tail = _take(measure, text[::-1], room // 2)[::-1]
        yield f"{_take(measure, text, room - measure(tail))}{_DOTS}{tail}{end}"


def _take(measure: Callable[[str], int], text: str, width: int) -> str:
    """Return the beginning of a text that is at most so wide."""
    kept = text[:width]
    while measure(kept) > width:
        kept = kept[:-1]
    return kept
