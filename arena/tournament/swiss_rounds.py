"""Choose the pairings of each round of a Swiss tournament by score, and the bot with the bye.

In each round the order of the bots is cut into groups, in which the upper half meets the lower
half. There are few groups at first, and many at the end. Where the rounds suffice for nearly all
opponents, they are those of a round robin. With the nearest opponents in every round, ratings of
real bots were spread 20 to 25 % wider than in the full round robin, because real results do not fit
the Elo model equally well at every rating difference. So the rating differences between opponents
must be similar to those in a round robin (figures: bench/STUDIES.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from typing import NamedTuple, TypeAlias

from arena.errors import InputError, not_installed
from arena.tournament.rounds import Counts, Rounds
from arena.tournament.schedule import PairRange
from arena.tournament.tournament import Tournament
from engine.seeds import stream

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
    opponents = bots - 1 + bots % 2  # and a bye if the number of bots is odd
    return max(1, min(opponents, 2 * (bots - 1).bit_length()))


def check_swiss(panel: Sequence[object], until: object) -> None:
    """Raise InputError for keys that exclude a Swiss tournament, and if networkx is missing."""
    if panel:
        raise InputError("format: a Swiss tournament has no panel")
    if until is not None:
        raise InputError("until: a Swiss tournament stops after its rounds")
    if not find_spec("networkx"):
        raise InputError(f"format: swiss: {not_installed('networkx', 'swiss')}")


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
        edges = [edge for edge in _edges(order, met, groups, reach) if not edge.times]
        if len(found := _matching(order, groups, edges)) == len(order) // 2:
            return found
        reach *= 2
    return _matching(order, groups, [*_edges(order, met, groups, reach)])


class _Edge(NamedTuple):
    """Two places of the order, the upper one first, and the number of times their bots have met."""

    upper: int
    lower: int
    times: int


def _edges(order: Sequence[int], met: Met, groups: int, reach: int) -> Iterator[_Edge]:
    """Yield every two places whose distance differs from half a group by at most `reach`."""
    half = len(order) // (2 * groups)
    for upper, bot in enumerate(order):
        nearest, farthest = upper + max(1, half - reach), upper + half + reach
        for lower in range(nearest, min(len(order), farthest + 1)):
            two = min(bot, order[lower]), max(bot, order[lower])
            yield _Edge(upper, lower, met.get(two, 0))


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
        bots = len(self.drawn)
        opponents = bots - 1 + bots % 2  # and a bye if the number of bots is odd
        if len(order) == bots and opponents <= self.wanted + 1:
            return round_of_all(self.drawn, number % opponents)
        bye = choose_bye(order, byes)
        playing = [bot for bot in order if bot != bye]
        return match(playing, met, count_groups(number, self.wanted))

    def worth(self, counts: Mapping[int, Counts]) -> list[Fraction]:
        """Return the worth of each bot as an exact fraction, the same on every machine."""
        share = self._shares(counts)
        opponents: list[list[tuple[int, int]]] = [[] for _ in self.labels]
        for pairing, five in counts.items():
            bot, opponent = self.numbers[pairing]
            opponents[bot].append((opponent, sum(five)))
            opponents[opponent].append((bot, sum(five)))
        worth = []
        for bot, met in enumerate(opponents):
            pairs = sum(times for _, times in met)
            theirs = sum((share[other] * times for other, times in met), Fraction(0))
            worth.append((share[bot] + theirs / pairs) / 2 if pairs else Fraction(1, 2))
        return worth

    def _shares(self, counts: Mapping[int, Counts]) -> list[Fraction]:
        """Return each bot's mean score in its games, 1/2 before its first game."""
        points: Counter[int] = Counter()
        most: Counter[int] = Counter()
        for pairing, five in counts.items():
            bot, opponent = self.numbers[pairing]
            quarters = sum(score * count for score, count in enumerate(five))
            whole = 4 * sum(five)
            points.update({bot: quarters, opponent: whole - quarters})
            most.update({bot: whole, opponent: whole})
        return [
            Fraction(points[bot], most[bot]) if most[bot] else Fraction(1, 2)
            for bot in range(len(self.labels))
        ]
