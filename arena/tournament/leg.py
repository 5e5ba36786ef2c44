"""Leg: the pairs of one pairing that are played in one round of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena.tournament.schedule import Pairing


class Leg(NamedTuple):
    """Some pairs of the pairing with this number: from `first` on, up to `end`."""

    pairing: int
    first: int
    end: int


def single_round(pairings: Sequence[Pairing], pairs: int) -> list[Leg]:
    """Return the legs of a run in which every pairing plays so many pairs.

    >>> single_round([Pairing("a", "b"), Pairing("a", "c")], pairs=5)
    [Leg(pairing=0, first=0, end=5), Leg(pairing=1, first=0, end=5)]
    """
    return [Leg(number, 0, pairs) for number in range(len(pairings))]
