"""The exceptions of the engine, each with the evidence that explains it.

EngineError
├── RulesError        rules that cannot be played
├── NotationError     a text that is not in the notation
├── DealError         cards that are not a deal of these rules
├── IllegalAction     an action that the rules forbid in this position
│   └── AfterEnd      an action after the game was over
└── RecordError       a text that is not a game record
"""

from __future__ import annotations

_LONGEST = 80  # characters of a value in a message
_START = 40  # characters of a text that cannot be read


class EngineError(Exception):
    """Any error the engine raises on purpose.

    >>> import engine
    >>> try:
    ...     engine.Record(deal="56", actions="T").replay()
    ... except EngineError as error:
    ...     print(error)
    the deal has 2 cards, not 45
    """


class RulesError(EngineError, ValueError):
    """Rules that cannot be played; the message shows the arithmetic."""


class NotationError(EngineError, ValueError):
    """A text that is not in the notation; `ply` is the place in a text of actions."""

    def __init__(self, message: str, ply: int | None = None) -> None:
        super().__init__(message)
        self.ply = ply


class DealError(EngineError, ValueError):
    """A deal that does not hold exactly the cards of the rules."""


class IllegalAction(EngineError, ValueError):
    """An action that is not legal at this ply; `ply` counts the actions before it.

    >>> import engine
    >>> state = engine.State.from_text("555556666667777777888888882222334xxxyyyyzzCCC")
    >>> state.checked(engine.CITY)
    Traceback (most recent call last):
    ...
    engine.errors.IllegalAction: illegal action 10 (C); legal: 5 T
    """

    def __init__(self, message: str, ply: int) -> None:
        super().__init__(message)
        self.ply = ply


class AfterEnd(IllegalAction):
    """An action that follows the end of the game."""


class RecordError(EngineError, ValueError):
    """A text that is not a game record."""


def show_start(text: str | bytes) -> str:
    """Return the first 40 characters of a text that is not in the format that was expected.

    >>> show_start("<!doctype html>"), len(show_start(100 * b"x"))
    ("'<!doctype html>'", 45)
    """
    whole = text.decode(errors="replace") if isinstance(text, bytes) else text
    start = ascii(whole[:_START])
    return start if len(whole) <= _START else f"{start}..."


def show(value: object) -> str:
    """Return the value as text for a message, shortened if it is long.

    >>> show("x" * 5), len(show("x" * 100))
    ("'xxxxx'", 83)
    """
    try:
        text = ascii(value)
    except (ValueError, RecursionError):  # an int of thousands of digits, a list in itself
        return "a value too long to print"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
