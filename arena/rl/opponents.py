"""Opponents: the bots and functions that a learner plays against, in its own process."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, TypeAlias

from arena.entries.archive import checked_strategy
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from engine import Action, Bot, Rules, Setup, Strategy, View
from engine.errors import show

Choice: TypeAlias = Callable[[View], Action]
Given: TypeAlias = "str | os.PathLike[str] | Bot | Choice"
"""A spec, a class or function that makes strategies, or a function from a View to an action."""


class Opponent(NamedTuple):
    """A bot under the name that errors and infos call it by."""

    name: str
    bot: Bot

    def begin(self, setup: Setup) -> Strategy:
        """Return a strategy for one game; raises InputError for whatever the bot raises."""
        try:
            strategy: Strategy = checked_strategy(self.bot(setup))
        except (Exception, SystemExit) as error:
            raise self.explain(error) from error
        return strategy

    def explain(self, error: BaseException) -> InputError:
        """Return the error that says what this opponent raised."""
        return InputError(f"opponent {self.name!r}: {type(error).__name__}: {error}")


def find_opponents(given: Given | Sequence[Given], rules: Rules) -> list[Opponent]:
    """Return the opponents of a spec, a class, a function, or a list of these.

    A class is a bot, and so is a function whose first parameter is called `setup`. Any other
    function gets a View and returns an action. All of them play in this process, without
    limits and without protection, as in the lane inproc. Raises InputError that names an
    opponent that does not load, or that cannot begin a game under these rules.

    >>> [opponent.name for opponent in find_opponents(["greedy", "uniform"], Rules())]
    ['greedy', 'uniform']
    >>> find_opponents("greedi", Rules())
    Traceback (most recent call last):
        ...
    arena.errors.InputError: opponent 'greedi': no bot 'greedi' in bots/; did you mean greedy?
    """
    several = given if isinstance(given, list | tuple) else [given]
    if not several:
        raise InputError("opponent: the list is empty")
    opponents = [_find(one) for one in several]
    for opponent in opponents:
        opponent.begin(Setup(Random(0), 0, rules))
    return opponents


def _find(given: object) -> Opponent:
    """Return one opponent; raises InputError."""
    if isinstance(given, str | os.PathLike):
        return _of_spec(os.fspath(given))
    if not callable(given):
        raise InputError(f"opponent {show(given)}: neither a spec, a class nor a function")
    name = getattr(given, "__name__", type(given).__name__)
    if isinstance(given, type) or _first_parameter(given) == "setup":
        return Opponent(name, given)
    return Opponent(name, _Choosing(given))


def _of_spec(spec: str) -> Opponent:
    """Return the bot of a spec, loaded."""
    try:
        entry = resolve(spec)
    except InputError as error:
        raise InputError(f"opponent {str(error).removeprefix('bot ')}") from None
    if entry.command:
        raise InputError(
            f"opponent {spec!r}: a command has its own process; opponents play in the trainer's"
        )
    try:
        return Opponent(entry.label, _Loaded(entry))
    except (Exception, SystemExit) as error:
        raise Opponent(entry.label, entry.create).explain(error) from error


def _first_parameter(function: Callable[..., object]) -> str:
    """Return the name of the first parameter, or nothing where it cannot be known."""
    try:
        return next(iter(inspect.signature(function).parameters), "")
    except (TypeError, ValueError):
        return ""


class _Chooser:
    """A function as a strategy."""

    def __init__(self, choose: Choice) -> None:
        self.choose = choose


class _Choosing:
    """A function as a bot; it has a pickle if the function has."""

    def __init__(self, choose: Choice) -> None:
        self.choose = choose

    def __call__(self, _setup: Setup) -> Strategy:
        return _Chooser(self.choose)


class _Loaded:
    """The bot of a spec. Its pickle loads it, so that its strategies can be unpickled after it."""

    def __init__(self, entry: Entry) -> None:
        entry.load()
        self.entry = entry

    def __call__(self, setup: Setup) -> Strategy:
        return self.entry.create(setup)

    def __reduce__(self) -> tuple[type[_Loaded], tuple[Entry]]:
        return _Loaded, (self.entry,)
