"""How fast a vector of games from `make_vec` steps, and views become arrays.

Both beside the bare loop in the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from random import Random
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from arena.addons.rl import Encoding
from arena.batch.lockstep import Bits
from bench import bare
from bench.engine import BARE_ASKED, Row, positions
from bench.timing import each, paired
from engine import STANDARD
from engine.view import view

GAMES = 4096
SAMPLE = 2000  # random games that say how many decisions one has
VECTORS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("observations", {}, "1.00"),
    ("observations that are overwritten", {"copy": False}, ""),
    ("information states", {"observation": "information_state"}, ""),
    ("no observations", {"observation": "none"}, "2.00"),
)
"""What is measured of `make_vec`: its options, and the ratio to the bare loop that was asked."""


def rows() -> Iterator[Row]:
    """Yield the rows, each measured when it is asked for."""
    rng = Random(1)
    if find_spec("gymnasium"):
        yield from _vectors(rng)
    else:
        yield Row("make_vec", "not measured: needs the extra `rl`")
    views = [view(state, state.to_act) for state in positions(rng, 60)]
    _, yardstick, _ = paired(lambda: None, lambda: bare.play(rng), rounds=10)
    encoding = Encoding()
    for name in ("observation", "information_state"):
        own = each(f"encoding.{name}(item)", lambda: views, encoding=encoding)
        there = f"{1e6 * own / yardstick / BARE_ASKED:.1f} us there"
        asked = "at most 10 us" if name == "observation" else ""
        yield Row(f"{name.replace('_', ' ')} of a view, us", f"{1e6 * own:.1f}", there, asked)


AGAINST = {4096: "500,000", 512: "170,000"}
"""Games against `greedy`, and the learner's steps per CPU second that were asked."""


def _vectors(rng: Random) -> Iterator[Row]:
    """Yield a row for each way to make a vector: random play, the choice of actions included."""
    for count, asked in AGAINST.items():
        steps = count / cpu_seconds(stepping(count, {"opponent": "greedy"}))
        what = f"make_vec against greedy, {count:,} games, learner steps per CPU second"
        yield Row(what, f"{steps:,.0f}", "", asked)
    decisions = len(positions(rng, SAMPLE)) / SAMPLE
    for name, options, asked in VECTORS:
        own, _, ratio = paired(stepping(GAMES, options), lambda: bare.play(rng), rounds=20)
        what = f"make_vec, {GAMES:,} games with {name}, decisions/s"
        yield Row(what, f"{GAMES / own:,.0f}", f"{ratio * GAMES / decisions:.2f}", asked)


def cpu_seconds(work: Callable[[], Any], calls: int = 20, rounds: int = 20) -> float:
    """Return the CPU seconds of a call: the median of rounds, after one that is not counted."""
    found = []
    for _ in range(rounds + 1):
        start = process_time()
        for _ in range(calls):
            work()
        found.append((process_time() - start) / calls)
    return median(found[1:])


def stepping(count: int, options: dict[str, Any]) -> Callable[[], Any]:
    """Return what plays a random action in each game of a vector, and returns which games ended.

    The games are at all plies from the start: otherwise most would end in the same steps.
    """
    import gymnasium

    games = gymnasium.make_vec("arena.addons.rl.env:DistrictNoir-v0", num_envs=count, **options)
    luck = np.random.default_rng(1)
    _, infos = games.reset(seed=1)

    def step() -> Any:
        nonlocal infos
        _, _, ended, _, infos = games.step(draw(infos["action_mask"], luck))
        return ended

    for ply in range(STANDARD.game_plies):
        step()
        anew = np.arange(count) % STANDARD.game_plies == ply
        if anew.any():
            _, infos = games.reset(options={"reset_mask": anew})
    return step


def draw(masks: np.ndarray, luck: np.random.Generator) -> Bits:
    """Return a random legal action of each game."""
    legal = masks.T  # as they lie in memory: a row of all games for each action
    wanted = (luck.random(len(masks)) * legal.sum(axis=0, dtype=np.int8)).astype(np.int8)
    passed = np.zeros(len(masks), np.int8)
    actions: Bits = np.zeros(len(masks), np.int8)
    for row in legal:
        passed += row
        actions += passed <= wanted
    return actions
