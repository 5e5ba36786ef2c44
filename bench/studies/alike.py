"""Leagues: how much bots are alike that are no copies, by their choices and their syntax trees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from arena.addons.league.copies import ask_moves, share_of_moves, share_of_trees
from arena.entries.resolve import installed, resolve
from arena.entries.syntax import find_tree, read_outline
from arena.lanes.limits import Limits
from engine import STANDARD

SEEDS = (1, 2, 3)
_LIKE = {"endgame": ("timing",)}  # it plays as this one until the last round
_SECONDS = 300.0  # so that slow bots answer at all positions


def _bases(name: str) -> set[str]:
    """Return a bot and all bots on which it is built: that it imports, or plays like on purpose."""
    found, waiting = {name}, [name]
    while waiting:
        name = waiting.pop()
        own = {*read_outline(resolve(name).source or b"").bots, *_LIKE.get(name, ())} - found
        found |= own
        waiting += own
    return found


def lines() -> Iterator[str]:
    """Yield the section of this study."""
    names = [name for name, _ in installed()]
    bases = {name: _bases(name) for name in names}
    trees = {name: find_tree(resolve(name).source or b"") for name in names}
    moves = {
        (name, seed): ask_moves(
            resolve(name, lane="process"), seed, STANDARD, Limits(decision=60.0), _SECONDS
        )
        for name in names
        for seed in SEEDS
    }
    yield f"""The bots of bots/, each two of them: at the positions of leagues with the seeds
{", ".join(map(str, SEEDS))}, the share at which both choose alike; and the share of the smaller
syntax tree that the other one has.

| two bots | number | choices alike: half below | 95 in 100 below | at most \
| syntax tree: half below | 95 in 100 below | at most |
|---|---|---|---|---|---|---|---|"""
    for is_built, what in (
        (False, "independent of one another"),
        (True, "one built on the other, or both on a third"),
    ):
        pairs = [two for two in combinations(names, 2) if is_built == bool(_common(bases, two))]
        alike = [
            share_of_moves(moves[one, seed], moves[other, seed])[0]
            for one, other in pairs
            for seed in SEEDS
        ]
        shared = [share_of_trees(trees[one], trees[other]) for one, other in pairs]
        yield f"| {what} | {len(pairs)} | {_quantiles(alike)} | {_quantiles(shared)} |"


def _common(bases: dict[str, set[str]], two: tuple[str, str]) -> set[str]:
    return bases[two[0]] & bases[two[1]]


def _quantiles(shares: list[float | None]) -> str:
    known = [share for share in shares if share is not None]
    return " | ".join(f"{100 * np.quantile(known, at):.0f} %" for at in (0.5, 0.95, 1.0))
