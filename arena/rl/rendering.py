"""Board: a game of an environment as text, with what one seat knows of it."""

from __future__ import annotations

from typing import Any

from arena.games.match import Finished
from arena.records.board import Board, shorten
from arena.records.ending import format_ending
from engine import State
from engine.state import Seat
from engine.view import view

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
