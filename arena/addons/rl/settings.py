"""Check the options that environments are made with, and render their games as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from arena.batch.lockstep import Bits, Encoding
from arena.errors import InputError, not_installed
from arena.store.board import format_state
from engine import Rules, State, View
from engine.errors import RulesError, show
from engine.state import Seat

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
    """Return the size of the arrays of a kind of observation, and the function that makes them.

    `others` are names that the caller handles itself. Raises InputError for unknown names.

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
    """Return a valid render mode; raises InputError."""
    if mode is None or mode in modes:
        return mode
    raise InputError(f"render_mode: {show(mode)} is not one of: {', '.join(modes)}")


def missing(library: str) -> InputError:
    """Return the error that says how to install a library of the extra `rl`."""
    return InputError(f"arena.addons.rl: {not_installed(library, 'rl')}")


class Rendered:
    """A base class of environments that show the game by their render mode."""

    metadata: dict[str, Any]
    render_mode: str | None
    _state: State
    _seen: int = 0  # plies that have been printed

    def _render(self, seat: Seat, opponent: str) -> str | None:
        """Return or print the game as a seat sees it; warn if there is no render mode."""
        if self.render_mode not in self.metadata["render_modes"]:
            from gymnasium import logger

            logger.warn("render() needs a render_mode, 'ansi' or 'human'")
            return None
        lines = format_state(self._state, seat, opponent, self._seen)
        text = "\n".join(line.text.rstrip() for line in lines)
        if self.render_mode == "ansi":
            return text
        self._seen = len(self._state.history)
        print(text, end="\n\n")
        return None
