"""How games of the vector begin anew: Gymnasium's three modes, its wrappers, masks and seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import vector as wrappers

from arena.errors import InputError
from engine import TAKE
from tests.tiers import few

ID = "arena.addons.rl.env:DistrictNoir-v0"
COUNT = 5
STEPS = 130


def make(mode: str = "NEXT_STEP", **options: Any) -> Any:
    """Return some games."""
    return gymnasium.make_vec(ID, num_envs=COUNT, autoreset_mode=mode, **options)


def first_legal(infos: dict[str, Any]) -> np.ndarray:
    """Return an action for each game."""
    actions: np.ndarray = infos["action_mask"].argmax(axis=1)
    return actions


def play(games: Any, seed: Any) -> list[list[Any]]:
    """Play some steps; return for each game its decisions and ends, one game after the other."""
    observations, infos = games.reset(seed=seed)
    mode = games.metadata["autoreset_mode"]
    said: list[list[Any]] = [[] for _ in range(games.num_envs)]
    for _ in range(STEPS):
        acting = infos["seat"].copy()
        before = observations.copy()
        observations, rewards, over, _, infos = games.step(first_legal(infos))
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


def seeds() -> list[int]:
    """Return a seed for each game, so that deals do not depend on the order of ends."""
    return [*range(50, 50 + COUNT)]


AGAINST = {"opponent": ["greedy", "timing"], "skip_forced": True}


@pytest.mark.slow
@pytest.mark.parametrize("against", [{}, AGAINST], ids=["both seats", "against bots"])
@pytest.mark.parametrize("observation", ["observation", "information_state"])
@pytest.mark.parametrize("mode", ["NEXT_STEP", "DISABLED"])
def test_games_are_the_same_ones_in_every_mode(
    mode: str, observation: str, against: dict[str, Any]
) -> None:
    """Decision by decision, with their last observations; `next step` needs a step more."""
    same = play(make("SAME_STEP", observation=observation, **against), seeds())
    other = play(make(mode, observation=observation, **against), seeds())
    for one, another in zip(same, other, strict=True):
        length = min(len(one), len(another))
        assert length > 100
        assert one[:length] == another[:length]


@pytest.mark.parametrize("name", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
def test_a_mode_has_a_name_a_value_and_a_member(name: str) -> None:
    """It is declared in the metadata, where wrappers look for it."""
    member = AutoresetMode[name]
    for mode in (name, member.value, member):
        games = gymnasium.make_vec(ID, num_envs=1, autoreset_mode=mode)
        assert games.metadata["autoreset_mode"] is member
    assert gymnasium.make_vec(ID).metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_a_game_that_is_over_begins_in_the_next_step_whatever_it_gets() -> None:
    """Its mask has only the take, its reward is 0, and an illegal action ended it as any other."""
    games = make()
    _, infos = games.reset(seed=1)
    _, rewards, over, _, infos = games.step(np.array([-1, *[TAKE] * (COUNT - 1)]))
    assert over.tolist() == [True] + [False] * (COUNT - 1)
    assert rewards[0] == -1
    assert infos["returns"][0].tolist() == [-1.0, 1.0]
    assert infos["illegal"][0]
    assert np.flatnonzero(infos["action_mask"][0]).tolist() == [TAKE]
    actions = first_legal(infos)
    actions[0] = 99
    _, rewards, over, _, infos = games.step(actions)
    assert not over.any()
    assert rewards[0] == 0
    assert infos["seat"][0] == 0
    assert "returns" not in infos


WRAPPERS: dict[str, tuple[Callable[[VectorEnv], Any], Callable[[Any], Any]]] = {
    "TransformObservation": (
        lambda games: wrappers.TransformObservation(games, lambda seen: 1 - seen),
        lambda seen: 1 - seen,
    ),
    "FlattenObservation": (wrappers.FlattenObservation, lambda seen: seen),
    "RescaleObservation": (
        lambda games: wrappers.RescaleObservation(games, np.int8(-1), np.int8(3)),
        lambda seen: 4 * seen - 1,
    ),
    "DtypeObservation": (
        lambda games: wrappers.DtypeObservation(games, np.float32),
        lambda seen: seen.astype(np.float32),
    ),
}


@pytest.mark.parametrize("copy", few([True, False]))
@pytest.mark.parametrize("mode", ["NEXT_STEP", "DISABLED"])
@pytest.mark.parametrize("name", WRAPPERS)
def test_gymnasiums_wrappers_transform_observations(name: str, mode: str, copy: bool) -> None:
    """As they say, beside games without a wrapper, through ends and resets."""
    wrap, transform = WRAPPERS[name]
    games, plain = wrap(make(mode, copy=copy)), make(mode)
    observations, infos = games.reset(seed=4)
    expected, _ = plain.reset(seed=4)
    ends = 0
    for _ in range(60):
        assert observations.dtype == games.observation_space.dtype
        assert np.array_equal(observations, transform(expected))
        actions = first_legal(infos)
        observations, _, over, _, infos = games.step(actions)
        expected = plain.step(actions)[0]
        ends += over.sum()
        if mode == "DISABLED" and over.any():
            observations, infos = games.reset(options={"reset_mask": over})
            expected, _ = plain.reset(options={"reset_mask": over})
    assert ends >= COUNT


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
def test_gymnasium_counts_the_steps_of_games(mode: str) -> None:
    """Twelve actions a round and four rounds, or fewer with a city win, in each mode."""
    games = wrappers.RecordEpisodeStatistics(make(mode))
    _, infos = games.reset(seed=2)
    lengths: list[int] = []
    for _ in range(STEPS):
        _, _, over, _, infos = games.step(first_legal(infos))
        if over.any():
            lengths += infos["episode"]["l"][over].tolist()
        if mode == "DISABLED" and over.any():
            _, infos = games.reset(options={"reset_mask": over.copy()})
    assert len(lengths) >= 2 * COUNT
    assert max(lengths) == 48
    assert min(lengths) > 12


def test_a_reset_mask_begins_the_games_that_it_names() -> None:
    """The others stay as they are, and the options are left alone."""
    games = make("SAME_STEP")
    observations, infos = games.reset(seed=3)
    for _ in range(3):
        observations, _, _, _, infos = games.step(first_legal(infos))
    flags = np.array([True, False, False, True, False])
    options = {"reset_mask": flags}
    after, infos = games.reset(options=options)
    assert options == {"reset_mask": flags}
    assert ((after == observations).all(axis=1) == ~flags).all()
    assert infos["seat"].tolist() == [0, 1, 1, 0, 1]
    with_seed = [games.reset(seed=9, options=options)[0] for _ in range(2)]
    assert (with_seed[0] == with_seed[1]).all()
    assert (with_seed[0][flags] != after[flags]).any()


@pytest.mark.slow
def test_a_seed_of_a_list_is_that_of_one_game() -> None:
    """Its games are the same ones at any place, beside any others, and in a single game."""
    first = play(make("SAME_STEP"), seeds())
    turned = play(make("SAME_STEP"), seeds()[1:] + seeds()[:1])
    assert first[1:] + first[:1] == turned
    alone = gymnasium.make_vec(ID, num_envs=1)
    assert play(alone, (seeds()[2],)) == first[2:3]
    assert first[0] != first[1]


def test_a_game_without_a_seed_in_the_list_goes_on() -> None:
    """With its own deals where it had a seed, and with those of all where it had none."""
    games = make("SAME_STEP")
    games.reset(seed=6)
    begun = games.reset()[0]
    games.reset(seed=6)
    kept = games.reset(seed=[None] * COUNT)[0]
    assert (kept == begun).all()
    games.reset(seed=[*range(COUNT)])
    second = games.reset()[0]
    games.reset(seed=[*range(COUNT)])
    assert (games.reset(seed=[None] * COUNT)[0] == second).all()
    games.reset(seed=6)
    assert (games.reset()[0] == begun).all()


def test_what_cannot_begin_is_named() -> None:
    """In one line: masks and seeds that do not fit, other options, and games that are over."""
    games = make("DISABLED")
    one = np.arange(COUNT) == 2
    with pytest.raises(ResetNeeded, match="the first reset"):
        games.reset(options={"reset_mask": one})
    games.reset(seed=1)
    for options, message in (
        ({"reset_mask": [True] * COUNT}, r"reset_mask: \[True, .*is not an array of bool"),
        ({"reset_mask": one.astype(int)}, "is not an array of bool"),
        ({"reset_mask": one[:3]}, r"is not of shape \(5,\) with a game that is to begin"),
        ({"reset_mask": one & False}, r"is not of shape \(5,\) with a game that is to begin"),
        ({"reset_masks": one}, "options: 'reset_masks' is not 'reset_mask', the only one"),
    ):
        with pytest.raises(InputError, match=message):
            games.reset(options=options)
    for seed, message in (
        ([1, 2], "seed: a list of 2 seeds for 5 games"),
        (["x"] * COUNT, "seed: 'x' is not a whole number from 0"),
        ([-1] * COUNT, "seed: -1 is not a whole number from 0"),
        ("5", "seed: '5' is neither a whole number nor a list of them"),
    ):
        with pytest.raises(InputError, match=message):
            games.reset(seed=seed)
    games.step(np.where(one, -1, TAKE))
    with pytest.raises(ResetNeeded, match=r"over: \[2\]"):
        games.step(np.full(COUNT, TAKE))
