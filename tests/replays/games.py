"""Games to be looked at: random ones, and pairs that one seat cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import arena
from arena.replays.finished_game import Game
from engine import STANDARD, Record, Rules, Seat, State, sample, to_text
from engine.play import playout
from engine.state import random_deal
from engine.view import view


@cache
def game_with_thoughts() -> Game:
    """Return a game of 48 plies of two bots that say what they think; seat 0 wins on points."""
    return arena.play(
        "champion=champion(iterations=50)", "ismcts=ismcts(iterations=20)", seed=3, thoughts=True
    )


def random_record(rng: Random, rules: Rules = STANDARD, plies: int | None = None) -> Record:
    """Return a random game, or its first plies."""
    deal = random_deal(rng, rules)
    state = State(deal, rules)
    playout(state, rng)
    return Record(to_text(deal), to_text(state.history[:plies]), rules)


def city_record(rng: Random) -> Record:
    """Return a game that a City win has ended before the last round."""
    while True:
        record = random_record(rng)
        if len(record.actions) < 36:
            return record


def twin(record: Record, seat: Seat, rng: Random) -> Record:
    """Return another game that this seat cannot tell from a game, with other hidden cards."""
    state = record.replay()
    while True:
        world = sample(view(state, seat), rng)
        if world.hands[1 - seat] != state.hands[1 - seat] and world.removed != state.removed:
            return Record(to_text(world.deal()), record.actions, record.rules)


def twins(seat: Seat) -> Iterator[tuple[Record, Record]]:
    """Yield games that a seat cannot tell apart: unfinished ones, and one with a City win."""
    rng = Random(seat)
    for plies in (0, 1, 5, 17, 40):
        record = random_record(rng, plies=plies)
        yield record, twin(record, seat, rng)
    while True:
        record = city_record(rng)
        if record.replay().hands[1 - seat]:
            yield record, twin(record, seat, rng)
            return
