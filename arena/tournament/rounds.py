"""Define the base class `Rounds`, which decides what a run plays next, and the single round.

After each round it chooses the next pairs by the games so far; a pair is one deal played twice,
with the seats swapped. A round robin is one single round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from typing import NamedTuple, TypeAlias

from arena.errors import counted
from arena.tournament.schedule import Pairing, PairRange, single_round
from arena.tournament.stop import Halving
from arena.tournament.tournament import Tournament

Counts: TypeAlias = tuple[int, ...]
"""Numbers of a pairing's pairs by the score of its first bot: 0, 1/2, 1, 3/2 and 2.

For the new version in a paired tournament, they are by its score minus the old one's on the same
deal: -2 to 2 in steps of 1/2.
"""

_SWISS = "arena.tournament.swiss_rounds:SwissRounds"


def add(counts: Counts, more: Counts) -> Counts:
    """Return the sum of two counts.

    >>> add((1, 0, 2, 0, 0), (0, 0, 3, 1, 0))
    (1, 0, 5, 1, 0)
    """
    return tuple(a + b for a, b in zip(counts, more, strict=True))


class Unresolved(NamedTuple):
    """An unresolved question: the order of two neighbours or, without opponent, one bot's Elo.

    `further_pairs` is the approximate number of pairs still needed; None if it is unknown.
    """

    bot: str
    opponent: str | None
    further_pairs: int | None


class Rounds:
    """Decides, at the barrier after each round, which pairs the next round plays.

    The decisions depend only on the arguments and the tournament, so that a resumed run decides
    the same again. The pairs of a pairing are played from 0 on without a gap. `most` is the
    greatest number of rounds, None if unknown. With `leaves_out_unrated`, a bot without a finished
    game counts as out.
    """

    most: int | None = None
    leaves_out_unrated = False

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        """Return the pairs of the round with this number, from 0; an empty list ends the run.

        `counts` are the results of all earlier rounds, by number of the pairing; a pairing without
        games is missing. `out` are the labels of bots that had too many faults and get no more
        games.
        """
        raise NotImplementedError

    def status(self, _counts: Mapping[int, Counts], _out: Collection[str] = (), /) -> str:
        """Return one line about the run's progress, empty if there is nothing to report."""
        return ""

    def find_open(
        self, _counts: Mapping[int, Counts], _out: Collection[str], /
    ) -> list[Unresolved] | None:
        """Return the unresolved questions, None for a run without a target."""
        return None

    def describe_end(
        self, _counts: Mapping[int, Counts], _out: Collection[str], _unrated: Collection[str], /
    ) -> list[str]:
        """Return lines that report whether a run reached its target, empty without a target."""
        return []


class GivenRounds(Rounds):
    """The rounds of meetings, or one round with all games of a round robin or a gauntlet."""

    def __init__(self, tournament: Tournament) -> None:
        self.rounds = [*_place(tournament)]
        self.most = len(self.rounds)

    def next(
        self, number: int, _counts: Mapping[int, Counts], _out: Collection[str], /
    ) -> list[PairRange]:
        """Return all pairs of the round with this number."""
        return self.rounds[number] if number < len(self.rounds) else []


def _place(tournament: Tournament) -> Iterator[list[PairRange]]:
    """Yield the pairs of each round; a meeting continues where the one before has ended."""
    if not tournament.meetings:
        yield single_round(tournament.pairings, tournament.pairs)
    numbers = {two: number for number, two in enumerate(tournament.pairings)}
    ends: Counter[int] = Counter()
    for meetings in tournament.meetings:
        ranges = []
        for bot, opponent, pairs in meetings:
            number = numbers[Pairing(bot, opponent)]
            ranges.append(PairRange(number, ends[number], ends[number] + pairs))
            ends[number] += pairs
        yield ranges


def count_halvings(settings: int) -> int:
    """Return how often so many settings are halved until one is left.

    >>> [count_halvings(settings) for settings in (2, 21, 32, 33)]
    [1, 5, 5, 6]
    """
    return (settings - 1).bit_length()


class HalvingRounds(Rounds):
    """The rounds of a paired gauntlet whose challengers are settings and, last, the bot as it is.

    Those that are left, and the bot as it is, meet the panel on the same new deals; the better half
    by all games so far, without the bots that are out, stays. Every round has about as many pairs.
    Source: Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, 2013.
    """

    def __init__(self, tournament: Tournament, stop: Halving) -> None:
        self.tournament = tournament
        self.settings = len(tournament.entries) - tournament.panel - 1
        self.most = count_halvings(self.settings)
        self.deals = stop.budget // tournament.panel // self.most

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str]
    ) -> list[PairRange]:
        """Return the pairs of the next round, none if one setting is left."""
        left = self._find_left(counts, out)
        if not left or (number and len(left) == 1):
            return []
        as_it_is = self.settings
        first = self._count(as_it_is, counts)
        end = first + max(1, self.deals // (len(left) + 1))
        pairings = [one for bot in sorted([*left, as_it_is]) for one in self._pairings(bot)]
        return [PairRange(one, first, end) for one in pairings]

    def status(self, counts: Mapping[int, Counts], out: Collection[str] = ()) -> str:
        """Return how many settings are left."""
        return f"{counted(len(self._find_left(counts, out)), 'setting')} left"

    def _find_left(self, counts: Mapping[int, Counts], out: Collection[str]) -> list[int]:
        """Return the numbers of the settings that stay after the rounds so far, the best first."""
        labels, pairings = self.tournament.labels, self.tournament.pairings
        played = {bot: self._count(bot, counts) for bot in range(self.settings)}
        most = max(played.values())
        left = [bot for bot in played if played[bot] == most]
        sound = [bot for bot in left if labels[bot] not in out]
        if not most:
            return sound
        scores = {
            bot: sum(
                place * pairs
                for pairing in self._pairings(bot)
                if pairings[pairing].opponent not in out
                for place, pairs in enumerate(counts[pairing])
            )
            for bot in sound
        }
        return sorted(sound, key=lambda bot: (-scores[bot], bot))[: (len(left) + 1) // 2]

    def _pairings(self, bot: int) -> range:
        panel = self.tournament.panel
        return range(panel * bot, panel * (bot + 1))

    def _count(self, bot: int, counts: Mapping[int, Counts]) -> int:
        """Return how many pairs a challenger has played against each opponent."""
        return sum(counts.get(self._pairings(bot).start, ()))


def make_rounds(tournament: Tournament) -> Rounds:
    """Return the `Rounds` of a tournament.

    Their module is imported by name only if the tournament needs it: numpy takes 0.1 s.
    """
    if tournament.stop:
        made: Rounds = _find(tournament.stop.rounds)(tournament, tournament.stop)
    elif tournament.rounds:
        made = _find(_SWISS)(tournament)
    else:
        made = GivenRounds(tournament)
    return made


def _find(name: str) -> Callable[..., Rounds]:
    """Import the function or class that makes the rounds, given as module:name."""
    module, _, attribute = name.partition(":")
    found: Callable[..., Rounds] = getattr(import_module(module), attribute)
    return found
