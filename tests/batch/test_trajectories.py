"""Trajectories: what each seat did and got, of games in which the two act in turn."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from arena.addons.rl import Trajectories, by_seat

ID = "arena.addons.rl.env:DistrictNoir-v0"


def play(mode: str, illegal: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the seats, rewards and ends of random games, with a share of illegal actions."""
    games = gymnasium.make_vec(ID, num_envs=30, autoreset_mode=mode)
    _, infos = games.reset(seed=1)
    rng = np.random.default_rng(3)
    said: list[Any] = []
    for _ in range(130):
        seats = infos["seat"]
        actions = (rng.random((30, 12)) * infos["action_mask"]).argmax(axis=1)
        actions[rng.random(30) < illegal] = -1
        _, rewards, over, _, infos = games.step(actions)
        said.append((seats, rewards, over))
        if mode == "DISABLED" and over.any():
            _, infos = games.reset(options={"reset_mask": over})
    seats, rewards, over = (np.array(part) for part in zip(*said, strict=True))
    return seats, rewards, over


def plainly(seats: np.ndarray, rewards: np.ndarray, over: np.ndarray) -> list[tuple[Any, ...]]:
    """Return the trajectories of a column at a time, an action after the other."""
    found: list[tuple[Any, ...]] = []
    for game in range(seats.shape[1]):
        open_: dict[int, list[int]] = {}
        for step in range(len(seats)):
            seat = int(seats[step, game])
            if seat < 0:
                continue
            open_.setdefault(seat, []).append(step)
            if over[step, game]:
                for one, steps in open_.items():
                    result = rewards[step, game] * (1 if one == seat else -1)
                    found.append((game, one, steps, result, True))
                open_ = {}
        found += [(game, one, steps, 0.0, False) for one, steps in open_.items()]
    return found


def listed(played: Trajectories) -> list[tuple[Any, ...]]:
    """Return the trajectories as plain values."""
    return [(*one[:2], one.steps.tolist(), *one[3:]) for one in played.split()]


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_each_seat_has_its_own_decisions_and_result(mode: str) -> None:
    """In every mode, also of games that the arrays cut off."""
    said = play(mode, illegal=0.004)
    played = by_seat(*said)
    paths = listed(played)
    assert sorted(paths) == sorted(plainly(*said))
    assert [(steps[0], game) for game, _, steps, *_ in paths] == sorted(
        (steps[0], game) for game, _, steps, *_ in paths
    )
    assert sum(finished for *_, finished in paths) >= 2 * 2 * 30
    for game, seat, steps, result, finished in paths:
        assert (played.seats[steps, game] == seat).all()
        assert (played.returns[steps, game] == result).all()
        assert (played.finished[steps, game] == finished).all()
        assert played.following[steps, game].tolist() == [*steps[1:], -1]
        assert played.last[steps, game].tolist() == [False] * (len(steps) - 1) + [finished]
        assert played.rewards[steps, game].tolist() == [0.0] * (len(steps) - 1) + [result]


def test_what_one_seat_wins_the_other_one_loses() -> None:
    """So the mean is 0; a loop that adds up the rewards has half of them."""
    seats, rewards, over = play("SAME_STEP")
    played = by_seat(seats, rewards, over)
    assert played.rewards.sum() == 0
    assert np.count_nonzero(played.rewards) == 2 * np.count_nonzero(rewards)


def test_it_takes_what_a_standard_loop_has() -> None:
    """Lists of what steps say, through a wrapper that counts; its mean return is not the game's."""
    games = RecordEpisodeStatistics(gymnasium.make_vec(ID, num_envs=200), buffer_length=10**6)
    _, infos = games.reset(seed=7)
    rng = np.random.default_rng(7)
    seats, rewards, over = [], [], []
    for _ in range(100):
        seats.append(infos["seat"])
        actions = (rng.random((200, 12)) * infos["action_mask"]).argmax(axis=1)
        _, reward, terminated, _, infos = games.step(actions)
        rewards.append(reward)
        over.append(terminated)
    results = [one.result for one in by_seat(seats, rewards, over).split() if one.finished]
    assert np.mean(games.return_queue) > 0.02
    assert np.mean(results) == 0
    assert len(results) == 2 * len(games.return_queue)
