"""Define the schedule of a run: its pairings, and the place and order of its games.

Pairs are played in turns, so that no pairing runs ahead. In each of the first turns every pairing
plays one pair: pair 0 of all, then pair 1. Later, a turn has a quarter of the pairs that a pairing
has played before. So in a run that is stopped, all pairings have about the same number of pairs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from arena.tournament.config_keys import Pairs
from engine import STANDARD, Rules
from engine.play import Draw, draw
from engine.seeds import address
from engine.state import Seat


class Pairing(NamedTuple):
    """Two bots that meet, by label; `bot` is the one that the run names first."""

    bot: str
    opponent: str

    @property
    def name(self) -> str:
        """Both labels, for messages."""
        return " - ".join(self)


class Meeting(NamedTuple):
    """A requested meeting of two bots: `pairs` further pairs of theirs."""

    bot: str
    opponent: str
    pairs: Pairs


class Fixture(NamedTuple):
    """The place of one game in a run: the pairing, the pair, and the first bot's seat."""

    pairing: Pairing
    pair: int
    seat: Seat

    @property
    def labels(self) -> tuple[str, str]:
        """The labels in the order of the seats.

        >>> Fixture(Pairing("greedy", "uniform"), pair=3, seat=1).labels
        ('uniform', 'greedy')
        """
        bot, opponent = self.pairing
        return (bot, opponent) if self.seat == 0 else (opponent, bot)

    @property
    def name(self) -> str:
        """The game's name in files and messages.

        >>> Fixture(Pairing("greedy", "uniform"), pair=3, seat=1).name
        'greedy/uniform/3/1'
        """
        return "/".join([*self.pairing, str(self.pair), str(self.seat)])

    def draw(self, seed: int, rules: Rules = STANDARD) -> Draw:
        """Return the deal and both seats' random generators: the same in both games of a pair.

        The labels are sorted, so that the order in which the run names the bots has no effect.
        """
        return draw(address(seed, "deal", *sorted(self.pairing), self.pair), rules)


def round_robin(labels: Sequence[str]) -> list[Pairing]:
    """Return every pairing of the labels once, in their order.

    >>> [pairing.name for pairing in round_robin(["a", "b", "c"])]
    ['a - b', 'a - c', 'b - c']
    """
    return [Pairing(*two) for two in combinations(labels, 2)]


def gauntlet(challengers: Sequence[str], panel: Sequence[str]) -> list[Pairing]:
    """Return every pairing of a challenger and a member of the panel, in their order.

    >>> [pairing.name for pairing in gauntlet(["a", "b"], ["c", "d"])]
    ['a - c', 'a - d', 'b - c', 'b - d']
    """
    return [Pairing(*two) for two in product(challengers, panel)]


class PairRange(NamedTuple):
    """A range of pairs of the pairing with this number: from `first` up to, but without, `end`."""

    pairing: int
    first: int
    end: int


def single_round(pairings: Sequence[Pairing], pairs: int) -> list[PairRange]:
    """Return the ranges of a run in which every pairing plays this many pairs.

    >>> single_round([Pairing("a", "b"), Pairing("a", "c")], pairs=5)
    [PairRange(pairing=0, first=0, end=5), PairRange(pairing=1, first=0, end=5)]
    """
    return [PairRange(number, 0, pairs) for number in range(len(pairings))]


_PART = 4  # a turn has a quarter of the pairs before it

_starts = [0]  # first places of turns, counted from a range's first pair


def turn_of(place: int) -> int:
    """Return the turn of a pair with this place in its range.

    >>> [turn_of(place) for place in (0, 1, 7, 8, 9, 10, 1000)]
    [0, 1, 7, 8, 8, 9, 30]
    """
    while _starts[-1] <= place:
        _starts.append(_starts[-1] + max(1, _starts[-1] // _PART))
    return bisect_right(_starts, place) - 1


def turn_end(place: int) -> int:
    """Return the place after the last pair of the turn that contains this place.

    >>> turn_end(0), turn_end(8), turn_end(9)
    (1, 10, 10)
    """
    return _starts[turn_of(place) + 1]


def in_turns(ranges: Sequence[PairRange]) -> Iterator[PairRange]:
    """Yield the parts of ranges, by turns, in the order in which they are played.

    A single range is not divided.

    >>> [tuple(span) for span in in_turns([PairRange(0, 5, 7), PairRange(1, 0, 3)])]
    [(0, 5, 6), (1, 0, 1), (0, 6, 7), (1, 1, 2), (1, 2, 3)]
    """
    if len(ranges) == 1:
        yield from ranges
        return
    start = 0
    while ranges := [span for span in ranges if span.first + start < span.end]:
        end = turn_end(start)
        for span in ranges:
            yield PairRange(span.pairing, span.first + start, min(span.first + end, span.end))
        start = end
