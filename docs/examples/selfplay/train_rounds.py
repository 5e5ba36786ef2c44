"""Goes on with a network's training in rounds 1 to 3, and writes weights.npz.

The last round is left to an open-hand solution (`journeyman`), and a round's end is worth what
`champion`'s table says. In games of the network with itself, each legal action of some decisions is
tried against the hand that the opponent holds; both seats play the round on by the network. So
every action of a decision has a value, in the same cards, and the network learns from all of them:
the gradient of the mean value by its probabilities, with an entropy bonus. No critic is needed.
What is written is a running mean of the weights: the last ones are worse by the noise of the steps.
Source: Sokota and others, "A Unified Approach to Reinforcement Learning, Quantal Response
Equilibria, and Two-Player Zero-Sum Games", 2023, with a uniform magnet.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from arena.batch.learner import Network, draw, from_bytes, look, probabilities, to_bytes
from arena.batch.lockstep import Lockstep, random_deals
from arena.batch.rollouts import WHOLE, own_chances, pick, play_on
from arena.rl import ACTIONS
from bots.apprentice import read
from bots.champion import values_after
from engine import STANDARD

PLIES = 3 * STANDARD.round_plies
MATCH = 1000  # pairs of games of each line of the log


def begin(deals):
    """Return games with these deals at their beginning."""
    games = Lockstep(len(deals))
    games.begin(np.arange(len(deals)), deals)
    return games


def play(actor, count, rng, share):
    """Return inputs, masks and action values of a `share` of the decisions of some games."""
    policy = read(to_bytes(actor)).scores_in
    games, parts = begin(random_deals(count, rng)), []
    for _ in range(PLIES):
        known, masks = look(games)
        masks[games.over] = True
        shares = probabilities(actor(known), masks)
        free = ~games.over & (masks.sum(axis=1) > 1) & (rng.random(count) < share)
        some = np.flatnonzero(free)
        parts.append((known[some], masks[some], values(games, some, masks, policy)))
        games.step(draw(shares, masks, rng.random((count, 1))))
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def values(games, some, masks, policy):
    """Return the chance to win after each legal action of some decisions (decision, action)."""
    rows, actions = np.nonzero(masks[some])
    tried = games.select(some[rows])
    tried.by_round = True
    seats = tried.to_act.copy()
    tried.step(actions)
    play_on(tried, [policy, policy])
    found = np.zeros((len(some), ACTIONS), np.float32)
    found[rows, actions] = own_chances(tried, seats, values_after) / WHOLE
    return found


def learn(actor, lesson, rng, rate, entropy, options):
    """Train the network on decisions; return its mean loss in hindsight, and its entropy."""
    known, masks, worths = lesson
    losses, disorder = [], []
    for _ in range(options.epochs):
        order = rng.permutation(len(known))
        for start in range(0, len(order), options.batch):
            some = order[start : start + options.batch]
            shares, worth = probabilities(actor(known[some]), masks[some]), worths[some]
            mean = (shares * worth).sum(axis=1, keepdims=True)
            logs = np.log(np.maximum(shares, 1e-12))
            chaos = -(shares * logs).sum(axis=1, keepdims=True)
            slopes = shares * (mean - worth + entropy * (logs + chaos))
            actor.improve((slopes / len(some)).astype(np.float32), rate)
            losses.append((worth.max(axis=1, keepdims=True) - mean).mean())
            disorder.append(chaos.mean())
    return np.mean(losses), np.mean(disorder)


def match(network, other, rng):
    """Return a network's chance to win against another one after round 3, and its error."""
    deals, found = random_deals(MATCH, rng), np.zeros(MATCH)
    for seat, policies in enumerate([(network, other), (other, network)]):
        games = begin(deals)
        for ply in range(PLIES):
            games.by_round = ply == PLIES - 1
            games.step(pick(games, policies[STANDARD.seat_at(ply)]))
        found += own_chances(games, seat, values_after) / WHOLE / 2
    return found.mean(), found.std() / np.sqrt(MATCH)


def main():
    """Learn from so many games."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--begin", type=Path, default=Path("bots/apprentice.npz"), help="weights")
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--together", type=int, default=1024, help="games between two lessons")
    parser.add_argument("--share", type=float, default=0.25, help="of the decisions that are tried")
    parser.add_argument("--rate", type=float, default=1e-3, help="of Adam; falls to a tenth")
    parser.add_argument("--entropy", type=float, default=0.004, help="its worth; falls to a half")
    parser.add_argument("--mean", type=float, default=0.985, help="share of a mean that stays")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1024, help="decisions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("weights.npz"))
    options = parser.parse_args()
    teach(from_bytes(options.begin.read_bytes()), np.random.default_rng(options.seed), options)


def teach(actor, rng, options):
    """Improve the network, lesson by lesson, and keep the weights."""
    began, before = time.process_time(), read(options.begin.read_bytes()).scores_in
    lessons = -(-options.games // options.together)
    luck = np.random.default_rng(options.seed + 1)  # of the matches
    mean = Network(actor.layers)
    for lesson in range(lessons):
        left = 1 - lesson / lessons
        rate, entropy = options.rate * (0.1 + 0.9 * left), options.entropy * (0.5 + 0.5 * left)
        found = play(actor, options.together, rng, options.share)
        loss, disorder = learn(actor, found, rng, rate, entropy, options)
        for slow, layer in zip(mean.layers, actor.layers, strict=True):
            slow += max(1 - options.mean, 1 / (lesson + 1)) * (layer - slow)
        if lesson % (lessons // 20 + 1) == 0 or lesson == lessons - 1:
            options.out.write_bytes(to_bytes(mean))
            score, error = match(read(options.out.read_bytes()).scores_in, before, luck)
            print(
                f"{(lesson + 1) * options.together:9,} games"
                f" {time.process_time() - began:6.0f} CPU s  loss {loss:.4f}"
                f"  entropy {disorder:.3f}  against the first {score:.3f} +- {error:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
