"""The protocols a bot follows: a Bot makes a Strategy from a Setup, for one game."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple, Protocol, TypeAlias

from engine.cards import Action
from engine.rules import Rules
from engine.state import Seat
from engine.view import View


class Clock(NamedTuple):
    """The time a strategy may use: seconds per decision, or None for no limit."""

    decision: float | None = None


class Setup(NamedTuple):
    """What a strategy is given before the game; fields may be added, none will go."""

    rng: Random
    seat: Seat
    rules: Rules
    clock: Clock = Clock()


class Strategy(Protocol):
    """Plays one seat of one game."""

    def choose(self, view: View, /) -> Action:
        """Return one of `view.legal`."""


Bot: TypeAlias = Callable[..., Strategy]
"""Makes the strategy for one seat of one game, `bot(setup, **params)`; called for each game."""
