"""Thoughts: a strategy's values of the actions at its last choice."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple, Protocol, runtime_checkable

from engine.cards import TAKE, Action
from engine.errors import show
from engine.state import checked
from engine.strategy import Strategy
from engine.view import View

_MOST = TAKE + 1  # actions
_MOST_NOTE = 200  # characters
_MOST_VISITS = 1 << 53  # smaller whole numbers are exact for every reader of JSON


class Thought(NamedTuple):
    """An action and its value: the chance of the seat to win after it, from 0 to 1.

    A draw is half a win. `visits` is how often a search tried the action, and `note` a line of at
    most 200 characters, such as what the decision has cost.

    >>> Thought(TAKE, 0.61, 120).visits
    120
    """

    action: Action
    value: float
    visits: int | None = None
    note: str = ""

    def __repr__(self) -> str:
        note = f", note={self.note!r}" if self.note else ""
        return f"Thought(action={self.action}, value={self.value}, visits={self.visits}{note})"


@runtime_checkable
class Thinker(Protocol):
    """A strategy with the optional method `thoughts`, which returns its values of actions.

    It is not called during games, but after each `choose` in the replay of a finished game (`arena
    game --thoughts`).

    >>> from random import Random
    >>> from bots.ismcts import bot
    >>> from engine import STANDARD, Setup
    >>> strategy = bot(Setup(Random(7), 0, STANDARD), iterations=100)
    >>> chosen = strategy.choose(View.from_text("0 5678C xy"))
    >>> isinstance(strategy, Thinker), max(strategy.thoughts(), key=lambda it: it.visits)[0]
    (True, 10)
    """

    def thoughts(self) -> Iterable[Thought]:
        """Return the strategy's values of legal actions at its last `choose`.

        Actions that it did not consider are left out; all are left out if it had no choice. The
        method must not use `setup.rng`: later choices would differ from those of the game.
        """


def said_thoughts(strategy: Strategy, view: View) -> tuple[Thought, ...] | None:
    """Return a strategy's thoughts on its last choice, made with this view, in order of action.

    None if it is not a Thinker. Raises IllegalAction, TypeError or ValueError for invalid thoughts.
    """
    return checked_thoughts(strategy.thoughts(), view) if isinstance(strategy, Thinker) else None


def checked_thoughts(said: Iterable[Any], view: View) -> tuple[Thought, ...]:
    """Return the thoughts on the actions of a view, each legal and only once, in order.

    >>> seen = View.from_text("0 5678C xy")
    >>> checked_thoughts([(10, 1), (0, 0.25, 7)], seen)
    (Thought(action=0, value=0.25, visits=7), Thought(action=10, value=1.0, visits=None))
    >>> checked_thoughts([(0, 0.25), (0, 0.5)], seen)
    Traceback (most recent call last):
    ValueError: `thoughts` names action 0 twice at ply 0
    """
    ply = len(view.history)
    found: dict[Action, Thought] = {}
    for one in islice(said, _MOST + 1):
        thought = _checked(one, view, ply)
        if thought.action in found:
            raise ValueError(f"`thoughts` names action {thought.action} twice at ply {ply}")
        found[thought.action] = thought
    return tuple([found[action] for action in sorted(found)])


def _checked(said: Any, view: View, ply: int) -> Thought:
    """Return one thought as plain numbers."""
    try:
        action, value, visits, note = Thought(*said)
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        what = f"an action, a value and visits at ply {ply}"
        raise TypeError(f"`thoughts` has {show(said)} in place of {what}") from None
    action = checked(action, view.legal, ply)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"`thoughts` has the value {number!r} at ply {ply}: not 0 to 1")
    if visits is not None and (type(visits) is not int or not 0 <= visits < _MOST_VISITS):
        raise ValueError(f"`thoughts` has {show(visits)} visits at ply {ply}: no such number")
    if type(note) is not str or len(note) > _MOST_NOTE or not note.isprintable():
        raise ValueError(f"`thoughts` has the note {show(note)} at ply {ply}: not a line of text")
    return Thought(action, number, visits, note)
