"""Turns: the order in which the pairs of a round are played, so that no pairing runs ahead.

In the first turns every pairing plays one pair: pair 0 of all, then pair 1. Later it plays some
pairs in a turn, a quarter of those that it has played. So in a run that is stopped all pairings
have about as many pairs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from arena.tournament.leg import Leg

_PART = 4  # a turn is one part of so many of the pairs before it

_starts = [0]  # of turns, counted from a leg's first pair


def turn_of(place: int) -> int:
    """Return the turn in which a pair is played that has this place in its leg.

    >>> [turn_of(place) for place in (0, 1, 7, 8, 9, 10, 1000)]
    [0, 1, 7, 8, 8, 9, 30]
    """
    while _starts[-1] <= place:
        _starts.append(_starts[-1] + max(1, _starts[-1] // _PART))
    return bisect_right(_starts, place) - 1


def turn_end(place: int) -> int:
    """Return the place after the last pair of a turn, which has this place in it.

    >>> turn_end(0), turn_end(8), turn_end(9)
    (1, 10, 10)
    """
    return _starts[turn_of(place) + 1]


def in_turns(legs: Sequence[Leg]) -> Iterator[Leg]:
    """Yield the parts of legs in the order in which they are played.

    One that is alone is not parted.

    >>> [tuple(leg) for leg in in_turns([Leg(0, 5, 7), Leg(1, 0, 3)])]
    [(0, 5, 6), (1, 0, 1), (0, 6, 7), (1, 1, 2), (1, 2, 3)]
    """
    if len(legs) == 1:
        yield from legs
        return
    start = 0
    while legs := [leg for leg in legs if leg.first + start < leg.end]:
        end = turn_end(start)
        for leg in legs:
            yield Leg(leg.pairing, leg.first + start, min(leg.first + end, leg.end))
        start = end
