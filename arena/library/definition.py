"""Definition: the statement that makes a class or function, and the names that it needs."""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Mapping
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

from arena.library.unshippable import Unshippable

Thing: TypeAlias = type | FunctionType

_TYPED = ("<ipython", "<stdin", "<python-input", "<doctest")


class Definition(NamedTuple):
    """The source of a class or function, and the names of its module that it uses.

    `eager` are those that the statement itself needs, `lazy` those that it needs when it is
    called, `optional` are in annotations that nobody evaluates. `attributes` are names after a
    dot. `future` is whether its annotations are not evaluated. `binds` are the names that a class
    statement binds, and `values` those that it binds to plain values.
    """

    text: str
    eager: frozenset[str]
    lazy: frozenset[str]
    optional: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    future: bool = False
    binds: frozenset[str] = frozenset()
    values: Mapping[str, object] = {}
    decorated: bool = False


def own_functions(thing: Thing) -> list[FunctionType]:
    """Return the function, or the functions of a class that its module has defined."""
    if isinstance(thing, FunctionType):
        return [thing]
    functions = []
    for value in vars(thing).values():
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        for part in (value.fget, value.fset) if isinstance(value, property) else (value,):
            function = inspect.unwrap(part) if callable(part) else part
            own = (thing.__module__, None)  # None: where names live in a plain dict
            if isinstance(function, FunctionType) and function.__module__ in own:
                functions.append(function)
    return functions


def namespace_of(thing: Thing) -> dict[str, Any]:
    """Return the names of the module in which a class or function was defined."""
    for function in own_functions(thing):
        if not is_generated(function):
            return function.__globals__
    return vars(sys.modules.get(thing.__module__, builtins))


def is_generated(function: FunctionType) -> bool:
    """Return whether a decorator has made a function from a text, as `dataclass` does."""
    name = function.__code__.co_filename
    return name.startswith("<") and not name.startswith(_TYPED)


def check_kind(thing: object) -> Thing:
    """Return a class or function itself, without its decorators.

    Raises Unshippable for anything else.
    """
    function = thing if isinstance(thing, type) else inspect.unwrap(thing)  # type: ignore[arg-type]
    if not isinstance(function, type | FunctionType):
        raise Unshippable(
            f"it is an object of the type {type(thing).__name__}; only a class or a function can "
            f"be sent, with `params` for its parameters"
        )
    if function.__name__ == "<lambda>":
        raise Unshippable("a lambda has no name; write it with def")
    return function
