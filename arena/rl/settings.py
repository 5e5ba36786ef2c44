"""Options: what the environments are made with, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from arena.batch.encoding import Bits, Encoding
from arena.errors import InputError, not_installed
from engine import Rules, View
from engine.errors import RulesError, show

Observe: TypeAlias = Callable[[View], Bits]

OBSERVATIONS = ("observation", "information_state")


def read_rules(rules: Mapping[str, Any] | Rules | None) -> Rules:
    """Return the published rules with these changes; raises InputError.

    >>> read_rules({"set_bonus": 4})
    Rules(set_bonus=4)
    """
    if isinstance(rules, Rules):
        return rules
    try:
        return Rules.from_changes({} if rules is None else rules)
    except RulesError as error:
        raise InputError(f"rules: {error}") from None


def read_observation(name: str, rules: Rules, *others: str) -> tuple[int, Observe]:
    """Return the size of the arrays of that name, and what makes them; raises InputError.

    `others` are names that the caller knows besides.

    >>> read_observation("information_state", Rules())[0]
    952
    """
    encoding = Encoding(rules)
    if name == "observation":
        return encoding.size, encoding.observation
    if name == "information_state":
        return encoding.information_size, encoding.information_state
    raise InputError(
        f"observation: {show(name)} is not one of: {', '.join((*OBSERVATIONS, *others))}"
    )


def read_render_mode(mode: str | None, modes: list[str]) -> str | None:
    """Return a render mode that there is; raises InputError."""
    if mode is None or mode in modes:
        return mode
    raise InputError(f"render_mode: {show(mode)} is not one of: {', '.join(modes)}")


def missing(library: str) -> InputError:
    """Return the error that says how to install a library of the extra `rl`."""
    return InputError(f"arena.rl: {not_installed(library, 'rl')}")
