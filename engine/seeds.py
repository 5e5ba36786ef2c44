"""Where all randomness starts: a generator for every address.

An address is a path of words and numbers, such as ("deal", "greedy", "uniform", 17). A
keyed hash of the path seeds the generator, so that neighbouring addresses have nothing in
common and no generator depends on what else was drawn, or when.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b, shake_128
from random import Random
from struct import unpack
from typing import TypeAlias

Step: TypeAlias = str | int


def digest(master: int, *path: Step) -> int:
    """Return 128 bits that depend on the master seed and on every step of the path."""
    return int.from_bytes(blake2b(_address(master, path), digest_size=16).digest())


def _address(master: int, path: tuple[Step, ...]) -> bytes:
    """Return the seed and the path as bytes: no two addresses have the same."""
    return ascii((master, *path)).encode()


def stream(master: int, *path: Step) -> Random:
    """Return the generator that lives at an address.

    >>> stream(7, "deal", 0).random() == stream(7, "deal", 0).random()
    True
    >>> stream(7, "deal", 0).random() == stream(7, "deal", 1).random()
    False
    """
    return Random(digest(master, *path))


def numbers(count: int, master: int, *path: Step) -> Iterator[int]:
    """Return random numbers of 64 bits that live at an address.

    Enough for a deal, and sooner there than a generator: 1 us against 5 for the seeding.

    >>> list(numbers(2, 7, "deal")) == list(numbers(2, 7, "deal"))
    True
    """
    return iter(unpack(f"<{count}Q", shake_128(_address(master, path)).digest(8 * count)))
