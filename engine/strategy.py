"""The protocols a bot follows: a Bot makes a Strategy from a Setup, for one game."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import NamedTuple, Protocol, TypeAlias

from engine.cards import Action
from engine.rules import Rules
from engine.state import Seat
from engine.view import View


class Clock:
    """The time a strategy may use: seconds per decision and per game, None for no limit.

    The referee starts and stops it; a strategy reads `decision`, `game` and `left()`.

    >>> Clock(decision=0.5, game=20.0).left()
    0.5
    """

    __slots__ = ("_since", "decision", "game", "used")

    def __init__(self, decision: float | None = None, game: float | None = None) -> None:
        self.decision = decision
        self.game = game
        self.used = 0.0
        self._since: float | None = None

    def left(self) -> float | None:
        """Return the seconds left for this decision, below 0 when it is late."""
        limit = self.limit()
        if limit is None or self._since is None:
            return limit
        return limit - (perf_counter() - self._since)

    def limit(self) -> float | None:
        """Return the seconds this decision may take from its beginning."""
        if self.game is None:
            return self.decision
        left = self.game - self.used
        return left if self.decision is None else min(left, self.decision)

    def start(self) -> None:
        """Begin a decision."""
        self._since = perf_counter()

    def stop(self) -> tuple[float, bool]:
        """End the decision; return the seconds it took, and whether that was in time."""
        seconds = 0.0 if self._since is None else perf_counter() - self._since
        self._since = None
        return seconds, self.spend(seconds)

    def spend(self, seconds: float) -> bool:
        """Count a decision of so many seconds, and return whether it was in time."""
        limit = self.limit()
        if limit is not None and seconds > limit:
            return False
        self.used += seconds
        return True


UNLIMITED = Clock()


class Setup(NamedTuple):
    """What a strategy gets before the game; fields may be added, none will be removed."""

    rng: Random
    seat: Seat
    rules: Rules
    clock: Clock = UNLIMITED


class Strategy(Protocol):
    """Plays one seat of one game."""

    def choose(self, view: View, /) -> Action:
        """Return one of `view.legal`."""


Bot: TypeAlias = Callable[..., Strategy]
"""Makes the strategy for one seat of one game, `bot(setup, **params)`; called for each game."""
