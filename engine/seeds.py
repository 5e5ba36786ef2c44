"""Where all randomness starts: a generator for every address.

An address is a path of words and numbers, such as ("deal", "greedy", "uniform", 17). A
keyed hash of the path seeds the generator, so that neighbouring addresses have nothing in
common and no generator depends on what else was drawn, or when.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import TypeAlias

Step: TypeAlias = "str | int | tuple[Step, ...]"


def digest(master: int, *path: Step) -> int:
    """Return 128 bits that depend on the master seed and on every step of the path.

    Raises ValueError for a master seed of more than 64 digits.
    """
    keyed = _keyed(master).copy()
    keyed.update(ascii(path).encode())
    return int.from_bytes(keyed.digest())


@lru_cache(maxsize=64)
def _keyed(master: int) -> blake2b:
    return blake2b(digest_size=16, key=str(master).encode())


def stream(master: int, *path: Step) -> Random:
    """Return the generator that lives at an address.

    Raises ValueError for a master seed of more than 64 digits.

    >>> stream(7, "deal", 0).random() == stream(7, "deal", 0).random()
    True
    >>> stream(7, "deal", 0).random() == stream(7, "deal", 1).random()
    False
    """
    return Random(digest(master, *path))
