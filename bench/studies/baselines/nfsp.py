"""Neural fictitious self-play, with networks in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from arena.batch.learner import Network, probabilities
from arena.batch.lockstep import Lockstep
from arena.statistics.distributions import Floats
from bench.studies.baselines.game import Game, Shares
from engine.encoding import ACTIONS

GAMES = 64
"""Games of a step."""

LESSONS, BATCH, RATE = 2, 256, 1e-3
"""Lessons of each network after a step, their decisions, and the rate of Adam."""

ANTICIPATION = 0.1
"""The share of seats that play best responses."""

EXPLORATION = 0.1
"""The share of random actions among these, at the beginning; it falls to 0."""


class Memory:
    """Rows of numbers: the latest ones, or with `all_time` an even sample of all."""

    def __init__(self, size: int, width: int, *, all_time: bool) -> None:
        self.rows = np.zeros((size, width))
        self.all_time = all_time
        self.seen = 0

    def add(self, rows: Floats, rng: np.random.Generator) -> None:
        """Keep these rows in place of old ones (reservoir sampling for an even sample)."""
        size = len(self.rows)
        numbers = self.seen + np.arange(len(rows))
        places = numbers % size
        if self.all_time:
            places = np.where(numbers < size, numbers, rng.integers(0, numbers + 1))
        kept = places < size
        self.rows[places[kept]] = rows[kept]
        self.seen += len(rows)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return some rows."""
        return self.rows[rng.integers(0, min(self.seen, len(self.rows)), BATCH)]


def nfsp(game: Game, seed: int, steps: int, units: int = 64) -> Shares:
    """Return the average policy of neural fictitious self-play.

    One network learns the value of each action against the averages, from the latest decisions;
    another one imitates what the first has played, from a sample of all time. Source: Heinrich and
    Silver, "Deep reinforcement learning from self-play in imperfect-information games", 2016.
    """
    rng = np.random.default_rng(seed)
    sizes = [game.features.shape[1], units, units, ACTIONS]
    response, average = (Network.random(sizes, rng, last=0.1) for _ in range(2))
    latest, chosen = Memory(30_000, 4, all_time=False), Memory(300_000, 2, all_time=True)
    target = Network(response.layers)
    for step in range(steps):
        if step % 50 == 0:
            target = Network(response.layers)
        met = _Meeting(game, response, average, rng, EXPLORATION * (1 - step / steps))
        latest.add(met.steps(), rng)
        chosen.add(met.imitated(), rng)
        for _ in range(LESSONS):
            _value(game, response, target, latest.draw(rng))
            _imitate(game, average, chosen.draw(rng))
    return game.from_rows(probabilities(average(game.features), game.masks))


class _Meeting:
    """Games in which each seat plays its average, or at times a best response to averages."""

    def __init__(
        self, game: Game, response: Network, average: Network, rng: Any, exploration: float
    ) -> None:
        self.game, self.response, self.average, self.rng = game, response, average, rng
        self.exploration = exploration
        self.modes = rng.random((2, GAMES)) < ANTICIPATION
        self.last = np.full((2, GAMES, 2), -1)  # decision and action
        self.rows: list[Floats] = []
        self.played: list[Floats] = []
        self.won = game.play(GAMES, rng, self.choose)

    def choose(self, decisions: Any, seats: Any, _games: Lockstep) -> Any:
        """Return the actions, and remember those that were not forced."""
        masks, inputs = self.game.masks[decisions], self.game.features[decisions]
        odds = probabilities(self.average(inputs), masks).cumsum(axis=1)
        drawn = (odds <= self.rng.random((GAMES, 1)) * odds[:, -1:]).sum(axis=1)
        worth = np.where(masks, self.response(inputs), -np.inf)
        tried = self.rng.random(GAMES) < self.exploration
        worth[tried] = np.where(masks[tried], self.rng.random((tried.sum(), ACTIONS)), -np.inf)
        each = np.arange(GAMES)
        responds = self.modes[seats, each]
        actions = np.where(responds, worth.argmax(axis=1), drawn)
        free = masks.sum(axis=1) > 1
        before = self.last[seats, each]
        goes_on = free & (before[:, 0] >= 0)
        after = np.column_stack([before, decisions, np.zeros(GAMES)])
        self.rows.append(after[goes_on])
        made = np.column_stack([decisions, actions])
        self.played.append(made[free & responds])
        self.last[seats[free], each[free]] = made[free]
        return actions

    def steps(self) -> Floats:
        """Return for each decision: itself, the action, the seat's next one or -1, its result."""
        ends = []
        for seat, won in enumerate((self.won, -self.won)):
            row = np.column_stack([self.last[seat], np.full(GAMES, -1), won])
            ends.append(row[row[:, 0] >= 0])
        return np.concatenate(self.rows + ends)

    def imitated(self) -> Floats:
        """Return the decisions and actions of best responses."""
        return np.concatenate(self.played)


def _value(game: Game, response: Network, target: Network, rows: Floats) -> None:
    """Bring the worth of each action nearer to the result, or to that of the next decision."""
    decisions, actions, following = rows[:, :3].astype(np.intp).T
    after = np.where(game.masks[following], target(game.features[following]), -np.inf)
    wanted = np.where(following < 0, rows[:, 3], after.max(axis=1))
    worth = response(game.features[decisions])
    slopes = np.zeros_like(worth)
    each = np.arange(len(rows))
    slopes[each, actions] = (worth[each, actions] - wanted) / len(rows)
    response.improve(slopes, RATE)


def _imitate(game: Game, average: Network, rows: Floats) -> None:
    """Make the actions of best responses likelier."""
    decisions, actions = rows.astype(np.intp).T
    slopes = probabilities(average(game.features[decisions]), game.masks[decisions])
    slopes[np.arange(len(rows)), actions] -= 1
    average.improve((slopes / len(rows)).astype(np.float32), RATE)
