"""Give ranks to bots in the order of a table, and letters that those which are not apart share.

`arena.statistics.two_bots` defines "told apart". The method of insertion and absorption (Piepho
2004) gives a letter to every maximal set of bots that were not told apart, which can be far too
many: 2^20 for 40 bots of which only 20 separate pairs of bots were told apart. So here a letter is
added for two bots only if they do not share one yet; there are never more letters than pairs of
bots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import isnan

_ALPHABET = 26
_LETTER = re.compile(r"([a-z])(\d*)")


def give_ranks(ratings: Sequence[float]) -> list[int]:
    """Return the ranks of descending ratings; equal ratings share a rank, unrated bots do not.

    >>> give_ranks([1510.0, 1510.0, 1480.0, float("nan"), float("nan")])
    [1, 1, 3, 4, 5]
    """
    firsts: dict[float, int] = {}
    places = enumerate(ratings, 1)
    return [place if isnan(one) else firsts.setdefault(one, place) for place, one in places]


def give_letters(bots: int, is_apart: Callable[[int, int], bool]) -> list[str]:
    """Return the letters of bots, which are numbered from 0 in the order of a table.

    `is_apart` says whether a bot was told apart from a bot further down. Letters are used in the
    order of their first bot: a to z and then a2 to z2. Source: Piepho 2004 for the display.

    >>> give_letters(4, lambda upper, lower: lower - upper > 1)
    ['a', 'ab', 'bc', 'c']
    """
    near = [0] * bots  # by bot: the set of bots that were not told apart from it, as bits
    for upper in range(bots):
        for lower in range(upper + 1, bots):
            if not is_apart(upper, lower):
                near[upper] |= 1 << lower
                near[lower] |= 1 << upper
    sets = sorted(_find_sets(near), key=lambda found: [*_bits(found)])
    names = [""] * bots
    for number, found in enumerate(sets):
        for bot in _bits(found):
            names[bot] += name_letter(number)
    return names


def _find_sets(near: Sequence[int]) -> Iterator[int]:
    """Yield sets of bots, as bits, that cover all near pairs of bots and no other pairs."""
    together = [0] * len(near)
    for bot in range(len(near)):
        while missing := near[bot] & ~together[bot] or (not together[bot] and 1 << bot):
            found, common = 1 << bot, near[bot]
            while common:
                other = next(_bits(common & missing or common))
                found, common = found | 1 << other, common & near[other]
            for member in _bits(found):
                together[member] |= found
            yield found


def _bits(number: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, the lowest first."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def name_letter(number: int) -> str:
    """Return the letter with this number, from 0.

    >>> [name_letter(number) for number in (0, 25, 26, 53)]
    ['a', 'z', 'a2', 'b3']
    """
    turn, place = divmod(number, _ALPHABET)
    return chr(ord("a") + place) + (str(turn + 1) if turn else "")


def split_letters(group: str) -> list[int]:
    """Return the numbers of the letters of a bot.

    >>> split_letters("bza2")
    [1, 25, 26]
    """
    return [
        (int(turn or 1) - 1) * _ALPHABET + ord(letter) - ord("a")
        for letter, turn in _LETTER.findall(group)
    ]


def shorten(group: str, width: int) -> str:
    """Return the letters of a bot cut to `width` characters: as a range, or their beginning.

    >>> [shorten(group, 5) for group in ("abcde", "bcdefgh", "acdefg")]
    ['abcde', 'b-h', 'ac...']
    """
    if len(group) <= width:
        return group
    numbers = split_letters(group)
    ends = f"{name_letter(numbers[0])}-{name_letter(numbers[-1])}"
    if numbers[-1] - numbers[0] == len(numbers) - 1 and len(ends) <= width:
        return ends
    return f"{group[: width - 3]}..."
