"""Hidden: whether a bot's moves depend on cards that it cannot see.

Each decision is asked again in a world drawn from the view: a new strategy with the same
seed plays the game from its beginning, and the opponent plays the actions of the record. The
bot's answers must be those of the record, because nothing it may look at is different.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from arena.check.item import Item, fail
from arena.check.loop import Loop
from arena.check.sparring import Sparring, find_parting
from arena.errors import counted
from arena.lanes.faults import Forfeit
from arena.tournament.schedule import Fixture
from engine import sample
from engine.cards import CHARS
from engine.notation import parse_actions
from engine.seeds import stream
from engine.state import State
from engine.view import view

NAME = "hidden cards"
_MOST_GAMES = 20


def check_hidden(loop: Loop, games: Mapping[Fixture, str], decisions: int) -> Item:
    """Ask so many decisions of some games again, in random order."""
    sparring = loop.sparring
    rng = stream(sparring.candidate.seed, "check", "hidden")
    questions = _questions(sparring, games, rng)[:decisions]
    for fixture, ply in questions:
        problem = _ask_again(loop, fixture, games[fixture], ply, rng)
        if problem is not None:
            return problem
    message = f"{counted(len(questions), 'decision')} asked again: the same answers"
    return Item(NAME, "ok", message, figures={"decisions": len(questions)})


def _questions(
    sparring: Sparring, games: Mapping[Fixture, str], rng: Random
) -> list[tuple[Fixture, int]]:
    """Return the decisions of some games that were not forced, in random order."""
    questions = []
    for fixture in [*games][:_MOST_GAMES]:
        state = _start(sparring, fixture)
        for ply, action in enumerate(parse_actions(games[fixture])):
            if state.to_act == fixture.seat and len(state.legal()) > 1:
                questions.append((fixture, ply))
            state.apply(action)
    rng.shuffle(questions)
    return questions


def _start(sparring: Sparring, fixture: Fixture) -> State:
    return State(fixture.draw(sparring.candidate.seed, sparring.rules).deal, sparring.rules)


def _ask_again(loop: Loop, fixture: Fixture, actions: str, ply: int, rng: Random) -> Item | None:
    """Ask one decision again; return what is wrong with the answer, None if nothing is."""
    sparring = loop.sparring
    state = _start(sparring, fixture)
    state.follow(parse_actions(actions[:ply]))
    try:
        world = sample(view(state, fixture.seat), rng)
        again = loop.play(fixture, deal=world.deal(), actions=actions, last=ply)[: ply + 1]
        if again == actions[: ply + 1]:
            return None
        if loop.play(fixture, actions=actions, last=ply)[: ply + 1] != actions[: ply + 1]:
            return Item(NAME, "none", "not tried: its answers differ with the same cards, too")
    except Forfeit as forfeit:
        return fail(NAME, forfeit.fault, "with other cards unseen", sparring.command(fixture))
    first = find_parting(again, actions)
    action = again[first] if again[first:] and again[first] in CHARS else "nothing"
    message = f"plays {action} at ply {first} where it played {actions[first]}: "
    message += "only cards it cannot see were different"
    return Item(NAME, "fail", message, "hidden", command=sparring.command(fixture))
