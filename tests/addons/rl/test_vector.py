"""The vector of games: game by game and in every mode."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from arena.addons.rl.decisions import OBSERVATIONS
from arena.addons.rl.vector import DistrictNoirVectorEnv
from arena.errors import InputError
from engine import STANDARD, TAKE, Rules
from tests.addons.rl.test_against import COUNT, ID, check
from tests.batch.test_lockstep import ALL_RULES
from tests.tiers import few


@pytest.mark.parametrize("rules", few(ALL_RULES.values(), 8), ids=ALL_RULES)
def test_it_is_the_engine_game_by_game(rules: Rules) -> None:
    """Observations, masks, rewards, ends and new deals, with an illegal action now and then."""
    for observation in ("observation", "information_state"):
        steps = 2 * rules.game_plies + 14
        assert check(None, COUNT * steps, rules, observation=observation) > COUNT


@pytest.mark.parametrize("action", [-1, 12, 10**9, "missing"])
def test_an_illegal_action_loses_its_game(action: Any) -> None:
    """And no other one."""
    env = DistrictNoirVectorEnv(2, observation="none")
    _, infos = env.reset(seed=1)
    if action == "missing":
        action = np.flatnonzero(infos["action_mask"][0] == 0)[0]
    _, rewards, terminated, _, infos = env.step(np.array([action, TAKE]))
    assert rewards.tolist() == [-1.0, 0.0]
    assert terminated.tolist() == [True, False]
    assert infos["final_info"]["returns"][0].tolist() == [-1.0, 1.0]
    assert infos["final_obs"][0].shape == (0,)
    assert infos["seat"].tolist() == [0, 1]


def test_the_same_seed_and_actions_give_the_same_bytes() -> None:
    """And another seed gives other ones; without a seed the deals go on."""
    runs = []
    for seed in (5, 5, 6):
        env = DistrictNoirVectorEnv(4)
        said = [env.reset(seed=seed)[0].tobytes(), env.reset()[0].tobytes()]
        masks = env.reset()[1]["action_mask"]
        for _ in range(60):
            observations, rewards, _, _, infos = env.step(masks.argmax(axis=1))
            masks = infos["action_mask"]
            said += [observations.tobytes(), rewards.tobytes(), masks.tobytes()]
        runs.append(said)
    assert runs[0] == runs[1] != runs[2]
    assert runs[0][0] != runs[0][1]


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("copy", [True, False])
def test_arrays_are_copies_unless_they_may_be_overwritten(copy: bool, observation: str) -> None:
    """With copy=False each step fills the same memory, and what is written there is forgotten."""
    env = DistrictNoirVectorEnv(5, copy=copy, observation=observation)
    first, infos = env.reset(seed=1)
    before, seats = first.copy(), infos["seat"].tolist()
    second, _, _, _, after = env.step(infos["action_mask"].argmax(axis=1))
    assert (first == before).all() == copy
    assert np.shares_memory(first, second) == (not copy)
    assert np.shares_memory(infos["action_mask"], after["action_mask"]) == (not copy)
    assert (second != before).any()
    assert infos["seat"].tolist() == seats != after["seat"].tolist()
    twin = DistrictNoirVectorEnv(5, observation=observation)
    masks = twin.reset(seed=1)[1]["action_mask"]
    twin.step(masks.argmax(axis=1))
    second[:] = 1
    actions = after["action_mask"].argmax(axis=1)
    assert (env.step(actions)[0] == twin.step(actions)[0]).all()


def test_gymnasium_makes_it_and_wraps_it() -> None:
    """By `make_vec`; its wrappers read the ends of games and the infos."""
    env = gymnasium.make_vec(
        ID, num_envs=3, vectorization_mode="vector_entry_point", rules={"rounds": 4}
    )
    assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    assert env.single_observation_space.shape == (354,)
    assert env.action_space.shape == (3,)
    assert gymnasium.make_vec(ID).num_envs == 1
    wrapped = DictInfoToList(RecordEpisodeStatistics(env))
    _, infos = wrapped.reset(seed=2)
    games = []
    for _ in range(50):
        actions = np.array([info["action_mask"].argmax() for info in infos])
        _, _, _, _, infos = wrapped.step(actions)
        games += [info for info in infos if "final_info" in info]
    assert len(games) >= 3
    for info in games:
        assert 12 < info["episode"]["l"] <= 48
        assert info["final_info"]["returns"].sum() == 0
        assert info["final_obs"].shape == (354,)


def test_what_cannot_be_used_is_named() -> None:
    """In one line: options, rules, actions, masks and seeds, and games that are over."""
    env = DistrictNoirVectorEnv(2)
    with pytest.raises(ResetNeeded):
        env.step(np.array([0, 0]))
    env.reset(seed=1)
    for actions, message in (
        ([0, 0], r"actions: \[0, 0\] is not an array of whole numbers"),
        (np.array([0.0, 1.0]), "is not an array of whole numbers"),
        (np.array([0]), r"actions: an array of shape \(1,\), and not \(2,\)"),
    ):
        with pytest.raises(InputError, match=message):
            env.step(actions)  # type: ignore[arg-type]
    options: dict[str, Any]
    for options, message in (
        ({"render_mode": "ansi"}, "no option render_mode; with vectorization_mode='sync'"),
        ({"rules": {"cards": 3}}, "rules: unknown rule 'cards'; the rules are "),
        ({"rules": 4}, "rules: rules must be a mapping"),
        ({"num_envs": 0}, "num_envs: 0 is not a number from 1"),
        ({"observation": "all"}, "observation: 'all' is not one of: observation, inf.*, none$"),
        ({"autoreset_mode": "next"}, "autoreset_mode: 'next' is not one of: NEXT_STEP, SAME_ST"),
    ):
        with pytest.raises(InputError, match=message):
            gymnasium.make_vec(ID, **options)
    assert DistrictNoirVectorEnv(1, rules=STANDARD).rules is STANDARD
    games = make("DISABLED")
    one = np.arange(FEW) == 2
    with pytest.raises(ResetNeeded, match="the first reset"):
        games.reset(options={"reset_mask": one})
    games.reset(seed=1)
    for options, message in (
        ({"reset_mask": [True] * FEW}, r"reset_mask: \[True, .*is not an array of bool"),
        ({"reset_mask": one.astype(int)}, "is not an array of bool"),
        ({"reset_mask": one[:3]}, r"is not of shape \(5,\) with a game that is to begin"),
        ({"reset_mask": one & False}, r"is not of shape \(5,\) with a game that is to begin"),
        ({"reset_masks": one}, "options: 'reset_masks' is not 'reset_mask', the only one"),
    ):
        with pytest.raises(InputError, match=message):
            games.reset(options=options)
    for seed, message in (
        ([1, 2], "seed: a list of 2 seeds for 5 games"),
        (["x"] * FEW, "seed: 'x' is not a whole number from 0"),
        ([-1] * FEW, "seed: -1 is not a whole number from 0"),
        ("5", "seed: '5' is neither a whole number nor a list of them"),
    ):
        with pytest.raises(InputError, match=message):
            games.reset(seed=seed)
    games.step(np.where(one, -1, TAKE))
    with pytest.raises(ResetNeeded, match=r"over: \[2\]"):
        games.step(np.full(FEW, TAKE))


FEW, STEPS = 5, 130
SEEDS = [*range(50, 50 + FEW)]  # of each game, so that deals do not depend on the order of ends


def make(mode: str = "NEXT_STEP", **options: Any) -> Any:
    return gymnasium.make_vec(ID, num_envs=FEW, autoreset_mode=mode, **options)


def play(games: Any, seed: Any) -> list[list[Any]]:
    """Play some steps; return for each game its decisions and ends, one game after the other."""
    observations, infos = games.reset(seed=seed)
    mode = games.metadata["autoreset_mode"]
    said: list[list[Any]] = [[] for _ in range(games.num_envs)]
    for _ in range(STEPS):
        acting = infos["seat"].copy()
        before = observations.copy()
        observations, rewards, over, _, infos = games.step(infos["action_mask"].argmax(axis=1))
        for game in np.flatnonzero(acting >= 0):
            said[game].append((acting[game], before[game].tobytes(), rewards[game]))
        for game in np.flatnonzero(over):
            said[game].append(describe_end(game, observations, infos))
        if mode is AutoresetMode.DISABLED and over.any():
            observations, infos = games.reset(options={"reset_mask": over})
    return said


def describe_end(game: int, observations: np.ndarray, infos: dict[str, Any]) -> tuple[Any, ...]:
    """Return what is said of a game that is over: its last observation, returns and legality."""
    end = infos.get("final_info", infos)
    last = infos.get("final_obs", observations)
    assert end["_returns"][game]
    if end is infos:
        assert infos["seat"][game] == -1
    return last[game].tobytes(), end["returns"][game].tolist(), end["illegal"][game]


AGAINST = {"opponent": ["greedy", "timing"], "skip_forced": True}


@pytest.mark.slow
@pytest.mark.parametrize("against", [{}, AGAINST], ids=["both seats", "against bots"])
def test_games_are_the_same_ones_in_every_mode(against: dict[str, Any]) -> None:
    """Decision by decision, with their last observations; `next step` needs a step more."""
    against = {"observation": "information_state", **against}
    same = play(make("SAME_STEP", **against), SEEDS)
    for mode in ("NEXT_STEP", "DISABLED"):
        for one, another in zip(same, play(make(mode, **against), SEEDS), strict=True):
            length = min(len(one), len(another))
            assert length > 100
            assert one[:length] == another[:length]


def test_a_reset_mask_begins_the_games_that_it_names() -> None:
    """The others stay as they are, and the options are left alone."""
    games = make("SAME_STEP")
    observations, infos = games.reset(seed=3)
    for _ in range(3):
        observations, _, _, _, infos = games.step(infos["action_mask"].argmax(axis=1))
    flags = np.array([True, False, False, True, False])
    options = {"reset_mask": flags}
    after, infos = games.reset(options=options)
    assert options == {"reset_mask": flags}
    assert ((after == observations).all(axis=1) == ~flags).all()
    assert infos["seat"].tolist() == [0, 1, 1, 0, 1]
    with_seed = [games.reset(seed=9, options=options)[0] for _ in range(2)]
    assert (with_seed[0] == with_seed[1]).all()
    assert (with_seed[0][flags] != after[flags]).any()
