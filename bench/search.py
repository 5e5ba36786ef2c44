"""How fast the search bots are: iterations a second, and the time of a decision."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from time import perf_counter

from arena.entries.resolve import resolve
from bench import bare
from bench.engine import BARE_ASKED, Row
from bench.timing import paired
from bots.ismcts import Ismcts, Playout
from engine import STANDARD, Setup, State, View
from engine.state import random_deal
from engine.view import view

ASKED = 10_000
ITERATIONS = 500
GAMES = 10
SEARCHERS = ("flat_mc", "pimc", "ismcts", "champion")


def rows() -> Iterator[Row]:
    """Yield iterations a second from the first ply on, then each bot's decisions."""
    rng = Random(1)
    first = view(State(random_deal(rng)), 0)
    playouts: tuple[Playout, ...] = ("greedy", "uniform", "game")
    for playout in playouts:
        yield _iterations(first, playout, rng)
    for name in SEARCHERS:
        times = sorted(_decisions(name))
        typical, late, longest = times[len(times) // 2], times[len(times) * 99 // 100], times[-1]
        asked = "at most 50 ms" if name == "champion" else ""
        figure = f"{1e3 * typical:.0f} / {1e3 * late:.0f} / {1e3 * longest:.0f}"
        yield Row(f"{name}: a decision, ms (median / 99 % / longest)", figure, "", asked)


def _iterations(first: View, playout: Playout, rng: Random) -> Row:
    bot = Ismcts(Setup(rng, 0, STANDARD), iterations=ITERATIONS, playout=playout)
    own, _, ratio = paired(lambda: bot.search(first), lambda: bare.play(rng))
    there = f"{ratio * ITERATIONS:.2f} ({ratio * ITERATIONS * BARE_ASKED:,.0f} there)"
    what = f"iterations/s from the first ply, playouts {playout}"
    return Row(what, f"{ITERATIONS / own:,.0f}", there, f"{ASKED:,}")


def _decisions(name: str) -> Iterator[float]:
    """Yield the seconds of every decision with a choice, in games of a bot with itself."""
    entry = resolve(name)
    for game in range(GAMES):
        state = State(random_deal(Random(game)))
        players = [entry.create(Setup(Random(game), seat, STANDARD)) for seat in (0, 1)]
        while not state.over:
            seen = view(state, state.to_act)
            start = perf_counter()
            action = players[state.to_act].choose(seen)
            if len(seen.legal) > 1:
                yield perf_counter() - start
            state.apply(action)
