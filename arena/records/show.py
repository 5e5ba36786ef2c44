"""Format a game record as text, ply by ply."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from arena.errors import counted
from arena.records.card_layout import Layout, group
from arena.records.naming import Naming
from engine import Record, State, breakdown, outcome, points
from engine.notation import parse_actions, parse_deal
from engine.view import view

_WIDTH = 80
PLAYERS = ("seat 0", "seat 1")
"""The default names of the players."""


def _format_items(head: str, items: Iterable[str]) -> list[str]:
    text = f"  {head:<7} {', '.join(items) or '-'}"
    return textwrap.wrap(text, _WIDTH, subsequent_indent=" " * 10)


def format_game(record: Record, naming: Naming, players: Sequence[str] = PLAYERS) -> Iterator[str]:
    """Yield the lines of a game; `players` are the names of seat 0 and of seat 1.

    Raises EngineError for a bad record, after the lines of the plies before the mistake.
    """
    state = State(parse_deal(record.deal, record.rules), record.rules)
    actions = parse_actions(record.actions)
    layout = Layout((view(state, 0), view(state, 1)), naming)
    if players != PLAYERS:
        for seat, player in enumerate(players):
            yield from textwrap.wrap(f"seat {seat}: {player}", _WIDTH, subsequent_indent="  ")
    yield "the deal"
    yield from _position(layout, state)
    number = 0
    for ply, action in enumerate(actions):
        if not state.over and state.round != number:
            number = state.round
            yield f"round {number}, {players[state.to_act]} begins"
        state.apply(state.checked(action))
        layout.follow((view(state, 0), view(state, 1)))
        move = layout.moves[-1]
        text = f"ply {ply}: {move.describe(players[move.seat])}"
        yield from textwrap.wrap(text, _WIDTH, subsequent_indent="  ")
        yield from _position(layout, state)
    yield from _ending(state, players)


def _position(layout: Layout, state: State) -> Iterator[str]:
    """Yield the row, hands, piles and score of a position."""
    yield from _format_items("row", [card.name for card in layout.row])
    for seat in (0, 1):
        yield from _format_items(f"hand {seat}", group(layout.hands[seat]))
    for seat in (0, 1):
        yield from _format_items(f"pile {seat}", group(layout.piles[seat]))
    yield from _format_items("score", ["{} : {}".format(*points(state.piles, state.rules))])


def _ending(state: State, players: Sequence[str]) -> Iterator[str]:
    winner, win_type, score = outcome(state.piles, state.rules)
    if not state.over:
        plies = len(state.history)
        yield f"unfinished after {counted(plies, 'ply', 'plies')}"
    elif winner is None:
        yield f"a draw, {score[0]} : {score[1]}"
    else:
        yield f"{players[winner]} wins by {win_type}, {score[0]} : {score[1]}"
    for seat, part in enumerate(breakdown(state.piles, state.rules)):
        majorities = " + ".join(str(value) for value in part.majorities if value) or "0"
        yield (
            f"  seat {seat}  majorities {majorities}, sets {part.sets}, "
            f"alliances {part.alliances}, betrayals {part.betrayals}"
        )
