"""Check the options that environments are made with, and render their games as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from arena.batch.encoding import Bits, Encoding
from arena.errors import InputError, not_installed
from arena.games.match import Finished
from arena.records.board import Board, shorten
from arena.records.ending import format_ending
from engine import Rules, State, View
from engine.errors import RulesError, show
from engine.state import Seat
from engine.view import view

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


_NAMING = "english"


def format_board(state: State, seat: Seat, opponent: str, since: int = 0) -> str:
    """Return what a seat sees, beginning with what happened from a ply on.

    At the end it is who has won, and the cards that were hidden.

    >>> deal = "555556666667777777888888882222334xxxyyyyzzCCC"
    >>> print(format_board(State.from_text(deal), 0, "greedy").splitlines()[0])
    Round 1 of 4: nobody has taken; greedy holds 5 cards
    """
    if state.over:
        lines = format_ending(Finished(state), seat, _NAMING, opponent, since)
    else:
        lines = Board(view(state, seat), _NAMING, shorten(opponent)).lines(since)
    return "\n".join(line.text.rstrip() for line in lines)


class Rendered:
    """An environment whose game is shown as its render mode says."""

    metadata: dict[str, Any]
    render_mode: str | None
    _state: State
    _seen: int = 0  # plies that have been printed

    def _render(self, seat: Seat, opponent: str) -> str | None:
        """Return what a seat sees as text, or print it; without a mode warn that there is none."""
        if self.render_mode not in self.metadata["render_modes"]:
            from gymnasium import logger

            logger.warn("render() needs a render_mode, 'ansi' or 'human'")
            return None
        text = format_board(self._state, seat, opponent, self._seen)
        if self.render_mode == "ansi":
            return text
        self._seen = len(self._state.history)
        print(text, end="\n\n")
        return None
