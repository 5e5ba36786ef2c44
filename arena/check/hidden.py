"""Hidden: whether a bot's moves depend on cards that it cannot see.

Each decision is asked again in a world drawn from the view: a new strategy with the same
seed plays the game from its beginning, the opponent's actions being forced. Its answers
must be those of the record, because nothing it may look at is different.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from random import Random

from arena.check.item import Item, failed
from arena.check.loop import Loop
from arena.check.table import Number, Table, parting
from arena.lanes.faults import Forfeit
from engine.cards import CHARS, to_text
from engine.notation import parse_actions
from engine.seeds import stream
from engine.state import State
from engine.view import view
from engine.worlds import sample

NAME = "hidden cards"
_MOST_GAMES = 20


def asked_again(loop: Loop, games: Mapping[Number, str], seconds: float) -> Item:
    """Ask decisions of some games again, in random order, until the time is up."""
    table = loop.table
    rng = stream(table.candidate.seed, "check", "hidden")
    deadline = time.monotonic() + seconds
    questions = _questions(table, games, rng)
    asked = 0
    for number, ply in questions:
        if asked and time.monotonic() > deadline:
            break
        found = _other(loop, number, games[number], ply, rng)
        if found is not None:
            return found
        asked += 1
    of = f" of {len(questions):,}, its time was up" if asked < len(questions) else ""
    message = f"{asked:,} decisions asked again{of}: the same answers"
    return Item(NAME, "ok", message, figures={"decisions": asked})


def _questions(table: Table, games: Mapping[Number, str], rng: Random) -> list[tuple[Number, int]]:
    """Return the decisions of some games, but those that were forced, in random order."""
    found = []
    for number in [*games][:_MOST_GAMES]:
        state = State(table.deal(number), table.rules)
        for ply, action in enumerate(parse_actions(games[number])):
            if state.to_act == number.seat and len(state.legal()) > 1:
                found.append((number, ply))
            state.apply(action)
    rng.shuffle(found)
    return found


def _other(loop: Loop, number: Number, actions: str, ply: int, rng: Random) -> Item | None:
    """Ask one decision again; return what is wrong with the answer, None if nothing is."""
    table = loop.table
    state = State(table.deal(number), table.rules)
    state.follow(parse_actions(actions[:ply]))
    try:
        world = sample(view(state, number.seat), rng)
        deal = to_text(world.deal())
        again = loop.play(number, deal=deal, actions=actions, last=ply)[: ply + 1]
        if again == actions[: ply + 1]:
            return None
        if loop.play(number, actions=actions, last=ply)[: ply + 1] != actions[: ply + 1]:
            return Item(NAME, "none", "not tried: its answers differ with the same cards, too")
    except Forfeit as forfeit:
        return failed(NAME, forfeit, "with other cards unseen", table.command(number))
    first = parting(again, actions)
    told = again[first] if again[first:] and again[first] in CHARS else "nothing"
    message = f"plays {told} at ply {first} where it played {actions[first]}: "
    message += "only cards it cannot see were different"
    return Item(NAME, "fail", message, "hidden", command=table.command(number))
