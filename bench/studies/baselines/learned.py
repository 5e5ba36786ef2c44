"""Algorithms that learn from games they play: networks in numpy, and the arena's search.

A network sees the information state: all that its seat has seen, actions in order included.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from arena.addons.rl.exact import estimate
from arena.batch.learner import Network, probabilities
from arena.batch.lockstep import Lockstep
from arena.batch.rollouts import by_seat
from bench.studies.baselines.game import Game, Shares
from bots.ismcts import bot as ismcts
from docs.examples.selfplay.ppo import Decisions, Options, learn
from engine import KINDS
from engine.encoding import ACTIONS

GAMES, EPOCHS, BATCH, RATE = 2048, 2, 1024, 2e-3
"""PPO's games of a lesson, how often it learns from them, decisions at a time, and Adam's rate."""

UNITS = (64, 64)
"""Hidden units of every network."""

SAMPLES = 4
"""How often a search is asked about a view, each time with another luck."""


def ppo(game: Game, seed: int, steps: int, entropy: float) -> Shares:
    """Return the last policy of the arena's PPO against itself, after `steps` lessons.

    The weight of the entropy falls to a tenth. Source: Schulman and others, "Proximal policy
    optimization algorithms", 2017; Rudolph and others, "Reevaluating policy gradient methods for
    imperfect-information games", 2025 (arXiv 2502.08938).
    """
    rng = np.random.default_rng(seed)
    size = game.features.shape[1]
    actor = Network.random([size, *UNITS, ACTIONS], rng, last=0.1)
    critic = Network.random([size + len(KINDS), *UNITS, 1], rng, last=0.1)
    options = Options(rate=RATE, entropy=entropy, epochs=EPOCHS, batch=BATCH)
    for step in range(steps):
        learn(actor, critic, _play(game, actor, rng), rng, options, step / steps)
    return game.from_rows(_odds(game, actor))


def _odds(game: Game, actor: Network) -> Any:
    return probabilities(actor(game.features), game.masks)


def _play(game: Game, actor: Network, rng: np.random.Generator) -> Decisions:
    """Play games of the actor against itself; return its decisions."""
    odds = _odds(game, actor).astype(np.float64)
    sums = odds.cumsum(axis=1)
    steps: list[Any] = []

    def choose(decisions: Any, seats: Any, games: Lockstep) -> Any:
        luck = rng.random((GAMES, 1)) * sums[decisions, -1:]
        actions = (sums[decisions] <= luck).sum(axis=1)
        behind = games.hands[1 - seats, :, np.arange(GAMES)].astype(np.float32)
        steps.append((decisions, behind, actions, seats))
        return actions

    won = game.play(GAMES, rng, choose)
    decisions, behind, actions, seats = map(np.stack, zip(*steps, strict=True))
    over = np.zeros(seats.shape, bool)
    over[-1] = True
    played = by_seat(seats, np.where(seats == 0, won, -won), over)
    chances = np.take_along_axis(odds[decisions], actions[..., None], axis=2)[..., 0]
    return Decisions(
        game.features[decisions], behind, game.masks[decisions], actions, chances, played
    )


def search(game: Game, seed: int, steps: int) -> Shares:
    """Return how often the arena's search of `steps` iterations chooses each action, of four times.

    It is the search alone: random playouts, and no exact ending. Few trials make a bot that draws
    lots look more exploitable than it is. Source: Cowling, Powley, Whitehouse, "Information set
    Monte Carlo tree search", 2012.
    """
    bot = partial(ismcts, iterations=steps, playout="game", positions=0)
    ask = estimate(bot, game.rules, SAMPLES, seed)
    return game.from_policy(lambda seen: ask(seen) if len(seen.legal) > 1 else {seen.legal[0]: 1.0})
