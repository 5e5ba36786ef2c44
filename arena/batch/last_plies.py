"""Exhaustive search of the last plies of games with all cards open."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from arena.batch.lockstep import Lockstep
from arena.batch.piles import Indices
from arena.batch.replay import Bools, Ints
from arena.batch.rollouts import WHOLE
from arena.batch.tally import DRAW
from engine import View, hands

OPEN: Final = 8
"""The number of plies before the end of the last round from which play is optimal."""

_TOGETHER = 1 << 7  # positions that are searched together: each has up to 576 leaves


class _Level(NamedTuple):
    """Positions at one ply: the chances of seat 0, and the seats to act in unfinished ones.

    `going_on` has the numbers of the unfinished ones. Their successors are the positions of the
    next level, grouped by position; `first` has the index of the first successor of each.
    """

    values: Ints
    going_on: Indices
    to_act: Indices
    first: Indices


def solve_open(games: Lockstep) -> Ints:
    """Return the chance of seat 0 in games in the last round if both seats see all cards.

    It is a whole number: 0 or WHOLE, or half of it for a draw.
    """
    values = np.empty(games.count, np.int64)
    for start in range(0, games.count, _TOGETHER):
        some = np.arange(start, min(start + _TOGETHER, games.count))
        values[some] = _back(_grow(games.select(some)))
    return values


def expect_open(seen: View) -> float:
    """Return a seat's estimate of seat 0's chance if from here on both seats see all cards.

    It is the mean over the possible hands of the other seat, weighted by their deals. The view is
    near the end of the last round.
    """
    packs, ways = zip(*hands(seen), strict=True)
    chances = solve_open(Lockstep.from_view(seen, packs))
    total = int(chances @ np.array(ways, np.int64))
    chance: float = total / (WHOLE * sum(ways))
    return chance


def _grow(games: Lockstep) -> list[_Level]:
    """Return the levels of the game tree, from the given positions on."""
    levels: list[_Level] = []
    while games.count:
        masks = _play_forced(games)
        values, going_on = np.zeros(games.count, np.int64), np.flatnonzero(~games.over)
        over = np.flatnonzero(games.over)
        winners = games.winners(over)
        values[over] = np.where(winners == DRAW, WHOLE // 2, WHOLE * (1 - winners))
        which, actions = np.nonzero(masks[going_on])
        counts = masks[going_on].sum(axis=1)
        levels.append(_Level(values, going_on, games.to_act[going_on], counts.cumsum() - counts))
        games = games.select(going_on[which])
        games.step(actions)
    return levels


def _play_forced(games: Lockstep) -> Bools:
    """Play forced moves while no game has a choice, and return the legal actions.

    A game ends here as soon as both seats have taken, because its piles are final (R7).
    """
    while True:
        games.over |= games.taken.all(axis=0)
        masks = games.legal() > 0
        if games.over.all() or masks.sum(axis=1).max() > 1:
            return masks
        games.step(masks.argmax(axis=1))


def _back(levels: list[_Level]) -> Ints:
    """Return the minimax values of the first level; seat 0 maximises."""
    after = levels[-1].values
    for level in levels[-2::-1]:
        best = np.maximum.reduceat(after, level.first)
        worst = np.minimum.reduceat(after, level.first)
        level.values[level.going_on] = np.where(level.to_act == 0, best, worst)
        after = level.values
    return after
