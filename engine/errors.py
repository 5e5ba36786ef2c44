"""The exceptions of the engine, each with the evidence that explains it.

EngineError
├── RulesError        numbers that make no playable game
├── NotationError     a text that is not in the notation
├── DealError         cards that are not a deal of these rules
├── IllegalAction     an action that the rules forbid in this position
│   └── AfterEnd      an action after the game was over
└── RecordError       a game record that is not one
"""

from __future__ import annotations


class EngineError(Exception):
    """Any error the engine raises on purpose."""


class RulesError(EngineError, ValueError):
    """Rules whose numbers make no playable game; the message shows the arithmetic."""


class NotationError(EngineError, ValueError):
    """A text that is not in the notation; `ply` is the place in a text of actions."""

    def __init__(self, message: str, ply: int | None = None) -> None:
        super().__init__(message)
        self.ply = ply


class DealError(EngineError, ValueError):
    """Cards that are not exactly the cards of the rules, or not as many."""


class IllegalAction(EngineError, ValueError):
    """An action that is not legal at this ply; `ply` counts the actions before it."""

    def __init__(self, message: str, ply: int) -> None:
        super().__init__(message)
        self.ply = ply


class AfterEnd(IllegalAction):
    """An action that follows the end of the game."""


class RecordError(EngineError, ValueError):
    """A text that is not a game record."""
