"""Format a state for the terminal as one player sees it, and how a game ended."""

from __future__ import annotations

import textwrap

from arena.games.match import Finished
from arena.lanes.faults import KINDS, Fault
from arena.records.board import WIDTH, Board, Line, format_items, shorten
from arena.records.card_layout import group
from engine import State, count, outcome
from engine.cards import CITY, cards_of
from engine.state import Seat
from engine.view import view

_NAMING = "english"  # the default


def format_state(state: State, seat: Seat, opponent: str, since: int = 0) -> list[Line]:
    """Return the game as a seat sees it, beginning with the actions from a ply on.

    For a finished game it is the result, and the cards that were hidden.

    >>> state = State.from_text("555556666667777777888888882222334xxxyyyyzzCCC")
    >>> format_state(state, 0, "greedy")[0].text
    'Round 1 of 4: nobody has taken; greedy holds 5 cards'
    """
    if state.over:
        return format_ending(Finished(state), seat, _NAMING, opponent, since)
    return Board(view(state, seat), _NAMING, shorten(opponent)).lines(since)


def format_ending(
    finished: Finished, seat: Seat, naming: str, opponent: str, since: int
) -> list[Line]:
    """Return the actions from a ply on, the winner, the win type, and the hidden cards."""
    state = finished.state
    board = Board(view(state, seat), naming, shorten(opponent))
    lines = board.events(since) + format_result(finished, seat, shorten(opponent))
    lines += [Line(""), *board.score(), Line("")]
    if board.hand:
        lines += format_items("you held", group(board.hand))
    if state.hands[1 - seat]:
        lines += format_items("bot held", group(board.layout.see(cards_of(state.hands[1 - seat]))))
    return lines + format_items("removed", group(board.layout.see(sorted(state.removed))))


def format_result(finished: Finished, seat: Seat, opponent: str) -> list[Line]:
    """Return the winner and the win type, or the bot's fault with its evidence."""
    if finished.fault is not None:
        return _explain_forfeit(finished.fault, len(finished.state.history), opponent)
    return [Line(_result(finished.state, seat, opponent), "head")]


def _result(state: State, seat: Seat, opponent: str) -> str:
    winner, win_type, score = outcome(state.piles, state.rules)
    if winner is None:
        return f"A draw at {score[0]} points each."
    subject = "You win" if winner == seat else f"{opponent} wins"
    if win_type == "city":
        return f"{subject} at once, with {count(state.piles[winner], CITY)} cities."
    if win_type == "tiebreak":
        return f"{subject} the tie-break at {score[0]} points each."
    return f"{subject} on points, {score[winner]} to {score[1 - winner]}."


def _explain_forfeit(fault: Fault, ply: int, opponent: str) -> list[Line]:
    """Return the bot's fault with its evidence."""
    what = KINDS[fault.kind].text if fault.kind in KINDS else fault.kind
    text = f"{opponent} forfeits ({what}, ply {ply}): {fault.message}"
    lines = [Line("You win.", "head"), *(Line(part) for part in textwrap.wrap(text, WIDTH))]
    for name, evidence in (("traceback", fault.traceback), ("printed", fault.output)):
        if evidence.strip():
            lines.append(Line(f"{name}:"))
            lines += [Line(f"  {line}"[:WIDTH]) for line in evidence.strip().splitlines()]
    return lines
