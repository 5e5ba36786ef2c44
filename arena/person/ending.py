"""Ending: how a person's game ended, in words, and what nobody could see until then."""

from __future__ import annotations

import textwrap

from arena.lanes.faults import Fault
from arena.person.board import WIDTH, Board, Line, listed, short
from arena.records.show import grouped
from engine import State, count, outcome
from engine.cards import CITY, cards_of
from engine.state import Seat
from engine.view import view

_KINDS_OF_FAULT = {
    "illegal": "an illegal action",
    "exception": "an exception",
    "timeout": "no answer in time",
    "crash": "its process ended",
    "protocol": "an answer that is none",
    "memory": "too much memory",
    "import": "it does not start",
}


def lines(
    state: State, fault: Fault | None, seat: Seat, naming: str, opponent: str, since: int
) -> list[Line]:
    """Return the last actions from a ply on, who has won and how, and what was hidden."""
    board = Board(view(state, seat), naming, opponent)
    found = board.events(since)
    if fault is not None:
        found += _forfeit(fault, short(opponent))
    else:
        found.append(Line(_won(state, seat, short(opponent)), "head"))
    found += [Line(""), *board.score(), Line("")]
    if board.hand:
        found += listed("you held", grouped(board.hand))
    if state.hands[1 - seat]:
        found += listed("bot held", grouped(board.named(cards_of(state.hands[1 - seat]))))
    return found + listed("removed", grouped(board.named(sorted(state.removed))))


def _won(state: State, seat: Seat, opponent: str) -> str:
    winner, win_type, score = outcome(state.piles, state.rules)
    if winner is None:
        return f"A draw at {score[0]} points each."
    who = "You win" if winner == seat else f"{opponent} wins"
    if win_type == "city":
        return f"{who} at once, with {count(state.piles[winner], CITY)} cities."
    if win_type == "tiebreak":
        return f"{who} the tie-break at {score[0]} points each."
    return f"{who} on points, {score[winner]} to {score[1 - winner]}."


def _forfeit(fault: Fault, opponent: str) -> list[Line]:
    """Return what the bot did wrong, with the evidence."""
    what = _KINDS_OF_FAULT.get(fault.kind, fault.kind)
    told = f"{opponent} forfeits ({what}, ply {fault.ply}): {fault.message}"
    found = [Line("You win.", "head"), *(Line(part) for part in textwrap.wrap(told, WIDTH))]
    for name, text in (("traceback", fault.traceback), ("printed", fault.output)):
        if text.strip():
            found.append(Line(f"{name}:"))
            found += [Line(f"  {line}"[:WIDTH]) for line in text.strip().splitlines()]
    return found
