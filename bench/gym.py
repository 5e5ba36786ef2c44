"""How fast games step in lockstep, and views become arrays, beside the bare loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import numpy as np

from arena.rl import Encoding, Lockstep, random_deals
from arena.rl.encoding import Bits
from bench import bare
from bench.engine import BARE_ASKED, Row, positions
from bench.timing import each, paired
from engine.view import view

GAMES = 4096
SAMPLE = 2000  # random games that say how many decisions one has


def rows() -> Iterator[Row]:
    """Yield the rows, each measured when it is asked for."""
    rng = Random(1)
    decisions = len(positions(rng, SAMPLE)) / SAMPLE
    for name, is_seen, asked in (("observations", True, "1.00"), ("masks alone", False, "2.00")):
        step = stepping(is_seen)
        own, _, ratio = paired(step, lambda: bare.play(rng), rounds=20)
        what = f"{GAMES:,} games in lockstep, with {name}, decisions/s"
        yield Row(what, f"{GAMES / own:,.0f}", f"{ratio * GAMES / decisions:.2f}", asked)
    views = [view(state, state.to_act) for state in positions(rng, 60)]
    _, yardstick, _ = paired(lambda: None, lambda: bare.play(rng), rounds=10)
    encoding = Encoding()
    for name in ("observation", "information_state"):
        own = each(f"encoding.{name}(item)", lambda: views, encoding=encoding)
        there = f"{1e6 * own / yardstick / BARE_ASKED:.1f} us there"
        asked = "at most 10 us" if name == "observation" else ""
        yield Row(f"{name.replace('_', ' ')} of a view, us", f"{1e6 * own:.1f}", there, asked)


def stepping(is_seen: bool) -> Callable[[], None]:
    """Return what plays a random action in each of many games; those that end begin anew."""
    games, luck = Lockstep(GAMES), np.random.default_rng(1)
    games.begin(np.arange(GAMES), random_deals(GAMES, luck))

    def step() -> None:
        masks = games.observe()[1] if is_seen else games.legal()
        games.step(draw(masks, luck))
        ended = np.flatnonzero(games.over)
        games.begin(ended, random_deals(len(ended), luck))

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
