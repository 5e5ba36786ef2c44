"""Algorithms that walk the whole tree: every decision in every iteration, and no luck."""

from __future__ import annotations

from typing import Any

import numpy as np

from arena.statistics.distributions import Floats
from bench.studies.baselines.game import Game, Shares


def lp(game: Game, _seed: int, _steps: int) -> Shares:
    """Return an optimal policy, by linear programming.

    Source: Koller, Megiddo, von Stengel, "Fast algorithms for finding randomized strategies in game
    trees", 1994.
    """
    return game.from_policy(game.exact.optimal())


def cfr_plus(game: Game, _seed: int, steps: int) -> Shares:
    """Return the average policy of CFR+, weighted by the iteration.

    Source: Tammelin, "Solving large imperfect information games using CFR+", 2014.
    """
    return _cfr(game, steps, gamma=1.0)


def dcfr(game: Game, _seed: int, steps: int) -> Shares:
    """Return the average policy of discounted CFR with alpha 1.5, beta 0 and gamma 2.

    Source: Brown and Sandholm, "Solving imperfect-information games via discounted regret
    minimization", 2019.
    """
    return _cfr(game, steps, gamma=2.0, alpha=1.5)


def _cfr(game: Game, steps: int, gamma: float, alpha: float | None = None) -> Shares:
    """Minimise regrets, one seat after the other; without `alpha`, none is kept below 0."""
    shares = [*game.uniform()]
    regrets = [np.zeros(size + 1) for size in game.sizes]
    sums = [np.zeros(size) for size in game.sizes]
    for step in range(1, steps + 1):
        for seat in (0, 1):
            _regret(game, seat, shares, regrets[seat])
            if alpha is None:
                np.maximum(regrets[seat], 0, out=regrets[seat])
            else:
                kept = step**alpha / (step**alpha + 1)
                regrets[seat] *= np.where(regrets[seat] > 0, kept, 0.5)
            regrets[seat][abs(regrets[seat]) < 1e-12] = 0  # else rounding would decide
            sums[seat] += step**gamma * game.plan(seat, shares[seat])
            shares[seat] = game.behave(seat, regrets[seat][:-1])
    return game.behave(0, sums[0]), game.behave(1, sums[1])


def _regret(game: Game, seat: int, shares: list[Floats], regrets: Floats) -> None:
    """Add to each sequence what its action would have won more than the policy."""
    own = np.append(shares[seat], 0.0)

    def value(worth: Any, rows: Any) -> Any:
        worth = np.where(rows < len(own) - 1, worth, 0.0)
        mean = (own[rows] * worth).sum(axis=1)
        regrets[rows] += worth - mean[:, None]
        return mean

    game.back_up(seat, game.gains(seat, game.plan(1 - seat, shares[1 - seat])), value)


def xfp(game: Game, _seed: int, steps: int) -> Shares:
    """Return the average of best responses to the average (extensive-form fictitious play).

    Source: Heinrich, Lanctot, Silver, "Fictitious self-play in extensive-form games", 2015.
    """
    plans = [game.plan(seat, game.uniform()[seat]) for seat in (0, 1)]
    for step in range(steps):
        best = [game.respond(seat, plans[1 - seat]) for seat in (0, 1)]
        for seat in (0, 1):
            plans[seat] += (best[seat] - plans[seat]) / (step + 2)
    return game.behave(0, plans[0]), game.behave(1, plans[1])


RATE, MAGNETISM, MOVES = 10.0, 0.01, 30
"""MMD's step size, its weight of the magnet, and iterations after which the magnet moves."""


def mmd(game: Game, _seed: int, steps: int) -> Shares:
    """Return the last policy of magnetic mirror descent whose magnet moves to where the policy is.

    It uses the dilated entropy, and both seats step at once. Source: Sokota and others, "A unified
    approach to reinforcement learning, quantal response equilibria, and two-player zero-sum games",
    2023.
    """
    shares = [np.append(part, 0.0) for part in game.uniform()]
    magnets = [part.copy() for part in shares]
    for step in range(steps):
        if step % MOVES == 0:
            magnets = [part.copy() for part in shares]
        plans = [game.plan(seat, shares[seat][:-1]) for seat in (0, 1)]
        for seat in (0, 1):
            _descend(game, seat, game.gains(seat, plans[1 - seat]), shares[seat], magnets[seat])
    return shares[0][:-1], shares[1][:-1]


def _descend(game: Game, seat: int, gains: Floats, own: Floats, magnet: Floats) -> None:
    """Take one step of mirror descent, in place: from the last decisions to the first."""
    weight = MAGNETISM + 1 / RATE

    def value(worth: Any, rows: Any) -> Any:
        with np.errstate(divide="ignore"):
            pull = np.log(own[rows]) / RATE + MAGNETISM * np.log(magnet[rows])
        scores = (worth + pull) / weight
        most = scores.max(axis=1, keepdims=True)
        parts = np.exp(scores - most)
        sums = parts.sum(axis=1, keepdims=True)
        own[rows] = np.maximum(parts / sums, np.where(rows < len(own) - 1, 1e-300, 0))
        return weight * (most + np.log(sums))[:, 0]

    game.back_up(seat, gains, value)


def psro(game: Game, seed: int, steps: int) -> Shares:
    """Return the equilibrium between populations that grow by exact best responses to it.

    Each begins with a random pure policy; the seed also decides between equal responses. Source:
    Lanctot and others, "A unified game-theoretic approach to multiagent reinforcement learning",
    2017; McMahan, Gordon, Blum, "Planning in the presence of cost functions controlled by an
    adversary", 2003.
    """
    rng = np.random.default_rng(seed)
    start = [game.plan(1, game.uniform()[1]), game.plan(0, game.uniform()[0])]
    both = [[game.respond(seat, 0 * start[seat], rng)] for seat in (0, 1)]
    results = np.array([[both[0][0] @ (game.payoffs[0] @ both[1][0])]])
    for _ in range(steps):
        plans = _mix(both, results)
        for seat in (0, 1):
            both[seat].append(game.respond(seat, plans[1 - seat], rng))
        first, second = np.array(both[0]), np.array(both[1])
        row = first[-1] @ (game.payoffs[0] @ second[:-1].T)
        column = first @ (game.payoffs[0] @ second[-1])
        results = np.column_stack([np.vstack([results, row]), column])
    plans = _mix(both, results)
    return game.behave(0, plans[0]), game.behave(1, plans[1])


def _mix(both: list[list[Floats]], results: Floats) -> list[Floats]:
    """Return the plan of each seat that is optimal among mixtures of its population."""
    odds = [_solve(results), _solve(-results.T)]
    return [share @ np.array(plans) for share, plans in zip(odds, both, strict=True)]


def _solve(results: Floats) -> Floats:
    """Return the probabilities of the rows of a matrix game that win most."""
    from scipy.optimize import linprog

    rows, columns = results.shape
    done: Any = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack([-results.T, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    assert done.success, done.message
    return np.asarray(done.x[:-1])
