"""Record the times of a bot's decisions, and choose how many games one message covers."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from arena.lanes.limits import Limits
from engine.strategy import Spent

_STEPS = 16  # buckets for each doubling: 4 % wide
_CHEAP = 100e-6  # seconds: cheaper decisions are timed only in one pair of many
_TIMED = 64  # the decisions of cheap bots are timed once in this many of their games
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

    >>> timing = Timing()
    >>> timing.add(Spent(wall=0.5, cpu=0.25, before=0.125))
    >>> timing.decisions, timing.wall.mean, timing.cpu.mean
    (1, 0.5, 0.375)
    """

    wall: Distribution = msgspec.field(default_factory=Distribution)
    cpu: Distribution = msgspec.field(default_factory=Distribution)

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

    `workers` is the time of all bots and of those who ask them. `parent` is what the program that
    hands out and stores games used meanwhile, and `files` what it used for tables and files at the
    end.
    """

    workers: float
    parent: float
    files: float

    def __str__(self) -> str:
        """Return it as a line.

        >>> print(Spending(1234.56, 0.25, 12.0))
        CPU time: workers 1,234.6 s, parent 0.2 s, files 12.0 s
        """
        parts = zip(self._fields, self, strict=True)
        return SPENT + ", ".join(f"{name} {seconds:,.1f} s" for name, seconds in parts)


class Clocks:
    """Reads where the processor seconds of a run go that begins now, with workers as children."""

    def __init__(self) -> None:
        self._began = self._ended = _read_clocks()

    def end_play(self) -> None:
        """Note that all games were played, and all workers have ended."""
        self._ended = _read_clocks()

    def read(self, here: float = 0.0) -> Spending:
        """Return the seconds until now; this process itself has played for the seconds `here`."""
        own, children = (end - start for start, end in zip(self._began, self._ended, strict=True))
        return Spending(children + here, own - here, _read_clocks()[0] - self._ended[0])


def _read_clocks() -> tuple[float, float]:
    """Return the processor seconds that this process has used, and those of its ended children."""
    return time.process_time(), sum(os.times()[2:4])


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
