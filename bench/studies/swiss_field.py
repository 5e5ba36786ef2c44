"""A Swiss tournament of 64 real cheap bots beside their full round robin, with games played."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pandas as pd

import arena

SEED = 64
PAIRS = 6
ROUNDS = (8, 12, 20)


def make_bots() -> list[str]:
    """Return the specs of 64 bots: cheap ones of the ladder with parameters."""
    patience = [1.0 + 0.5 * number for number in range(11)]
    bots = ["uniform"]
    bots += [f"{name}(patience={p})" for name in ("greedy", "majority", "timing") for p in patience]
    for slow in (2.0, 4.0, 6.0):
        bots += [
            f"city_hunter(city={city}, patience={slow})" for city in (3.0, 6.0, 9.0, 12.0, 15.0)
        ]
        bots += [f"denier(greed={greed}, patience={slow})" for greed in (0.0, 0.1, 0.2, 0.4, 0.8)]
    return bots


def play(bots: list[str], folder: str, **keys: object) -> arena.Results:
    """Play a tournament of these bots in a folder; a pair that it has is not played again."""
    config = {"bots": bots, "pairs": PAIRS, "seed": SEED, "name": "field", **keys}
    return arena.run(config=config, out=folder, progress=False)


def lines() -> Iterator[str]:
    """Yield the table of the section."""
    bots = make_bots()
    with tempfile.TemporaryDirectory() as folder:
        full = _ratings(play(bots, folder))
        yield (
            f"{len(bots)} bots, {PAIRS} pairs of each two that meet, seed {SEED}. The full round "
            f"robin has {PAIRS * (len(bots) - 1)} pairs of each bot; its ratings reach from "
            f"{full['elo'].min():.0f} to {full['elo'].max():.0f}.\n"
        )
        yield (
            "| rounds | pairs of each bot | full round robin's rating in the interval | half of "
            "the interval | mean distance | correlation |"
        )
        yield "|---|---|---|---|---|---|"
        for rounds in ROUNDS:
            swiss = _ratings(play(bots, folder, format="swiss", rounds=rounds))
            elo = full["elo"].reindex(swiss.index)
            inside = (swiss["elo_low"] <= elo) & (elo <= swiss["elo_high"])
            half = (swiss["elo_high"] - swiss["elo_low"]).mean() / 2
            yield (
                f"| {rounds} | {rounds * PAIRS} | {int(inside.sum())} of {len(bots)} "
                f"| {half:.0f} Elo | {(swiss['elo'] - elo).abs().mean():.0f} Elo "
                f"| {swiss['elo'].corr(elo):.3f} |"
            )


def _ratings(results: arena.Results) -> pd.DataFrame:
    return results.standings.set_index("bot")[["elo", "elo_low", "elo_high"]]
