"""How fast the engine is, against the bare loop in the same run."""

from __future__ import annotations

import gc
import inspect
import textwrap
import tracemalloc
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from random import Random
from typing import Any, NamedTuple

import engine.state
from arena.entries.resolve import installed
from bench import bare
from bench.timing import each, paired, seconds, times_for
from bots.uniform import bot
from engine import Bot, State, outcome, play_game, playout, sample, sample_hand
from engine.state import random_deal
from engine.view import view

_FASTER = 1.18  # the bare loop's speed, beside that of the one the targets were set with
BARE_ASKED = round(44_000 * _FASTER)
"""Games/s that the bare loop would play on the machine the targets were set on."""

_BOTS = [name for name, _ in installed() if name not in ("grandmaster", "responder")]
"""The shipped bots but two, of which a game takes seconds."""
_ASKED = ("city_hunter", "greedy", "majority")


class Row(NamedTuple):
    """One line of the table: what, the figure, its ratio to the bare loop, what was asked."""

    what: str
    figure: str
    ratio: str = ""
    asked: str = ""


def rows() -> Iterator[Row]:
    """Yield the rows, each measured when it is asked for."""
    rng = Random(1)
    yield from _games(rng)
    yield from _bots(rng)
    yield from _playouts(rng)
    yield from _operations(rng)
    yield _variants(rng)
    yield _memory(rng)


def _games(rng: Random) -> Iterator[Row]:
    seeds = count()
    own, yardstick, ratio = paired(
        lambda: play_game(bot, bot, seed=next(seeds)), lambda: bare.play(rng)
    )
    yield Row("bare loop, games/s", f"{1 / yardstick:,.0f}", "1")
    wanted = f"{0.43 / _FASTER:.2f} (0.43 of the bare loop as it was)"
    yield Row("whole protocol, games/s", f"{1 / own:,.0f}", f"{ratio:.3f}", wanted)


def _bots(rng: Random) -> Iterator[Row]:
    """Yield for each shipped bot how long a game of uniform against it takes."""
    _, yardstick, _ = paired(lambda: None, lambda: bare.play(rng), rounds=10)
    for name in _BOTS:
        own = _seconds_per_game(import_module(f"bots.{name}").bot)
        there = f"{own / yardstick / BARE_ASKED * 1e6:,.0f} there"
        asked = "230" if name in _ASKED else ""
        yield Row(f"uniform - {name}, microseconds a game", f"{own * 1e6:,.0f}", there, asked)


def _seconds_per_game(other: Bot) -> float:
    """Return the seconds of a game: the best of ten rounds, or the mean of ten slow games."""
    seeds = count()

    def play() -> object:
        return play_game(bot, other, seed=next(seeds))

    times = times_for(play, 0.1)
    return seconds(play, 10) if times == 1 else min(seconds(play, times) for _ in range(10))


def positions(rng: Random, games: int) -> list[State]:
    """Return every position of some random games but the last."""
    states = []
    for _ in range(games):
        state = State(random_deal(rng))
        while not state.over:
            states.append(state.copy())
            state.apply(rng.choice(state.legal()))
    return states


def _playouts(rng: Random) -> Iterator[Row]:
    starts = {
        "the first ply": (State(random_deal(rng)), 25_000),
        "the middle of round 2": (middle_of_round_2(rng), 40_000),
    }
    for where, (start, asked) in starts.items():
        own, _, ratio = paired(lambda start=start: _playout(start, rng), lambda: bare.play(rng))  # type: ignore[misc]
        wanted = f"{asked / BARE_ASKED:.2f} ({asked:,} there)"
        yield Row(f"playouts/s from {where}", f"{1 / own:,.0f}", f"{ratio:.3f}", wanted)


def middle_of_round_2(rng: Random) -> State:
    """Return a random position after 18 actions."""
    while True:
        state = State(random_deal(rng))
        while not state.over and len(state.history) < 18:
            state.apply(rng.choice(state.legal()))
        if not state.over:
            return state


def _playout(start: State, rng: Random) -> object:
    state = start.copy()
    playout(state, rng)
    return outcome(state.piles)


def _operations(rng: Random) -> Iterator[Row]:
    states = positions(rng, 60)
    moves = [(state, rng.choice(state.legal())) for state in states]
    views = [view(state, state.to_act) for state in states]
    first = [view(State(random_deal(rng)), 0) for _ in range(500)]
    _, yardstick, _ = paired(lambda: None, lambda: bare.play(rng), rounds=10)
    names = {"rng": rng, "view": view, "sample": sample, "sample_hand": sample_hand}
    operations: list[tuple[str, str, Callable[[], list[Any]], float | None]] = [
        ("copy", "item.copy()", lambda: states, 0.4e-6),
        ("apply", "item[0].apply(item[1])", lambda: [(s.copy(), a) for s, a in moves], None),
        ("legal", "item.legal()", lambda: states, None),
        ("view", "view(item, item.to_act)", lambda: states, None),
        ("sample at the first ply", "sample(item, rng)", lambda: first, 8e-6),
        ("sample over all plies", "sample(item, rng)", lambda: views, 8e-6),
        ("sample_hand over all plies", "sample_hand(item, rng)", lambda: views, None),
    ]
    for name, statement, items, limit in operations:
        own = each(statement, items, **names)
        there = f"{own / yardstick / BARE_ASKED * 1e9:,.0f} ns there" if limit else ""
        asked = f"at most {limit * 1e9:,.0f} ns" if limit else ""
        yield Row(f"{name}, ns", f"{own * 1e9:,.0f}", there, asked)


def _variants(rng: Random) -> Row:
    """Compare playouts with those of an engine whose rules are constants in its code."""
    source = textwrap.dedent(inspect.getsource(State.apply))
    for number, value in (("take_size", "5"), ("city_pack", str(3 << 50))):
        assert f"self.rules.{number}" in source
        source = source.replace(f"self.rules.{number}", value)
    names = dict(vars(engine.state))
    exec(source, names)

    class Fixed(State):
        __slots__ = ()
        apply = names["apply"]

    deals = [random_deal(rng) for _ in range(200)]

    def play_all(kind: type[State]) -> Callable[[], None]:
        def play() -> None:
            luck = Random(5)
            for deal in deals:
                playout(kind(deal), luck)

        return play

    own, _, ratio = paired(play_all(State), play_all(Fixed), rounds=60)
    return Row(
        "playouts/s, of an engine without variants", f"{200 / own:,.0f}", f"{ratio:.3f} of it"
    )


def _memory(rng: Random) -> Row:
    """Return the memory of a game in the middle of round 2, without what all games share."""
    middle_of_round_2(rng)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    games = [middle_of_round_2(rng) for _ in range(2000)]
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Row("memory per live game, bytes", f"{(after - before) / len(games):,.0f}")
