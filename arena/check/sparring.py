"""Play the games of a check on a worker of this machine, as a run does; guess a rating of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from arena.check import SLOWER
from arena.check.item import NAMES, Item, Order, fail
from arena.entries.catalogue import ELO, place
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.entries.spec import Lane
from arena.errors import ArenaError
from arena.executors.local import Crew, open_crew
from arena.executors.log import QUIET, run_log
from arena.lanes.faults import Fault
from arena.tournament.plan import Chunk, Chunks, Played
from arena.tournament.rule_changes import name_of
from arena.tournament.schedule import Fixture
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament, replay_commands
from engine import STANDARD, Rules
from engine.state import Seat

if TYPE_CHECKING:
    from arena.statistics.intervals import Estimate

OPPONENTS = ("uniform", "greedy")
_LADDER = [*ELO]  # the opponents of the tournament: the rating may need each of them

VARIANTS = (
    Rules(take_size=3, tiebreak="supports", set_bonus=0),
    Rules(take_size=1, set_bonus=-4),
    Rules(take_size=7, opening_row=5, removed=0, cities_needed=2),
    Rules(removed=5, opening_row=0, cities_needed=1),
    Rules(majority_values=(8, 1, 0, 20), rounds=2, removed=23),
    Rules(hand_size=10, rounds=2),
    Rules(hand_size=3, rounds=7, take_size=3, opening_row=3, removed=0),
    Rules(hand_size=1, rounds=1, opening_row=8, removed=35),
    Rules(copies=(5, 6, 7, 8, 4, 2, 1, 3, 4, 2, 0), removed=0),
    Rules(copies=(9, 9, 9, 0, 0, 1, 1, 1, 6, 4, 5)),
)
"""Variants of the rules, each a playable game; together they change every number."""

_REACH = 400.0  # Elo points: beyond, more than 91 % of the points go to one of the two
_NEAREST = 5  # anchors: with five, the deviation of one pairing counts little
_AT_ONCE = 4  # pairs of a quick bot that are played together
_QUICK = 0.01  # seconds of a decision


class CutShort(ArenaError):
    """A bot has used up the time of its check."""


class Watch:
    """Ends a check whose bot has worked for `longest` seconds, or takes much longer by the clock.

    `working` is called several times a second with the name of the item in progress.
    """

    def __init__(self, working: Callable[[str], None], longest: float) -> None:
        self.working = working
        self.longest = longest
        self.stage = NAMES[0]
        self.used = 0.0  # seconds of processor time of the bot's decisions
        self._begun = time.monotonic()
        self._is_over = False  # then bots are only ended

    def begin(self, stage: str) -> None:
        """Note that an item is worked on from now on."""
        self.stage = stage
        self.look()

    def look(self) -> None:
        """Raise CutShort, once, if the bot has worked, or slept, for too long."""
        if self._is_over:
            return
        self._is_over = True
        self.working(self.stage)
        clock = time.monotonic() - self._begun
        if self.used > self.longest or clock > SLOWER * self.longest:
            done = f"in {clock:,.0f} s the bot used {self.used:,.0f} s of processor time"
            raise CutShort(f"cut short at {self.stage!r}: {done}")
        self._is_over = False


class Guilty(Exception):
    """The bot has a fault; the argument is the failed item, which has no name yet."""


class Games:
    """Games of a bot against bots of the arena; `actions` are those of games without a fault."""

    def __init__(self, tournament: Tournament, crew: Crew, queue: Chunks, watch: Watch) -> None:
        self.tournament = tournament
        self.actions: dict[Fixture, str] = {}
        self.scores: dict[Fixture, float] = {}
        self.timing = Timing()
        self.watch = watch
        self._crew = crew
        self._queue = queue

    def fixture(self, opponent: str, pair: int, seat: Seat) -> Fixture:
        """Return the place of a game against an opponent."""
        return self.tournament.fixture(_LADDER.index(opponent), pair, seat)

    def play_series(self, pairs: int) -> None:
        """Play pairs against each of the two first opponents; raises Guilty."""
        first = 0
        while first < pairs:
            most = _AT_ONCE if first and self.timing.wall.mean < _QUICK else 1
            for opponent in OPPONENTS:
                self.play(opponent, first, min(most, pairs - first))
            first += most

    def play(
        self, opponent: str, first: int, pairs: int = 1, seats: tuple[Seat, ...] = (0, 1)
    ) -> None:
        """Play some pairs against an opponent; raise Guilty for the bot's first fault."""
        number = _LADDER.index(opponent)
        for seat in seats:  # one by one: a crew that waits for its only chunk asks for more
            self._queue.left.append(Chunk(number, first, pairs, seats=(seat,)))
            for played in self._crew.play():
                self._take(opponent, played)

    def _take(self, opponent: str, played: Played) -> None:
        timing = played.timings.get(self.tournament.labels[0], Timing())
        self.timing.merge(timing)
        self.watch.used += timing.cpu.total
        for result in played.results:
            fixture = self.fixture(opponent, *result[:2])
            self.scores[fixture] = result.score
            if not result.fault:
                self.actions[fixture] = result.actions
            elif result.winner:
                rules = self.tournament.rules
                raise self.blame(result.fault, fixture, None, rules, f"at ply {result.plies} ")

    def score(self, opponent: str, pair: int) -> float:
        """Return the bot's score in a pair, from 0 to 2; raises Guilty."""
        fixtures = [self.fixture(opponent, pair, seat) for seat in (0, 1)]
        if fixtures[0] not in self.scores:
            self.play(opponent, pair)
        return sum(map(self.scores.__getitem__, fixtures))

    def command(self, fixture: Fixture, lane: Lane | None = None, rules: Rules = STANDARD) -> str:
        """Return the command that plays a game again, perhaps in another lane or under rules."""
        bot, *others = self.tournament.entries
        entries = [replace(bot, lane=lane or bot.lane), *others]
        return replay_commands(replace(self.tournament, entries=entries, rules=rules))(fixture)

    def blame(
        self, fault: Fault, fixture: Fixture, lane: Lane | None, rules: Rules, ply: str = ""
    ) -> Guilty:
        """Return the error for a fault of the bot in a game."""
        under = f"under {name_of(rules, STANDARD)}, " if rules != STANDARD else ""
        where = f"{under}{ply}against {fixture.pairing.opponent}"
        return Guilty(fail("", fault, where, self.command(fixture, lane, rules)))


@contextmanager
def open_games(
    entry: Entry, order: Order, watch: Watch, rules: Rules = STANDARD
) -> Iterator[Games]:
    """Yield the games of a bot under these rules; the processes end with the block."""
    entries = [entry, *map(resolve, _LADDER)]
    tournament = Tournament("check", order.seed, 1, entries, rules, order.limits)
    queue = Chunks(look=watch.look)
    with (
        run_log(None, QUIET) as log,
        open_crew(1, queue, tournament, log, order.venue) as crew,
    ):
        if crew.here:
            crew.here.on_beat = lambda _: watch.look()
        yield Games(tournament, crew, queue, watch)


def find_parting(first: str, second: str) -> int:
    """Return the first ply at which two games differ.

    >>> find_parting("56T", "57T"), find_parting("56", "567")
    (1, 2)
    """
    plies = range(min(len(first), len(second)))
    return next((ply for ply in plies if first[ply] != second[ply]), len(plies))


class Climb:
    """A bot's pairs against the anchors (bots of known Elo), evenly over those in reach.

    `elos` are the anchors' ratings. `meet` plays a pair against the anchor with this number and
    returns the bot's score in it, from 0 to 2. `scores` has these scores for each anchor.
    """

    def __init__(self, elos: Mapping[str, float], meet: Callable[[int], float]) -> None:
        self.elos = elos
        self.meet = meet
        self.scores: list[list[float]] = [[] for _ in elos]

    def play(self, pairs: int) -> None:
        """Play pairs, each against one of the anchors in reach with the fewest pairs so far."""
        while pairs > 0:
            reach = self.in_reach()
            fewest = min(len(self.scores[anchor]) for anchor in reach)
            behind = [anchor for anchor in reach if len(self.scores[anchor]) == fewest]
            for anchor in behind[:pairs]:
                self.scores[anchor].append(self.meet(anchor))
            pairs -= len(behind)

    def in_reach(self) -> list[int]:
        """Return the nearest anchors, without those far stronger or far weaker than the bot.

        If no anchor is left, returns all of the nearest.
        """
        rating = self.rating().value
        far = [abs(elo - rating) for elo in self.elos.values()]
        near = sorted(range(len(far)), key=far.__getitem__)[:_NEAREST]
        return [anchor for anchor in near if far[anchor] < _REACH] or near

    def rating(self) -> Estimate:
        """Return the bot's rating; the ratings of the anchors are fixed."""
        from arena.statistics.ratings import PairScores, fit_one  # numpy takes 0.1 s

        sums = [
            PairScores(len(self.elos), anchor, len(own), sum(own), sum(score**2 for score in own))
            for anchor, own in enumerate(self.scores)
        ]
        return fit_one([*self.elos.values()], sums)

    def to_item(self) -> Item:
        """Return the item about the rating."""
        from arena.statistics.number_texts import write_estimate

        rating = self.rating()
        elo, low, high, _ = rating
        games = 2 * sum(map(len, self.scores))
        won = sum(map(sum, self.scores))
        by_anchor = {
            name: {"games": 2 * len(own), "score": sum(own)}
            for name, own in zip(self.elos, self.scores, strict=True)
        }
        figures = {"elo": elo, "low": low, "high": high, "games": games, "against": by_anchor}
        if won == games:
            message = f"{write_estimate(rating._replace(high=inf))}: won all of {games} games"
        elif won == 0:
            message = f"{write_estimate(rating._replace(low=-inf))}: won none of {games} games"
        else:
            message = f"about {write_estimate(rating, level=True)}, {place(elo)}"
            message += f": a first guess from {games} games"
        return Item("rating", "ok", message, figures=figures)
