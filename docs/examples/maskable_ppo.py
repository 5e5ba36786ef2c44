"""Teaches a network with MaskablePPO of sb3-contrib, and says how it plays against bots.

pip install sb3-contrib 'district-noir-arena[rl]'; python maskable_ppo.py
"""

import time

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

NAME = "arena.addons.rl.env:DistrictNoir-v0"
OPPONENTS = ["uniform", "greedy", "majority"]
STEPS = 16_384  # between two lines of the log
ROUNDS = 6
CHOOSING = ("mlp_extractor.policy_net", "action_net")  # the layers that choose
GAMES = 200  # in which it is judged, against each opponent


def play(model: MaskablePPO, opponent: str) -> float:
    """Return the share of games won against an opponent, draws as halves."""
    env = gymnasium.make(NAME, opponent=opponent)
    total = 0.0
    for number in range(GAMES):
        observation, info = env.reset(seed=1_000_000 + number)
        over, reward = False, 0.0
        while not over:
            masks = info["action_mask"]
            action, _ = model.predict(observation, action_masks=masks, deterministic=True)
            observation, reward, over, _, info = env.step(action)
        total += (1 + reward) / 2
    return total / GAMES


def main() -> None:
    """Teach, print how it plays, and write the layers that choose."""
    torch.set_num_threads(1)
    options = {"opponent": OPPONENTS, "render_mode": None}
    games = make_vec_env(NAME, n_envs=16, seed=1, env_kwargs=options)
    model = MaskablePPO(
        "MlpPolicy",
        games,
        n_steps=256,
        batch_size=512,
        n_epochs=4,
        gamma=1.0,
        gae_lambda=0.95,
        ent_coef=0.01,
        learning_rate=1e-3,
        policy_kwargs={"net_arch": [128, 128]},
        seed=1,
    )
    began = time.process_time()
    print("   steps  CPU s  " + "  ".join(f"{name:>8}" for name in OPPONENTS))
    for _ in range(ROUNDS):
        model.learn(STEPS, reset_num_timesteps=False)
        seconds = time.process_time() - began
        shares = "  ".join(f"{play(model, name):8.1%}" for name in OPPONENTS)
        print(f"{model.num_timesteps:8}  {seconds:5.0f}  {shares}", flush=True)
    arrays = {name: np.asarray(value) for name, value in model.policy.state_dict().items()}
    kept = {name: array for name, array in arrays.items() if name.startswith(CHOOSING)}
    np.savez("maskable_ppo.npz", **kept)  # maskable_bot.py plays it


if __name__ == "__main__":
    main()
