"""The PettingZoo environment is the engine's game, and passes the suite that PettingZoo ships.

`max_cycles_test` is not among them: it wants an argument `max_cycles` and agents that act all at
once, and PettingZoo itself runs it on none of its card and board games.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import (
    api_test,
    parallel_api_test,
    parallel_seed_test,
    seed_test,
    test_save_obs,
)

from arena.addons.rl import Encoding, aec, mask
from arena.addons.rl.env import DistrictNoirEnv
from engine import TAKE, Rules, outcome
from engine.view import view
from tests.positions import RULE_SETS

test_save_obs.__test__ = False  # PettingZoo's, not one of this file

BY_NAME = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
}
"""Warnings that PettingZoo gives of each game with masks but those of its own, by their names."""


def complaints(check: Callable[..., None], *arguments: Any) -> set[str]:
    """Return the warnings of one of PettingZoo's tests."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(*arguments)
    return {str(warning.message) for warning in caught}


@pytest.mark.parametrize("options", [{}, {"observation": "information_state"}])
def test_api_test(options: dict[str, Any]) -> None:
    """The environment with its wrappers, and bare."""
    assert complaints(api_test, aec.env(**options)) == BY_NAME
    bare = {"Environment has not defined a render() method"}
    assert complaints(api_test, aec.raw_env(**options), 100) == BY_NAME | bare


def test_seed_test() -> None:
    """The same seed gives the same game, in both forms."""
    assert complaints(seed_test, aec.env) == set()
    assert complaints(parallel_seed_test, aec.parallel_env) == set()


def test_parallel_api_test() -> None:
    """Through `turn_based_aec_to_parallel`."""
    assert complaints(parallel_api_test, aec.parallel_env()) == set()


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_it_is_the_engine_s_game(rules: Rules) -> None:
    """Each agent sees its own View, acts in turn, and gets what the outcome says."""
    game = aec.raw_env(rules=rules)
    encoding = Encoding(rules)
    rng = Random(5)
    for seed in range(2):
        game.reset(seed=seed)
        state = game._state
        while not state.over:
            assert game.agent_selection == f"seat_{state.to_act}"
            for seat, agent in enumerate(game.agents):
                seen = view(state, seat)
                shown = game.observe(agent)
                assert shown["observation"].tobytes() == encoding.observation(seen).tobytes()
                assert shown["action_mask"].tobytes() == mask(seen).tobytes()
                assert shown in game.observation_space(agent)
            assert not any(game.rewards.values())
            assert not any(game.terminations.values())
            game.step(rng.choice(state.legal()))
        winner, win_type, _ = outcome(state.piles, rules)
        signs = [0.0 if winner is None else 1.0 if winner == seat else -1.0 for seat in (0, 1)]
        assert [game.rewards[agent] for agent in game.agents] == signs
        assert all(game.terminations.values())
        assert not any(game.truncations.values())
        for info in game.infos.values():
            assert info == {"winner": -1 if winner is None else winner, "win_type": win_type}
        for agent in (*game.agents,):
            assert not game.observe(agent)["action_mask"].any()
            game.step(None)
        assert game.agents == []


@pytest.mark.parametrize("make", [aec.raw_env, aec.env])
def test_an_illegal_action_loses(make: Callable[[], Any]) -> None:
    """And the other agent wins."""
    game = make()
    game.reset(seed=1)
    game.step(TAKE)
    forbidden = np.flatnonzero(game.observe("seat_1")["action_mask"] == 0)
    game.step(int(forbidden[0]))
    assert game.rewards == {"seat_0": 1.0, "seat_1": -1.0}
    assert all(game.terminations.values())
    for agent in ("seat_0", "seat_1"):
        info = game.infos[agent]
        assert (info["winner"], info["win_type"]) == (0, "forfeit")
        assert info["illegal"].startswith("illegal action ")
        assert not game.observe(agent)["action_mask"].any()


def test_a_seed_deals_the_same_game_as_in_gymnasium() -> None:
    """And without a seed the deals go on."""
    game = aec.raw_env()
    env = DistrictNoirEnv("uniform", seat=0)
    first, _ = env.reset(seed=11)
    game.reset(seed=11)
    assert game.observe("seat_0")["observation"].tobytes() == first.tobytes()
    deals = []
    for _ in range(2):
        game.reset(seed=12)
        for _ in range(3):
            deals.append(game._state.deal())
            game.reset()
    assert deals[:3] == deals[3:]
    assert len({*deals}) == 3
