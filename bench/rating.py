"""How long `arena.rate` takes for a table of games, beside the bare loop.

The games are made up: a bot has a strength, and a game is won by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from time import perf_counter

import numpy as np
import pandas as pd

import arena
from bench import bare
from bench.engine import BARE_ASKED, Row
from bench.timing import seconds

SIZES = ((10_000, "0.3 s"), (1_000_000, "10 s"))
BOTS = 10
_ROUNDS = 3


def rows(sizes: Sequence[tuple[int, str]] = SIZES) -> Iterator[Row]:
    """Yield the best seconds for tables of 10 bots, with pairs and without."""
    for games, asked in sizes:
        table = make_games(games)
        for what, columns in (("in pairs", []), ("single", ["pair", "seat"])):
            own, there = _measure(table.drop(columns=columns))
            name = f"arena.rate, {games:,} games of {BOTS} bots, {what}"
            yield Row(name, f"{own:.2f} s", f"{there:.2f} s there", asked)


def make_games(games: int) -> pd.DataFrame:
    """Return so many games of a round robin, two of each pair."""
    rng = np.random.default_rng(1)
    strengths = rng.normal(0, 0.5, BOTS)
    labels = np.array([f"bot{number}" for number in range(BOTS)], object)
    bot = np.repeat(rng.integers(0, BOTS, games // 2), 2)
    opponent = (bot + np.repeat(rng.integers(1, BOTS, games // 2), 2)) % BOTS
    won = rng.random(len(bot)) < 1 / (1 + np.exp(strengths[opponent] - strengths[bot]))
    number = np.arange(len(bot))
    return pd.DataFrame(
        {
            "bot": labels[bot],
            "opponent": labels[opponent],
            "winner": labels[np.where(won, bot, opponent)],
            "win_type": "points",
            "pair": number // 2,
            "seat": number % 2,
        }
    )


def _measure(table: pd.DataFrame) -> tuple[float, float]:
    """Return the best seconds of some rounds, here and where the bare loop is as was asked."""
    found = []
    play = partial(bare.play, Random(1))
    for _ in range(_ROUNDS):
        game = seconds(play, 2000)
        start = perf_counter()
        assert arena.rate(table).headline
        own = perf_counter() - start
        found.append((own, own / ((game + seconds(play, 2000)) / 2) / BARE_ASKED))
    return min(own for own, _ in found), min(there for _, there in found)
