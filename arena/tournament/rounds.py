"""Define the base class `Rounds`, which decides what a run plays next, and those without a test.

After each round it chooses the next pairs by the games so far; a pair is one deal played twice,
with the seats swapped. A round robin is one single round. In a Swiss tournament the order of the
bots by score is cut into groups, in which the upper half meets the lower half. There are few groups
at first, and many at the end. Where the rounds suffice for nearly all opponents, they are those of
a round robin. With the nearest opponents in every round, ratings of real bots were spread 20 to
25 % wider than in the full round robin, because real results do not fit the Elo model equally well
at every rating difference. So the rating differences between opponents must be similar to those in
a round robin (figures: bench/STUDIES.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from arena import addons
from arena.errors import counted
from arena.tournament.schedule import Pairing, PairRange, single_round
from arena.tournament.stop import Halving
from arena.tournament.tournament import Tournament
from engine.seeds import stream

Counts: TypeAlias = tuple[int, ...]
"""Numbers of a pairing's pairs by the score of its first bot: 0, 1/2, 1, 3/2 and 2.

For the new version in a paired tournament, they are by its score minus the old one's on the same
deal: -2 to 2 in steps of 1/2.
"""


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


_REACH = 8  # places around the wanted distance that are first searched for an opponent
_BYE = -1  # the opponent of the bot that does not play

Two: TypeAlias = tuple[int, int]
"""Two bots by their numbers, the smaller one first."""

Met = Mapping[Two, int]
"""The number of times that each two bots have met."""


def default_rounds(bots: int) -> int:
    """Return the default number of rounds of a Swiss tournament with this many bots.

    It is twice that of a knock-out tournament, and at most the number of opponents of a bot
    (results: bench/STUDIES.md).

    >>> default_rounds(5), default_rounds(64), default_rounds(1000)
    (5, 12, 20)
    """
    return max(1, min(_count_opponents(bots), 2 * (bots - 1).bit_length()))


def _count_opponents(bots: int) -> int:
    """Return the rounds of a round robin: all opponents, and a bye if the number is odd."""
    return bots - 1 + bots % 2


def choose_bye(order: Sequence[int], byes: Mapping[int, int]) -> int | None:
    """Return the bot with the bye: the lowest in the order among those with the fewest byes.

    `order` has the bots, the best one first. None if their number is even.

    >>> choose_bye([4, 1, 0, 2, 3], {3: 1})
    2
    """
    if len(order) % 2 == 0:
        return None
    return min(reversed(order), key=lambda bot: byes.get(bot, 0))


def count_groups(number: int, rounds: int) -> int:
    """Return the number of groups into which the order is cut in a round, counted from 0.

    There is one group in the first half of the rounds, and many in the last round, so that the mean
    distance of two opponents in the order is about that in a round robin, a third of the field.

    >>> [count_groups(number, 12) for number in range(12)]
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 5, 9]
    """
    left = rounds - number
    return max(1, (3 * rounds + 2 * left) // (4 * left))  # 3/4 of rounds / left, rounded


def match(order: Sequence[int], met: Met, groups: int) -> list[Two]:
    """Pair the bots of an `order`, the best one first, by a minimum-cost perfect matching.

    The order is cut into `groups` of neighbours, in each of which the upper half meets the lower
    half. The number of bots is even. The cost counts first the rematches, so that none happens
    unless it is unavoidable, then the sum of squared differences between the distance of two
    opponents in the order and half the size of a group. Distances are limited to a reach around
    that half, which grows until all bots have an opponent.

    >>> match([0, 1, 2, 3], {}, groups=1), match([0, 1, 2, 3], {}, groups=2)
    ([(0, 2), (1, 3)], [(0, 1), (2, 3)])
    """
    groups = min(groups, len(order) // 2)
    reach = _REACH
    while reach < len(order):
        edges = [edge for edge in _edges(order, met, groups, reach) if not edge[2]]
        if len(found := _matching(order, groups, edges)) == len(order) // 2:
            return found
        reach *= 2
    return _matching(order, groups, [*_edges(order, met, groups, reach)])


_Edge: TypeAlias = tuple[int, int, int]
"""Two places of the order, the upper one first, and the number of times their bots have met."""


def _edges(order: Sequence[int], met: Met, groups: int, reach: int) -> Iterator[_Edge]:
    """Yield every two places whose distance differs from half a group by at most `reach`."""
    half = len(order) // (2 * groups)
    for upper, bot in enumerate(order):
        nearest, farthest = upper + max(1, half - reach), upper + half + reach
        for lower in range(nearest, min(len(order), farthest + 1)):
            two = min(bot, order[lower]), max(bot, order[lower])
            yield upper, lower, met.get(two, 0)


def _matching(order: Sequence[int], groups: int, edges: Iterable[_Edge]) -> list[tuple[int, int]]:
    """Return the maximum matching of minimum cost. Source: Galil 1986, in networkx."""
    import networkx  # takes 0.1 s, and only a Swiss tournament needs it

    bots = len(order)
    rematch = bots * (2 * groups * bots) ** 2  # exceeds the cost of all distances together
    graph = networkx.Graph()
    graph.add_nodes_from(range(bots))
    for upper, lower, times in edges:
        beside = 2 * groups * (lower - upper) - bots  # the difference from half a group, scaled
        graph.add_edge(upper, lower, weight=-(beside**2) - rematch * times)
    found = networkx.max_weight_matching(graph, maxcardinality=True)
    return [(order[min(two)], order[max(two)]) for two in sorted(map(sorted, found))]


def round_of_all(bots: Sequence[int], number: int) -> list[Two]:
    """Return the round with this number of a round robin. Source: the circle method.

    >>> round_of_all([0, 1, 2, 3], 0), round_of_all([0, 1, 2], 0)
    ([(0, 3), (1, 2)], [(1, 2)])
    """
    first, *others = [*bots, _BYE] if len(bots) % 2 else bots
    ring = [first, *others[number:], *others[:number]]
    half = len(ring) // 2
    return [two for two in zip(ring[:half], ring[: half - 1 : -1], strict=True) if _BYE not in two]


class SwissRounds(Rounds):
    """The rounds of a Swiss tournament, in each of which a pairing plays `pairs` pairs.

    The bots are ordered by their worth: the mean of their own score for a game and their opponents'
    scores, so that neither a bye nor weak opponents change a bot's place. Bots of equal worth, as
    all are at first, are in an order drawn from the seed, so that the order in which the run names
    them has no effect.
    """

    def __init__(self, tournament: Tournament) -> None:
        self.labels = tournament.labels
        self.pairs = tournament.pairs
        self.most = self.wanted = tournament.rounds
        places = {label: place for place, label in enumerate(self.labels)}
        self.numbers = [(places[two.bot], places[two.opponent]) for two in tournament.pairings]
        lots = [stream(tournament.seed, "swiss", label).random() for label in self.labels]
        self.drawn = sorted(range(len(lots)), key=lambda bot: (lots[bot], self.labels[bot]))
        self._by_two = {two: number for number, two in enumerate(self.numbers)}

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        """Return the pairs of this round; an empty list after the last or with one bot left."""
        playing = [bot for bot in self.drawn if self.labels[bot] not in out]
        if number >= self.wanted or len(playing) < 2:
            return []
        met = {self.numbers[pairing]: sum(five) // self.pairs for pairing, five in counts.items()}
        worth = self.worth(counts)
        order = sorted(playing, key=lambda bot: -worth[bot])
        rounds: Counter[int] = Counter()
        for two, times in met.items():
            rounds.update(dict.fromkeys(two, times))
        byes = {bot: number - rounds[bot] for bot in playing}
        ranges = []
        for two in self._pair_up(order, met, byes, number):
            pairing = self._by_two[min(two), max(two)]
            first = sum(counts.get(pairing, ()))
            ranges.append(PairRange(pairing, first, first + self.pairs))
        return sorted(ranges)

    def _pair_up(
        self, order: Sequence[int], met: Met, byes: Mapping[int, int], number: int
    ) -> Sequence[Two]:
        """Return the pairings: a round robin's if the rounds suffice for nearly all of it.

        So no choice by score can force a rematch later.
        """
        opponents = _count_opponents(len(self.drawn))
        if len(order) == len(self.drawn) and opponents <= self.wanted + 1:
            return round_of_all(self.drawn, number % opponents)
        bye = choose_bye(order, byes)
        playing = [bot for bot in order if bot != bye]
        return match(playing, met, count_groups(number, self.wanted))

    def worth(self, counts: Mapping[int, Counts]) -> list[Fraction]:
        """Return the worth of each bot as an exact fraction, the same on every machine.

        A bot's own share is its mean score in its games, 1/2 before its first game.
        """
        points, pairs = Counter[int](), Counter[int]()
        for pairing, five in counts.items():
            bot, opponent = self.numbers[pairing]
            quarters = sum(score * count for score, count in enumerate(five))
            points.update({bot: quarters, opponent: 4 * sum(five) - quarters})
            pairs.update({bot: sum(five), opponent: sum(five)})
        share = [
            Fraction(points[bot], 4 * pairs[bot]) if pairs[bot] else Fraction(1, 2)
            for bot in range(len(self.labels))
        ]
        theirs = [Fraction(0)] * len(share)
        for pairing, five in counts.items():
            bot, opponent = self.numbers[pairing]
            theirs[bot] += share[opponent] * sum(five)
            theirs[opponent] += share[bot] * sum(five)
        return [
            (own + theirs[bot] / pairs[bot]) / 2 if pairs[bot] else own
            for bot, own in enumerate(share)
        ]


def make_rounds(tournament: Tournament) -> Rounds:
    """Return the `Rounds` of a tournament; those of a stopping rule import numpy, which is slow."""
    if tournament.stop:
        made: Rounds = addons.find(tournament.stop.rounds)(tournament, tournament.stop)
        return made
    return SwissRounds(tournament) if tournament.rounds else GivenRounds(tournament)
