"""Record the times of a bot's decisions, and choose how many games one message covers."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from types import SimpleNamespace
from typing import Final, NamedTuple

import msgspec

from arena.lanes.limits import Limits
from engine import State
from engine.play import draw, play, setup
from engine.strategy import Spent

_STEPS = 16  # buckets for each doubling: 4 % wide
_CHEAP = 100e-6  # seconds: cheaper decisions are timed only in one pair of many
_TIMED = 64  # the decisions of cheap bots are timed once in this many of their games
_WEIGHED = 2  # which of these games is timed as a whole
_QUICK = 2e-3  # seconds: slower bots lose less than 5 % if asked about one game at a time
_LONGER = 4  # times as many games are timed after each further game that took long
_KNOWN = 100  # decisions, before a bot's mean is used
_MOST_SHARE = 0.25  # of a limit that the answers to one message may be expected to take


class Distribution(msgspec.Struct, array_like=True):
    """A histogram of the seconds that decisions took.

    >>> times = Distribution()
    >>> for seconds in (0.5, 0.25, 0.75):
    ...     times.add(seconds)
    >>> times.count, times.mean, times.longest
    (3, 0.5, 0.75)
    """

    count: int = 0
    total: float = 0.0
    longest: float = 0.0
    buckets: dict[int, int] = {}

    def add(self, seconds: float) -> None:
        """Count one decision."""
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)
        self._count(math.floor(math.log2(max(seconds, 1e-9)) * _STEPS), 1)

    def merge(self, other: Distribution) -> None:
        """Count the decisions that another Distribution has counted."""
        self.count += other.count
        self.total += other.total
        self.longest = max(self.longest, other.longest)
        for bucket, count in other.buckets.items():
            self._count(bucket, count)

    def _count(self, bucket: int, count: int) -> None:
        self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    @property
    def mean(self) -> float:
        """The mean of the seconds; 0 without decisions."""
        return self.total / self.count if self.count else 0.0

    def quantile(self, share: float) -> float:
        """Return the quantile of the seconds for this share of the decisions, within 4 %."""
        wanted = share * self.count
        counted = 0
        for bucket in sorted(self.buckets):
            counted += self.buckets[bucket]
            if counted >= wanted:
                return min(self.longest, math.exp2((bucket + 1) / _STEPS))
        return self.longest


class Timing(msgspec.Struct, array_like=True):
    """The times of a bot's decisions, by the wall clock and by processor time.

    `games` are the processor seconds of a ply, with the engine's part, in games without a clock.

    >>> timing = Timing()
    >>> timing.add(Spent(wall=0.5, cpu=0.25, before=0.125))
    >>> timing.decisions, timing.wall.mean, timing.cpu.mean
    (1, 0.5, 0.375)
    """

    wall: Distribution = msgspec.field(default_factory=Distribution)
    cpu: Distribution = msgspec.field(default_factory=Distribution)
    games: Distribution = msgspec.field(default_factory=Distribution)

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return self.wall.count

    def add(self, spent: Spent) -> None:
        """Count one decision."""
        self.wall.add(spent.wall)
        self.cpu.add(spent.cpu + spent.before)

    def merge(self, other: Timing) -> None:
        """Count the decisions that another Timing has counted."""
        self.wall.merge(other.wall)
        self.cpu.merge(other.cpu)
        self.games.merge(other.games)


class Speeds:
    """The seconds that games of each bot have lately taken, to expect those of further games.

    >>> speeds = Speeds()
    >>> speeds.learn(["quick", "slow"], 0.5)
    >>> speeds.learn(["quick", "even"], 0.1)
    >>> speeds.expect(["quick", "even"], 10), speeds.expect(["slow", "even"], 10)
    (3.0, 5.0)
    >>> speeds.expect(["quick", "unknown"], 10)
    inf
    """

    def __init__(self) -> None:
        self._of_game: dict[str, float] = {}

    def learn(self, pairing: Iterable[str], seconds: float) -> None:
        """Record the seconds of a game between two bots: half of what is expected is from it."""
        for label in pairing:
            self._of_game[label] = (self._of_game.get(label, seconds) + seconds) / 2

    def expect(self, pairing: Iterable[str], games: int) -> float:
        """Return the seconds of games of the slower bot, infinity if a bot has not played."""
        return games * max([self._of_game.get(label, math.inf) for label in pairing])


SPENT: Final = "CPU time: "
"""What the line on the processor time of a run begins with."""


class Spending(NamedTuple):
    """Where the processor seconds of a run went.

    `bots` is the time of their decisions, an estimate where a sample was timed. `engine` is all
    else that the workers used, with the start of processes. `parent` is what the program that hands
    out and stores games used meanwhile, and `files` what it used for tables and files at the end.
    """

    bots: float
    engine: float
    parent: float
    files: float

    def __str__(self) -> str:
        """Return it as a line.

        >>> print(Spending(1234.56, 0.5, 0.25, 12.0))
        CPU time: bots 1,234.6 s, engine 0.5 s, parent 0.2 s, files 12.0 s
        """
        parts = zip(self._fields, self, strict=True)
        return SPENT + ", ".join(f"{name} {seconds:,.1f} s" for name, seconds in parts)


class _Reading(NamedTuple):
    """The processor seconds that this process has used, and those of its ended children."""

    own: float
    children: float

    @classmethod
    def now(cls) -> _Reading:
        """Return what was used until now."""
        return cls(time.process_time(), sum(os.times()[2:4]))


class Clocks:
    """Reads where the processor seconds of a run go that begins now, with workers as children."""

    def __init__(self) -> None:
        self._began = self._ended = _Reading.now()
        self._plies: Counter[str] = Counter()  # of all games, by bot; half are its own

    def add(self, pairing: Iterable[str], plies: int) -> None:
        """Count the plies of games between two bots."""
        for label in pairing:
            self._plies[label] += plies

    def end_play(self) -> None:
        """Note that all games were played, and all workers have ended."""
        self._ended = _Reading.now()

    def read(self, timings: Mapping[str, Timing], here: float = 0.0) -> Spending:
        """Return the seconds until now, given the times of decisions by label.

        This process itself has played for the seconds `here`.

        A decision with a clock of its own is up to 4 us too long: a reading is in it, and slows
        what follows. So for cheap bots whole games count, if there are any, less the engine's part.
        """
        workers, engine = self._ended.children - self._began.children + here, _time_engine()
        bots = 0.0
        for label, timing in timings.items():
            of_game = max(0.0, timing.games.mean - engine)
            bots += (of_game if timing.games.count else timing.cpu.mean) * self._plies[label]
        bots = min(workers, bots / 2)
        files = _Reading.now().own - self._ended.own
        return Spending(bots, workers - bots, self._ended.own - self._began.own - here, files)


def _time_engine() -> float:
    """Return the processor seconds that the engine needs for a ply, the least of some games."""
    first = SimpleNamespace(choose=lambda view: view.legal[0])
    seconds = []
    for _ in range(_TIMED):
        begun, drawn = time.process_time(), draw(b"")
        state = State(drawn.deal)
        for seat in (0, 1):
            setup(drawn.lucks[seat], seat)
        play(state, (first, first))
        seconds.append((time.process_time() - begun) / len(state.history))
    return min(seconds)


class Pace:
    """What a worker knows about the time that its bots take.

    `programs` are the labels of bots that are not Python bots; `plies` is the most of a game.
    """

    def __init__(
        self, labels: Iterable[str], programs: Container[str], limits: Limits, plies: int
    ) -> None:
        self.programs = programs
        self.limits = limits
        self.plies = plies
        self._known = {label: Timing() for label in labels}
        self._cheap: set[str] = set()
        self._untimed = dict.fromkeys(self._known, 0)  # games since the last that was timed
        self._watched = dict.fromkeys(self._known, 0)  # games to come that are timed
        self._spans: Counter[str] = Counter()  # so many were to be timed last

    def learn(self, timings: Mapping[str, Timing]) -> None:
        """Add the times of decisions, by label."""
        for label, timing in timings.items():
            known = self._known[label]
            known.merge(timing)
            is_cheap = known.decisions > _KNOWN and known.wall.mean < _CHEAP
            (self._cheap.add if is_cheap else self._cheap.discard)(label)

    def needs_no_clock(self, labels: Iterable[str]) -> bool:
        """Return whether the decisions of the next game of these bots need not be timed.

        They must be cheap, and some of the last games of each bot must have been timed.
        """
        untimed = self._cheap.issuperset(labels)
        for label in labels:
            if self._watched[label]:
                self._watched[label] -= 1
                untimed = False
            untimed = untimed and self._untimed[label] < _TIMED - 1
        for label in labels:
            self._untimed[label] = self._untimed[label] + 1 if untimed else 0
        return untimed

    def weighs(self, labels: Iterable[str]) -> bool:
        """Return whether this game of bots, which has no clock, is timed as a whole.

        It is the second such game of each bot after one with a clock.
        """
        return any(self._untimed[label] == _WEIGHED for label in labels)

    def watch(self, labels: Iterable[str]) -> None:
        """Time the next games of bots after a game that took long without a clock.

        They are 64, then four times as many as before. So a machine that stalls does not slow the
        rest of a run (timed games take 2.4 times as long), and a bot that sleeps has few untimed
        games.
        """
        for label in labels:
            self._spans[label] = max(_TIMED, _LONGER * self._spans[label])
            self._watched[label] = self._spans[label]

    def most_games(self, label: str, most: int) -> int:
        """Return about how many games one message to a bot may cover, at most `most`.

        All answers together must arrive within the time for one of them. A program gets `most`.
        """
        if label in self.programs:
            return most
        known = self._known[label]
        seconds = known.wall.mean
        if known.decisions < _KNOWN or seconds > _QUICK:
            return 1
        of_game = math.inf if self.limits.game is None else self.limits.game / self.plies
        share = _MOST_SHARE * min(self.limits.decision, of_game)
        return max(1, min(most, int(share / max(seconds, 1e-9))))
