"""Count the faults of bots; find the games that are forfeits by rule, and the bots without rating.

A bot that has committed more faults than a run allows is out: it forfeits its remaining games.
These are counted in the order of the schedule, not in the order in which workers finish games: a
bot's games after its last allowed fault are forfeits, even if some of them were played already. So
the number of workers has no effect.

The schedule is cut into turns (`arena.tournament.schedule.in_turns`); in each turn every pairing
has some pairs. Pairings of a turn are ordered by the labels of their bots. Of the two games of a
pair, the one in which the label that sorts first has seat 0 comes first. So the order in which a
config lists the bots has no effect. The fault "idle" is an exception: a bot has used up the time
that it may sleep in a whole run. The game that this ends depends on the games played before it, so
the two games of such a pair keep the order in which they were played. A run of several rounds adds
each round to the schedule when the round begins.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from arena.errors import counted
from arena.lanes.faults import count_strikes
from arena.statistics.counts import BY_RULE, Faults
from arena.tournament.match import GameResult
from arena.tournament.schedule import Pairing, PairRange, in_turns, single_round, turn_end, turn_of

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
