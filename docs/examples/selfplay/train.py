"""Learns District Noir by playing against itself, and writes weights.npz.

Proximal policy optimisation (Schulman and others 2017) in numpy, on thousands of games in
lockstep. One network chooses for both seats from what the seat to act knows. A second one, which
is thrown away in the end, says how the game will end; it sees all cards, so that what is learned
from a game is not the luck of its deal.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from arena.batch.learner import Network, look, probabilities, to_bytes
from arena.rl import (
    ACTIONS,
    DRAW,
    WORTHS,
    Encoding,
    Lockstep,
    by_seat,
    random_deals,
)
from bots.apprentice import Apprentice, read
from bots.timing import bot as timing
from engine import KINDS, STANDARD, play_game

FEATURES = Encoding().size + WORTHS
SEEN = FEATURES + len(KINDS) * (1 + 2 * STANDARD.rounds)  # by the critic
CLIP = 0.2
LAMBDA = 0.95  # of the generalised advantage estimate


def look_behind(games):
    """Return what the critic sees besides: the other hand, and all hands still to be dealt."""
    second = games.to_act == 1
    to_come = games.dealt * (np.arange(len(games.dealt))[:, None] > games.round)[:, None, None]
    parts = [np.where(second, games.hands[0], games.hands[1])]
    for hands in to_come:
        parts += [np.where(second, hands[seat], hands[1 - seat]) for seat in (1, 0)]
    return np.concatenate(parts).T.astype(np.float32)


def play(actor, count, rng):
    """Play games to their ends; return their decisions as arrays (ply, game, ...)."""
    games = Lockstep(count)
    games.begin(np.arange(count), random_deals(count, rng))
    plies = STANDARD.game_plies
    known = np.zeros((plies, count, FEATURES), np.float32)
    behind = np.zeros((plies, count, SEEN - FEATURES), np.float32)
    masks = np.ones((plies, count, ACTIONS), np.bool_)
    actions = np.zeros((plies, count), np.intp)
    chances = np.ones((plies, count), np.float32)
    seats = np.full((plies, count), -1)  # nobody acts in a game that is over
    over = np.zeros((plies, count), np.bool_)
    for ply in range(plies):
        live = ~games.over
        if not live.any():
            break
        known[ply], masks[ply] = look(games)
        masks[ply, games.over] = True
        behind[ply] = look_behind(games)
        seats[ply, live] = games.to_act[live]
        shares = probabilities(actor(known[ply]), masks[ply])
        sums = shares.cumsum(axis=1)
        luck = rng.random((count, 1), np.float32) * sums[:, -1:]
        actions[ply] = np.minimum((sums <= luck).sum(axis=1), ACTIONS - 1)
        # rounding may reach an action without a share: the likeliest then
        wrong = ~masks[ply, np.arange(count), actions[ply]]
        actions[ply, wrong] = shares[wrong].argmax(axis=1)
        chances[ply] = shares[np.arange(count), actions[ply]]
        games.step(actions[ply])
        over[ply] = games.over & live
    winners = games.winners(np.arange(count))
    won = np.where(winners == DRAW, 0, np.where(winners == seats, 1, -1))
    return known, behind, masks, actions, chances, by_seat(seats, won * over, over)


def advantages(values, played):
    """Return how much better each action was than expected (Schulman and others 2016)."""
    found = np.zeros_like(values)
    after = np.zeros_like(values[0])
    sign = np.where(played.seats == 0, 1, -1).astype(np.float32)  # values are of the seat to act
    returns = played.returns.astype(np.float32)
    for ply in range(len(values) - 1, -1, -1):
        following = returns[ply]
        if ply + 1 < len(values):
            goes_on = played.seats[ply + 1] >= 0
            turn = sign[ply] * sign[ply + 1]
            following = np.where(goes_on, turn * values[ply + 1], following)
            after = np.where(goes_on, turn * found[ply + 1], 0)
        found[ply] = following - values[ply] + LAMBDA * after
    return found


def values_of(critic, known, behind):
    """Return what the critic expects for every decision."""
    values = np.empty(known.shape[:2], np.float32)
    for ply in range(len(known)):
        values[ply] = critic(np.concatenate([known[ply], behind[ply]], axis=1))[:, 0]
    return values


def learn(actor, critic, decisions, rng, options, progress):
    """Improve both networks by the decisions of some games; return the figures of the log."""
    known, behind, masks, actions, chances, played = decisions
    values = values_of(critic, known, behind)
    better = advantages(values, played)
    wanted = better + values
    live = played.seats >= 0
    free = live & (masks.sum(axis=2) > 1)
    rate = options.rate * (1 - 0.9 * progress)
    entropy = options.entropy * (1 - 0.9 * progress)
    places = np.flatnonzero(live)
    mean, spread = better[free].mean(), better[free].std() + 1e-8
    flat = [part.reshape(-1, *part.shape[2:]) for part in (known, behind, masks)]
    known, behind, masks = flat
    actions, chances, free = actions.ravel(), chances.ravel(), free.ravel()
    better = (better.ravel() - mean) / spread
    wanted = wanted.ravel()
    losses = []
    for _ in range(options.epochs):
        order = rng.permutation(places)
        for start in range(0, len(order), options.batch):
            some = order[start : start + options.batch]
            inputs = known[some]
            seen = np.concatenate([inputs, behind[some]], axis=1)
            off = critic(seen)[:, 0] - wanted[some]
            critic.improve((off / len(some))[:, None], rate)
            losses.append(float((off * off).mean()))
            some = some[free[some]]
            inputs = known[some]
            shares = probabilities(actor(inputs), masks[some])
            rows = np.arange(len(some))
            ratio = shares[rows, actions[some]] / chances[some]
            gain = better[some]
            kept = np.where(gain > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
            slopes = shares * (kept * gain * ratio)[:, None]
            slopes[rows, actions[some]] -= kept * gain * ratio
            logs = np.log(np.maximum(shares, 1e-12))
            disorder = -(shares * logs).sum(axis=1, keepdims=True)
            slopes += entropy * shares * (logs + disorder)
            actor.improve((slopes / len(some)).astype(np.float32), rate)
    return float(np.mean(losses)), float(disorder.mean())


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
    critic = Network.random([SEEN, *options.hidden, 1], rng, last=0.1)
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
