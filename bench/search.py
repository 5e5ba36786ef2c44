"""How fast the search bots are: iterations a second, and the time of a decision."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from statistics import fmean
from time import perf_counter

from arena.batch.rollouts import action_values
from arena.entries.resolve import resolve
from bench import bare
from bench.engine import BARE_ASKED, Row
from bench.timing import paired
from bots.apprentice import own_network
from bots.champion import values_after
from bots.ismcts import Ismcts, Playout
from engine import STANDARD, Setup, State, View, sample_hand
from engine.state import random_deal
from engine.view import view

ASKED = 10_000
ITERATIONS = 500
GAMES = 6
SEARCHERS = ("flat_mc", "pimc", "ismcts", "champion", "grandmaster")
MOST = {"champion": "at most 50 ms", "grandmaster": "mean at most 50 ms, 120 ms at worst"}
WORLDS = 250


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
        figure = " / ".join(f"{1e3 * each:.0f}" for each in (fmean(times), typical, late, longest))
        what = f"{name}: a decision, ms (mean / median / 99 % / longest)"
        yield Row(what, figure, "", MOST.get(name, ""))
    yield _rollouts(first, rng)


def _rollouts(first: View, rng: Random) -> Row:
    """Return the time of a decision in rollouts of apprentice from the first ply on."""
    network = own_network()
    hands = [sample_hand(first, rng) for _ in range(WORLDS)]
    policies = [network.scores_in] * 2
    own, yardstick, _ = paired(
        lambda: action_values(first, hands, policies, values_after), lambda: bare.play(rng)
    )
    decisions = WORLDS * len(first.legal) * (STANDARD.round_plies - 1)
    each = own / decisions
    there = f"{1e6 * each / yardstick / BARE_ASKED:.1f} us there"
    return Row("rollouts of apprentice: a decision, us", f"{1e6 * each:.1f}", there, "at most 4 us")


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
