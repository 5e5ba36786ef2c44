"""OpenSpiel's own algorithms, on its own tree of the game: its policies, asked about our views."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any

from bench.studies.baselines.game import Game, Shares
from engine import Rules, sample


@cache
def tree(rules: Rules) -> Any:
    """Return the game with its whole tree in C++: 15 s of a processor for `hand3`, once."""
    from arena.addons.rl.spiel import load_game, pyspiel

    game = pyspiel.load_game(f"cached_tree(game={load_game(rules)})")
    pyspiel.CFRPlusSolver(game).evaluate_and_update_policy()
    return game


def adapted(game: Game, ask: Callable[[str], Mapping[int, float]]) -> Shares:
    """Return the policy of a function from an information state of OpenSpiel to probabilities."""
    return game.from_policy(lambda seen: ask(seen.to_text()))


def cfr_plus(game: Game, _seed: int, steps: int) -> Shares:
    """Return the average policy of `pyspiel.CFRPlusSolver`.

    Source: Tammelin, "Solving large imperfect information games using CFR+", 2014.
    """
    from arena.addons.rl.spiel import pyspiel

    solver = pyspiel.CFRPlusSolver(tree(game.rules))
    for _ in range(steps):
        solver.evaluate_and_update_policy()
    return adapted(game, solver.average_policy().action_probabilities)


def mccfr(game: Game, seed: int, steps: int) -> Shares:
    """Return the average policy of `pyspiel.ExternalSamplingMCCFRSolver`.

    Source: Lanctot and others, "Monte Carlo sampling for regret minimization in extensive games",
    2009.
    """
    from arena.addons.rl.spiel import follow, load_game, pyspiel

    solver = pyspiel.ExternalSamplingMCCFRSolver(tree(game.rules), seed + 1)
    for _ in range(steps):
        solver.run_iteration()
    average, plain, rng = solver.average_policy(), load_game(game.rules), Random(0)
    return game.from_policy(
        lambda seen: average.action_probabilities(follow(plain, sample(seen, rng)))
    )


def dcfr(game: Game, _seed: int, steps: int) -> Shares:
    """Return the average policy of OpenSpiel's `DCFRSolver`, which is written in Python.

    Source: Brown and Sandholm, "Solving imperfect-information games via discounted regret
    minimization", 2019.
    """
    from open_spiel.python.algorithms.discounted_cfr import DCFRSolver

    solver = DCFRSolver(tree(game.rules))
    for _ in range(steps):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    return adapted(game, lambda text: dict(enumerate(average.policy_for_key(text).tolist())))


def xfp(game: Game, _seed: int, steps: int) -> Shares:
    """Return the average policy of OpenSpiel's `XFPSolver`, which is written in Python.

    Source: Heinrich, Lanctot, Silver, "Fictitious self-play in extensive-form games", 2015.
    """
    from open_spiel.python.algorithms.fictitious_play import XFPSolver

    solver = XFPSolver(tree(game.rules))
    for _ in range(steps):
        solver.iteration()
    tables = solver.average_policy_tables()
    return adapted(game, lambda text: tables[int(text[0])][text])
