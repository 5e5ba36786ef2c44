"""Learns to beat `greedy` in half a minute on one core, and writes weights.npz.

Proximal policy optimisation on games of `make_vec`. The critic, which sees all cards, is needed
only while it learns.
"""

import gymnasium
import numpy as np

from arena.addons.learn.ppo import FEATURES, SEEN, Decisions, Options, learn, look_behind
from arena.batch.learner import Network, look, probabilities, to_bytes
from arena.rl import ACTIONS, by_seat

GAMES = 512
LESSONS = 40


def play(games, actor, rng):
    """Play a game in each column, and return the decisions."""
    infos = games.reset()[1]
    over, steps = np.zeros(GAMES, bool), []
    while not over.all():
        known, masks = look(games.games)
        shares = probabilities(actor(known), masks)
        actions = (np.log(shares + 1e-12) + rng.gumbel(size=shares.shape)).argmax(axis=1)
        seats = np.where(over, -1, infos["seat"])
        behind, chances = look_behind(games.games), shares[np.arange(GAMES), actions]
        _, rewards, ended, _, infos = games.step(actions)
        steps.append((known, behind, masks, actions, chances, seats, rewards, ended & ~over))
        over |= ended
    *decided, seats, rewards, ended = map(np.stack, zip(*steps, strict=True))
    return Decisions(*decided, by_seat(seats, rewards, ended))


def main():
    """Learn, and write the weights."""
    rng = np.random.default_rng(1)
    games = gymnasium.make_vec(
        "arena.addons.rl.env:DistrictNoir-v0", GAMES, opponent="greedy", observation="none"
    )
    games.reset(seed=1)
    actor = Network.random([FEATURES, 128, 64, ACTIONS], rng, last=0.01)
    critic = Network.random([SEEN, 128, 64, 1], rng, last=0.1)
    for lesson in range(LESSONS):
        decisions = play(games, actor, rng)
        learn(actor, critic, decisions, rng, Options(batch=2048), lesson / LESSONS)
        score = (decisions.played.rewards.sum(axis=0).mean() + 1) / 2
        print(f"{GAMES * (lesson + 1):7,} games: {score:.1%} against greedy", flush=True)
    with open("weights.npz", "wb") as file:
        file.write(to_bytes(actor))


if __name__ == "__main__":
    main()
