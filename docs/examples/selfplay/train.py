"""Learns District Noir by playing against itself, and writes weights.npz.

Proximal policy optimisation (Schulman and others 2017) in numpy, by `ppo.py`, on
thousands of games in lockstep. One network chooses for both seats from what the seat to act knows.
A second one, which is thrown away in the end, says how the game will end; it sees all cards, so
that what is learned from a game is not the luck of its deal.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from ppo import FEATURES, SEEN, learn, play

from arena.batch.learner import Network, from_bytes, to_bytes
from arena.rl import ACTIONS
from bots.apprentice import Apprentice, read
from bots.timing import bot as timing
from engine import play_game


def match(path, pairs):
    """Return the share of points that the saved network wins against `timing`."""
    network = read(path.read_bytes())

    def learned(_setup):
        return Apprentice(network)

    points = 0.0
    for seed in range(pairs):
        for seat, bots in enumerate([(learned, timing), (timing, learned)]):
            winner = play_game(*bots, seed=seed).winner
            points += 0.5 if winner is None else winner == seat
    return points / pairs / 2


def tell(games, began, figures, decisions, options):
    """Print a line of the log."""
    error, entropy = figures
    print(
        f"{games:9,} games {time.perf_counter() - began:6.0f} s"
        f"  critic's error {error:.3f}  entropy {entropy:.2f}"
        f"  plies {(decisions[-1].seats >= 0).sum(axis=0).mean():.1f}"
        f"  against timing {match(options.out, options.pairs):.3f}",
        flush=True,
    )


def main():
    """Learn from so many games."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--together", type=int, default=1024, help="games between two lessons")
    parser.add_argument("--begin", type=Path, help="weights to go on with")
    parser.add_argument("--warm", type=int, default=0, help="lessons of the critic alone at first")
    parser.add_argument("--hidden", type=int, nargs="+", default=[256, 128], help="units")
    parser.add_argument("--rate", type=float, default=1e-3, help="of Adam; falls to a tenth")
    parser.add_argument("--entropy", type=float, default=0.02, help="its worth; falls to a tenth")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=4096, help="decisions")
    parser.add_argument("--pairs", type=int, default=100, help="of each match against timing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("weights.npz"))
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    actor = Network.random([FEATURES, *options.hidden, ACTIONS], rng, last=0.01)
    if options.begin:
        actor = from_bytes(options.begin.read_bytes())
    critic = Network.random([SEEN, *options.hidden, 1], rng, last=0.1)
    for _ in range(options.warm):
        learn(Network(actor.layers), critic, play(actor, options.together, rng), rng, options, 0)
    teach(actor, critic, rng, options)


def teach(actor, critic, rng, options):
    """Improve both networks, lesson by lesson, and keep the weights."""
    began = time.perf_counter()
    lessons = -(-options.games // options.together)
    for lesson in range(lessons):
        decisions = play(actor, options.together, rng)
        figures = learn(actor, critic, decisions, rng, options, lesson / lessons)
        if lesson % (lessons // 40 + 1) == 0 or lesson == lessons - 1:
            options.out.write_bytes(to_bytes(actor))
            tell((lesson + 1) * options.together, began, figures, decisions, options)


if __name__ == "__main__":
    main()
