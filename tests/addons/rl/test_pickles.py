"""Environments have pickles: their games go on from them, also in another process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from arena.addons.rl import Encoding, aec
from tests import ROOT

ID = "arena.addons.rl.env:DistrictNoir-v0"


def hasty(view: Any) -> int:
    """Play the last kind, or take."""
    return int(view.legal[-1])


def first(games: Any) -> np.ndarray:
    """Play the first legal action in many games."""
    return np.zeros((games.count, 12))


def play_one(env: Any) -> bytes:
    """Play this game and the next one with the first legal actions; return what was seen."""
    seen = b""
    for _ in range(60):
        action = np.flatnonzero(env.action_masks())[0]
        observation, reward, terminated, _, _ = env.step(action)
        seen += observation.tobytes() + bytes([int(reward) + 1])
        if terminated:
            seen += env.reset()[0].tobytes()
    return seen


def play_many(games: Any) -> bytes:
    """Play games that end and begin anew with the first legal actions; return what was seen."""
    infos = {"action_mask": games.games.legal().copy()}
    seen = b""
    for _ in range(60):
        observations, rewards, _, _, infos = games.step(infos["action_mask"].argmax(axis=1))
        seen += observations.tobytes() + rewards.tobytes()
    return seen


def play(env: Any) -> bytes:
    """Play on in one game or in many."""
    return play_many(env) if isinstance(env, gymnasium.vector.VectorEnv) else play_one(env)


@pytest.mark.slow
def test_games_go_on_from_their_pickles_in_another_process(tmp_path: Path) -> None:
    """Against bots, files that this process has not loaded, and functions; and both seats'."""
    own = tmp_path / "own_bot.py"
    own.write_text((ROOT / "bots" / "uniform.py").read_text())
    opponents: list[Any] = ["greedy", str(own), hasty]
    envs = [gymnasium.make(ID, opponent=one, seat=1).unwrapped for one in opponents]
    envs += [gymnasium.make(ID, observation="information_state").unwrapped]
    names = ("observation", "information_state")
    envs += [gymnasium.make_vec(ID, 3, observation=name).unwrapped for name in names]
    scoring = tmp_path / "scoring_bot.py"
    scoring.write_text((ROOT / "bots" / "greedy.py").read_text())
    envs += [gymnasium.make_vec(ID, 3, opponent=[str(scoring), "timing", first]).unwrapped]
    fresh = pickle.loads(pickle.dumps(envs))
    begun, same = ([env.reset(seed=3)[0].tobytes() for env in some] for some in (envs, fresh))
    assert begun == same
    for env in envs[:4]:
        env.step(np.flatnonzero(env.action_masks())[0])
    code = """if True:
        import pickle, sys
        from tests.addons.rl.test_pickles import play
        envs = pickle.load(sys.stdin.buffer)
        sys.stdout.buffer.write(pickle.dumps([play(env) for env in envs]))
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(envs),
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert pickle.loads(done.stdout) == [play(env) for env in envs]


def test_an_encoding_and_a_game_of_two_agents_have_pickles() -> None:
    """With the rules that they were made with."""
    encoding = pickle.loads(pickle.dumps(Encoding()))
    assert encoding.rules == Encoding().rules
    game = aec.env(observation="information_state")
    game.reset(seed=2)
    twin = pickle.loads(pickle.dumps(game))
    for one in (game, twin):
        one.step(11)
    seen, same = (one.observe("seat_1")["observation"].tobytes() for one in (game, twin))
    assert seen == same
