"""Define how much time and memory a bot may use."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from engine.strategy import Clock, Spent

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
Latency: TypeAlias = Annotated[float, Meta(ge=0, le=10)]
Megabytes: TypeAlias = Annotated[int, Meta(ge=64, le=1_048_576)]

MOST_WAITING: Final = 0.1
"""Seconds that a turn may wait for a processor before the bot counts as idle."""

_SLOWER = 10  # the wall-clock limit is this many times as long, and at least:
_LEAST_BACKSTOP = 30.0
_DEFAULT_IDLE = (10.0, 60.0)


class Allowed(NamedTuple):
    """Limits of one answer in seconds: charged time, wall-clock time, and idle time."""

    charged: float = inf
    wall: float = inf
    idle: float = inf

    def describe(self, spent: Spent | None) -> str:
        """Describe the limit that an answer exceeded by taking this time.

        >>> Allowed(2.0, 30.0).describe(Spent(wall=31.0, cpu=0.5))
        '30 s by the wall clock'
        """
        if spent is None or spent.charged > self.charged:
            return f"{self.charged:g} s"
        return f"{self.wall:g} s by the wall clock"


def idle_seconds(spent: Spent) -> float:
    """Return the seconds that a bot slept in a turn: wall time that a busy machine cannot explain.

    A busy machine explains ten times the charged time, and 0.1 s more.

    >>> idle_seconds(Spent(wall=5.5, cpu=0.25)), idle_seconds(Spent(wall=2.0, cpu=0.25))
    (2.9, 0.0)
    """
    return max(0.0, round(spent.wall - _SLOWER * spent.charged - MOST_WAITING, 6))


class Budget:
    """The seconds of idle time that one worker still allows a bot in a run.

    >>> budget = Budget(10.0)
    >>> budget.spend(Spent(wall=5.1, cpu=0.0))
    >>> budget.left
    5.0
    """

    def __init__(self, seconds: float = inf) -> None:
        self.seconds = seconds
        self.left = seconds

    def spend(self, spent: Spent) -> None:
        """Subtract the idle time of a turn."""
        self.left -= idle_seconds(spent)


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a bot: seconds of processor time, or of wall-clock time if that is less.

    `backstop` limits the wall-clock time; None means ten times each limit, at least 30 s. For
    `idle`, None means ten times `decision`, at least 10 and at most 60 s.
    """

    decision: Annotated[Seconds, Meta(description="Seconds for a decision.")] = 10.0
    game: Annotated[
        Seconds | None,
        Meta(description="Seconds for all decisions of a game; no limit by default."),
    ] = None
    start: Annotated[Seconds, Meta(description="Seconds to start.")] = 10.0
    backstop: Annotated[
        Seconds | None,
        Meta(
            description="Seconds by the wall clock alone; by default ten times each limit, and at "
            "least 30."
        ),
    ] = None
    idle: Annotated[
        Seconds | None,
        Meta(
            description="Seconds that a bot may sleep in a run; by default ten times `decision`, "
            "from 10 to 60."
        ),
    ] = None
    latency: Annotated[
        Latency,
        Meta(
            description="Seconds of the network at most that are taken off the decisions of a bot "
            "that lives elsewhere; by default 1, in a league 0."
        ),
    ] = 1.0
    memory: Annotated[Megabytes, Meta(description="MB for all processes of a bot together.")] = 1024

    def changes(self) -> dict[str, Any]:
        """Return the limits that differ from the defaults.

        >>> Limits(decision=2.0).changes()
        {'decision': 2.0}
        """
        default = Limits()
        own = msgspec.structs.asdict(self)
        return {name: value for name, value in own.items() if value != getattr(default, name)}

    def backstop_of(self, seconds: float) -> float:
        """Return the wall-clock limit of an answer that may be charged this many seconds."""
        if self.backstop is None:
            return max(_LEAST_BACKSTOP, _SLOWER * seconds)
        return max(self.backstop, seconds)

    def budget(self) -> Budget:
        """Return a new budget of idle time for a run."""
        least, most = _DEFAULT_IDLE
        seconds = min(most, max(least, _SLOWER * self.decision)) if self.idle is None else self.idle
        return Budget(seconds)

    def clock(self) -> Clock:
        """Return the clock of a bot in a new game."""
        of_game = None if self.game is None else self.backstop_of(self.game)
        return Clock(self.decision, self.game, self.backstop_of(self.decision), of_game)

    @property
    def of_start(self) -> Allowed:
        """The limits of starting a bot's process."""
        return Allowed(self.start, self.backstop_of(self.start))

    def of_game(self, plies: int) -> float:
        """Return the seconds that a game of this many plies may be charged, with one start.

        >>> Limits(decision=2.0).of_game(48), Limits(decision=2.0, game=20.0).of_game(48)
        (106.0, 50.0)
        """
        both = 2 * self.game if self.game else plies * self.decision
        return self.start + min(both, plies * self.decision)

    @property
    def longest(self) -> Allowed:
        """The limits that no single answer of a bot may exceed."""
        seconds = max(min(self.decision, self.game or self.decision), self.start)
        return Allowed(seconds, self.backstop_of(seconds))
