"""Define the schedule of a run: its pairings, the order of its games, and who is out in it.

Pairs are played in turns, so that no pairing runs ahead. In each of the first turns every pairing
plays one pair: pair 0 of all, then pair 1. Later, a turn has a quarter of the pairs that a pairing
has played before. So in a run that is stopped, all pairings have about the same number of pairs.

A bot that has committed more faults than a run allows is out: it forfeits its remaining games.
These are counted in the order of the schedule, not in the order in which workers finish games: a
bot's games after its last allowed fault are forfeits, even if some of them were played already. So
the number of workers has no effect. Pairings of a turn are ordered by the labels of their bots. Of
the two games of a pair, the one in which the label that sorts first has seat 0 comes first. So the
order in which a config lists the bots has no effect. The fault "idle" is an exception: a bot has
used up the time that it may sleep in a whole run. The game that this ends depends on the games
played before it, so the two games of such a pair keep the order in which they were played. A run of
several rounds adds each round to the schedule when the round begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from arena.errors import counted
from arena.lanes.faults import count_strikes
from arena.statistics.counts import BY_RULE, Faults
from arena.tournament.config_keys import Pairs
from arena.tournament.match import GameResult
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


_NOUNS = {
    "illegal": "illegal action",
    "exception": "exception",
    "timeout": "timeout",
    "idle": "idle fault",
    "crash": "crash",
    "protocol": "invalid answer",
    "memory": "memory fault",
    "import": "failed start",
    "params": "failed start",
}
"""The nouns, singular and plural, with which faults of each kind are counted."""
_IDLE = "idle"


class Forfeits(NamedTuple):
    """Forfeits by rule of one pairing, as numbers of games: from 0, two for each pair.

    `loser` is 0 for the pairing's first bot, 1 for its opponent.
    """

    pairing: int
    first: int
    end: int
    loser: int


class Strikes:
    """Counts faults; `out` has the labels of bots with too many, in the order of their exclusion.

    The schedule begins with `pairs` pairs of every pairing; it is empty if `pairs` is 0.
    """

    def __init__(self, pairings: Sequence[Pairing], pairs: int, most: int) -> None:
        self.pairings = pairings
        self.most = most
        self.out: dict[str, int] = {}  # the order of going out, by label
        self._due: list[Forfeits] = []
        self._strikes: Counter[str] = Counter()
        self._kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._ranges: dict[int, PairRange] = {}  # the ranges of this round, by pairing
        self._ranks: dict[int, int] = {}  # the ranks of the pairings within a turn
        self._schedule: Iterator[PairRange] = iter(())
        self._next: PairRange | None = None  # the first range of the schedule that is not settled
        self._finished: dict[tuple[int, int], tuple[int, list[GameResult]]] = {}
        if pairs:
            self.extend(single_round(pairings, pairs))

    def extend(self, ranges: Sequence[PairRange]) -> None:
        """Add a round to the schedule; all pairs of earlier rounds must be finished."""
        ranges = sorted(ranges, key=lambda span: (sorted(self.pairings[span.pairing]), span))
        self._ranges = {span.pairing: span for span in ranges}
        self._ranks = {span.pairing: rank for rank, span in enumerate(ranges)}
        self._schedule = in_turns(ranges)
        self._next = next(self._schedule, None)

    def place_of(self, pairing: int, pair: int) -> tuple[int, int]:
        """Return the turn of this round that contains a pair, and the pairing's place in it."""
        return turn_of(pair - self._ranges[pairing].first), self._ranks[pairing]

    def turn_end(self, pairing: int, pair: int) -> int:
        """Return the number of the pair with which the turn after the turn of `pair` begins.

        The only pairing of a round plays all its pairs in one turn.
        """
        span = self._ranges[pairing]
        return span.end if len(self._ranges) == 1 else span.first + turn_end(pair - span.first)

    def is_out(self, pairing: int) -> bool:
        """Return whether the unplayed games of a pairing are forfeits by rule."""
        return bool(self.out) and any(label in self.out for label in self.pairings[pairing])

    def finish(
        self, pairing: int, first: int, pairs: int, forfeits: Iterable[GameResult] = ()
    ) -> None:
        """Record that these pairs have been played, or were skipped because of `is_out`.

        They are within one range. `forfeits` are their games that were ended by a fault.
        """
        games = [*forfeits]
        end = first + pairs
        while first < end:
            until = end if first + 1 == end else min(end, self.turn_end(pairing, first))
            own = [game for game in games if first <= game.pair < until]
            self._finished[pairing, first] = until - first, own
            first = until
        while self._next and self._next[:2] in self._finished:
            number, start, stop = self._next
            width, own = self._finished.pop((number, start))
            if own or self.out:
                self._settle(number, start, width, own)
            start += width
            is_left = start < stop
            self._next = PairRange(number, start, stop) if is_left else next(self._schedule, None)

    def take_due(self) -> list[Forfeits]:
        """Return the forfeits by rule that follow from the settled games, each once."""
        due, self._due = self._due, []
        return due

    def describe_out(self) -> dict[str, str]:
        """Describe the faults of each bot that is out, by label, in the order of going out."""
        return {label: count_faults(self._kinds[label]) for label in self.out}

    def _settle(self, pairing: int, first: int, pairs: int, games: list[GameResult]) -> None:
        end = 2 * (first + pairs)
        if self.is_out(pairing):
            self._forfeit(pairing, 2 * first, end)
            return
        is_turned = self.pairings[pairing].bot > self.pairings[pairing].opponent
        late = {game.pair for game in games if game.fault and game.fault.kind == _IDLE}

        def is_second(game: GameResult) -> bool:
            return game.seat == (game.pair in late or not is_turned)

        for game in sorted(games, key=lambda game: (game.pair, is_second(game))):
            label = self.pairings[pairing][game.winner == 0]
            assert game.fault is not None
            kind = game.fault.kind
            self._kinds[label][kind] += 1
            self._strikes[label] += count_strikes(kind, self.most)
            if self._strikes[label] >= self.most:
                self.out[label] = len(self.out)
                other = 2 * game.pair + 1 - game.seat
                if not is_second(game):
                    self._forfeit(pairing, other, other + 1)
                self._forfeit(pairing, 2 * game.pair + 2, end)
                return

    def _forfeit(self, pairing: int, first: int, end: int) -> None:
        """Add forfeits by rule; if both bots are out, the one that went out first loses."""
        if first < end:
            worst = len(self.out)
            order = [self.out.get(label, worst) for label in self.pairings[pairing]]
            self._due.append(Forfeits(pairing, first, end, order.index(min(order))))


def count_faults(kinds: Mapping[str, int]) -> str:
    """Describe the number of faults of each kind in words.

    >>> count_faults({"timeout": 1}), count_faults({"timeout": 3, "crash": 2})
    ('1 timeout', '3 timeouts and 2 crashes')
    """
    nouns: Counter[str] = Counter()
    for kind, number in kinds.items():
        nouns[_NOUNS[kind]] += number
    texts = [counted(n, noun, "crashes" if noun == "crash" else "") for noun, n in nouns.items()]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def find_out(pairings: Sequence[Pairing], faults: Iterable[Faults], max_faults: int) -> set[str]:
    """Return the labels of the bots that had too many faults.

    >>> faults = [Faults(0, 1, "exception", 3), Faults(0, 1, "max_faults", 10)]
    >>> find_out([Pairing("a", "b")], faults, max_faults=3)
    {'b'}
    """
    counts = sum_strikes(pairings, faults, max_faults)
    return {label for label, count in counts.items() if count >= max_faults}


def sum_strikes(
    pairings: Sequence[Pairing], faults: Iterable[Faults], max_faults: int
) -> Counter[str]:
    """Return how many faults each bot has committed, by its label; a final one is `max_faults`."""
    counts: Counter[str] = Counter()
    for pairing, loser, kind, games in faults:
        if kind != BY_RULE:
            counts[pairings[pairing][loser]] += games * count_strikes(kind, max_faults)
    return counts


def count_ended(faults: Iterable[Faults]) -> int:
    """Count the games that were ended by a fault, without unplayed forfeits by rule.

    >>> count_ended([Faults(0, 1, "exception", 3), Faults(0, 1, "max_faults", 10)])
    3
    """
    return sum(games for _, _, kind, games in faults if kind != BY_RULE)


def find_unrated(pairings: Sequence[Pairing], finished: Mapping[int, int]) -> set[str]:
    """Return the labels of the bots without a finished game, which is one not ended by a fault.

    `finished` is the number of such games of each pairing, by the pairing's number.

    >>> pairings = [Pairing("a", "b"), Pairing("a", "broken"), Pairing("b", "broken")]
    >>> find_unrated(pairings, {0: 10, 1: 0})
    {'broken'}
    """
    rated = {label for number, games in finished.items() if games for label in pairings[number]}
    return {label for pairing in pairings for label in pairing} - rated
