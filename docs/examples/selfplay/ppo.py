"""Train a network in games that it plays itself, by proximal policy optimisation (PPO).

The actor chooses by the observation of the seat to act. A second network, the critic, which is used
only in training, predicts the result of the game. It sees all cards, so that the luck of the deal
does not count as an advantage. Source: Schulman and others, "Proximal Policy Optimization
Algorithms", 2017.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from arena.batch.learner import Network, draw, look, probabilities
from arena.batch.lockstep import Encoding, Lockstep, random_deals
from arena.batch.positions import Cards, Indices
from arena.batch.rollouts import Trajectories, by_seat
from engine import KINDS, STANDARD, Seat
from engine.encoding import WORTHS

FEATURES: Final = Encoding().size + WORTHS
"""The number of inputs of the actor."""

SEEN: Final = FEATURES + len(KINDS) * (1 + 2 * STANDARD.rounds)
"""The number of inputs of the critic."""

CLIP: Final = 0.2
LAMBDA: Final = 0.95
"""The parameter lambda of generalised advantage estimation."""


class Options(NamedTuple):
    """Options of training: Adam's `rate`, the weight of `entropy`, and decisions in a `batch`."""

    rate: float = 1e-3
    entropy: float = 0.02
    epochs: int = 2
    batch: int = 4096


class Decisions(NamedTuple):
    """The decisions of games as arrays (step, game, ...).

    `known` are the observations of the seats to act, `behind` the further inputs of the critic, and
    `chances` the probabilities of the `actions`. In `played` a seat of -1 means that the game is
    over.
    """

    known: Any
    behind: Any
    masks: Any
    actions: Any
    chances: Any
    played: Trajectories


class _Lesson(NamedTuple):
    """Training data by decision: unforced ones, advantages, and the targets of the critic."""

    known: Any
    behind: Any
    masks: Any
    actions: Any
    chances: Any
    free: Any
    better: Any
    wanted: Any


def look_behind(games: Lockstep) -> Any:
    """Return the further inputs of the critic: the other hand, and all hands not yet dealt."""
    second = games.to_act == 1
    to_come = games.dealt * (np.arange(len(games.dealt))[:, None] > games.round)[:, None, None]
    parts = [np.where(second, games.hands[0], games.hands[1])]
    for hands in to_come:
        parts += [np.where(second, hands[seat], hands[1 - seat]) for seat in (1, 0)]
    return np.concatenate(parts).T.astype(np.float32)


class Rival(Protocol):
    """A player of the other seat, which is not trained."""

    def begin(self, deals: Cards, seat: Seat, /) -> None:
        """Begin games with these deals, in which it plays this seat."""

    def follow(self, games: Lockstep, actions: Indices, /) -> None:
        """Observe the actions that the trained seat is about to play in each of these games."""

    def choose(self, games: Lockstep, /) -> Indices:
        """Return its action in the current position of each of the same games."""


def play(
    actor: Network, count: int, rng: np.random.Generator, rival: Rival | None = None
) -> Decisions:
    """Play `count` games to their ends, and return the actor's decisions.

    It plays both seats, or, against a rival, each seat in half of the games (`count` is then even).
    """
    deals = random_deals(count, rng)
    if rival is None:
        halves = [_play_seats(actor, deals, rng)]
    else:
        halves = [_play_seats(actor, deals[seat::2], rng, seat, rival) for seat in (0, 1)]
    joined = (np.concatenate(part, axis=1) for part in zip(*halves, strict=True))
    known, behind, masks, actions, chances, seats, won = joined
    over = seats >= 0
    over[:-1] &= seats[1:] < 0
    return Decisions(known, behind, masks, actions, chances, by_seat(seats, won, over))


def _play_seats(
    actor: Network,
    deals: Cards,
    rng: np.random.Generator,
    seat: Seat = 0,
    rival: Rival | None = None,
) -> list[Any]:
    """Return the actor's decisions, followed by the seats and their rewards.

    It plays this seat, or both seats without a rival.
    """
    games = Lockstep(len(deals))
    games.begin(np.arange(len(deals)), deals)
    if rival:
        rival.begin(deals, 1 - seat)
    steps = []
    for ply in range(STANDARD.game_plies):
        if rival and seat != STANDARD.seat_at(ply):
            actions = rival.choose(games)
        else:
            steps.append(_decide(actor, games, rng))
            actions = steps[-1][3]
            if rival:
                rival.follow(games, actions)
        games.step(actions)
    *decided, seats = map(np.stack, zip(*steps, strict=True))
    won = 2 * games.results() - 1  # for seat 0
    return [*decided, seats, np.where(seats == 0, won, -won)]


def _decide(actor: Network, games: Lockstep, rng: np.random.Generator) -> tuple[Any, ...]:
    """Draw an action in each game; return one step of `Decisions`, followed by the seats."""
    known, masks = look(games)
    masks[games.over] = True
    shares = probabilities(actor(known), masks)
    actions = draw(shares, masks, rng.random((games.count, 1), np.float32))
    seats = np.where(games.over, -1, games.to_act)
    chances = shares[np.arange(games.count), actions]
    return known, look_behind(games), masks, actions, chances, seats


def advantages(values: Any, played: Trajectories) -> Any:
    """Return the generalised advantage estimate of each action.

    Source: Schulman and others, "High-Dimensional Continuous Control Using Generalized Advantage
    Estimation", 2016.
    """
    found = np.zeros_like(values)
    after = np.zeros_like(values[0])
    sign = np.where(played.seats == 0, 1, -1).astype(np.float32)  # values are for the seat to act
    returns = played.returns.astype(np.float32)
    for step in range(len(values) - 1, -1, -1):
        following = returns[step]
        if step + 1 < len(values):
            goes_on = played.seats[step + 1] >= 0
            turn = sign[step] * sign[step + 1]
            following = np.where(goes_on, turn * values[step + 1], following)
            after = np.where(goes_on, turn * found[step + 1], 0)
        found[step] = following - values[step] + LAMBDA * after
    return found


def values_of(critic: Network, known: Any, behind: Any) -> Any:
    """Return the critic's value of every decision."""
    values = np.empty(known.shape[:2], np.float32)
    for step in range(len(known)):
        values[step] = critic(np.concatenate([known[step], behind[step]], axis=1))[:, 0]
    return values


def learn(
    actor: Network,
    critic: Network,
    decisions: Decisions,
    rng: np.random.Generator,
    options: Options,
    progress: float,
) -> tuple[float, float]:
    """Train both networks on decisions; return the critic's error and the actor's entropy.

    The learning rate and the weight of entropy fall to a tenth with the `progress` of the training,
    0 to 1.
    """
    places = np.flatnonzero(decisions.played.seats >= 0)
    lesson = _prepare(critic, decisions)
    rate = options.rate * (1 - 0.9 * progress)
    entropy = options.entropy * (1 - 0.9 * progress)
    errors, disorder = [], 0.0
    for _ in range(options.epochs):
        order = rng.permutation(places)
        for start in range(0, len(order), options.batch):
            some = order[start : start + options.batch]
            errors.append(_correct(critic, lesson, some, rate))
            free = some[lesson.free[some]]
            if len(free):
                disorder = _improve(actor, lesson, free, rate, entropy)
    return float(np.mean(errors)), disorder


def _prepare(critic: Network, decisions: Decisions) -> _Lesson:
    """Return the training data of decisions."""
    known, behind, masks, actions, chances, played = decisions
    values = values_of(critic, known, behind)
    better = advantages(values, played)
    free = (played.seats >= 0) & (masks.sum(axis=2) > 1)
    mean, spread = better[free].mean(), better[free].std() + 1e-8
    wanted = better + values
    better = (better - mean) / spread
    parts = known, behind, masks, actions, chances, free, better, wanted
    return _Lesson(*(part.reshape(-1, *part.shape[2:]) for part in parts))


def _correct(critic: Network, lesson: _Lesson, some: Any, rate: float) -> float:
    """Train the critic on some decisions, and return its error before that."""
    seen = np.concatenate([lesson.known[some], lesson.behind[some]], axis=1)
    off = critic(seen)[:, 0] - lesson.wanted[some]
    critic.improve((off / len(some))[:, None], rate)
    return float((off * off).mean())


def _improve(actor: Network, lesson: _Lesson, some: Any, rate: float, entropy: float) -> float:
    """Train the actor on some decisions, and return its entropy before that."""
    actions, gain = lesson.actions[some], lesson.better[some]
    shares = probabilities(actor(lesson.known[some]), lesson.masks[some])
    rows = np.arange(len(some))
    ratio = shares[rows, actions] / lesson.chances[some]
    kept = np.where(gain > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
    slopes = shares * (kept * gain * ratio)[:, None]
    slopes[rows, actions] -= kept * gain * ratio
    logs = np.log(np.maximum(shares, 1e-12))
    disorder = -(shares * logs).sum(axis=1, keepdims=True)
    slopes += entropy * shares * (logs + disorder)
    actor.improve((slopes / len(some)).astype(np.float32), rate)
    return float(disorder.mean())
