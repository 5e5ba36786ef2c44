"""A neural network in numpy, and imitation learning of a bot's policy from its games."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep
from arena.batch.positions import Cards
from arena.batch.replay import NOTHING, Bools
from arena.batch.worths import find_worths
from engine.encoding import VERSION, WORTHS

Floats = npt.NDArray[np.float32]

TEN_POINTS: Final = 10.0
"""Leads are inputs of networks in tens of points."""

UNIT: Final = 1 << 8
WEIGHT: Final = 1 << 12
"""The integers for an output of 1 and for a weight of 1, as in bots/apprentice.py."""

_BATCH = 512
_EPOCHS = 12
_RATE = 3e-4
_APART = 8  # one game in this many is kept for validation


class Network:
    """A multilayer perceptron with rectified linear units, trained by Adam.

    `layers` has the weights (input, unit) and the offsets of each layer in turn. Source: Kingma
    and Ba, "Adam: A Method for Stochastic Optimization", 2015.

    >>> network = Network.random([3, 4, 2], np.random.default_rng(1))
    >>> inputs = np.ones((1, 3), np.float32)
    >>> before = float(network(inputs)[0, 0])
    >>> network.improve(np.array([[1.0, 0.0]], np.float32), rate=0.01)
    >>> float(network(inputs)[0, 0]) < before
    True
    """

    def __init__(self, layers: Sequence[Floats]) -> None:
        self.layers = [layer.astype(np.float32) for layer in layers]
        self.means = [np.zeros_like(layer) for layer in self.layers]
        self.squares = [np.zeros_like(layer) for layer in self.layers]
        self.steps = 0
        self.inputs: list[Any] = []

    @classmethod
    def random(cls, sizes: Sequence[int], rng: np.random.Generator, last: float = 1.0) -> Network:
        """Return a network of layers of these `sizes`; the last weights are scaled by `last`."""
        layers = []
        for place, (rows, columns) in enumerate(pairwise(sizes)):
            scale = np.sqrt(2 / rows) * (last if place == len(sizes) - 2 else 1)
            layers.append(rng.normal(0, scale, (rows, columns)).astype(np.float32))
            layers.append(np.zeros(columns, np.float32))
        return cls(layers)

    def __call__(self, inputs: Any) -> Any:
        """Return the outputs, and keep the activations for `improve`."""
        self.inputs = [inputs]
        for place in range(0, len(self.layers), 2):
            inputs = inputs @ self.layers[place] + self.layers[place + 1]
            if place < len(self.layers) - 2:
                inputs = np.maximum(inputs, 0)
            self.inputs.append(inputs)
        return inputs

    def improve(self, slopes: Any, rate: float) -> None:
        """Take a step of Adam, given the gradient of the loss by the outputs of the last call."""
        gradients: list[Any] = []
        for place in range(len(self.layers) - 2, -1, -2):
            inputs = self.inputs[place // 2]
            gradients[:0] = [inputs.T @ slopes, slopes.sum(axis=0)]
            if place:
                slopes = slopes @ self.layers[place].T * (inputs > 0)
        length = np.sqrt(sum(float((part * part).sum()) for part in gradients))
        shrink = min(1.0, 0.5 / (length + 1e-8))
        self.steps += 1
        for layer, mean, square, part in zip(
            self.layers, self.means, self.squares, gradients, strict=True
        ):
            part *= shrink
            mean += 0.1 * (part - mean)
            square += 0.001 * (part * part - square)
            size = rate * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
            layer -= size * mean / (np.sqrt(square) + 1e-6)


def probabilities(scores: Any, masks: Any) -> Any:
    """Return the probability of each action: the softmax of the scores of legal actions."""
    scores = np.where(masks, scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def look(games: Lockstep) -> tuple[Any, Bools]:
    """Return the observations of the seats to act, as inputs of a network, and their masks."""
    observations, masks = games.observe()
    known = np.concatenate([observations, find_worths(games) / TEN_POINTS], axis=1)
    return known.astype(np.float32), masks.astype(np.bool_)


def to_bytes(network: Network) -> bytes:
    """Return the weights as whole numbers in an npz file, as bots/apprentice.py reads them."""
    layers: dict[str, Any] = {}
    for place, layer in enumerate(network.layers):
        layer = layer.astype(np.float64)
        if place == 0:
            layer[-WORTHS:] /= TEN_POINTS
        if place % 2:
            layers[f"layer{place}"] = np.rint(layer * UNIT * WEIGHT).astype(np.int32)
        else:
            whole = np.rint(layer * WEIGHT).clip(-32767, 32767)
            layers[f"layer{place}"] = whole.astype(np.int16)
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, version=np.array(VERSION), **layers)
    return file.getvalue()


def from_bytes(content: bytes) -> Network:
    """Return the network of a file that `to_bytes` wrote."""
    with np.load(io.BytesIO(content)) as arrays:
        layers = [arrays[f"layer{place}"].astype(np.float64) for place in range(len(arrays) - 1)]
    for place, layer in enumerate(layers):
        layer /= UNIT * WEIGHT if place % 2 else WEIGHT
    layers[0][-WORTHS:] *= TEN_POINTS
    return Network([layer.astype(np.float32) for layer in layers])


class Choices(NamedTuple):
    """Decisions with several legal actions, one in each row of the arrays, by game."""

    known: Any
    masks: Bools
    actions: Any
    games: Any


def gather(deals: Cards, actions: Cards, seats: Any) -> Choices:
    """Return the choices of a bot in recorded games under the published rules.

    `deals` are (game, card), `actions` (game, ply) with NOTHING after the end, `seats` the bot's
    seat in each game.
    """
    games = Lockstep(len(deals))
    games.begin(np.arange(len(deals)), deals)
    parts = []
    for played in np.ascontiguousarray(actions.T):
        known, masks = look(games)
        some = np.flatnonzero((played != NOTHING) & (games.to_act == seats))
        some = some[masks[some].sum(axis=1) > 1]
        parts.append((known[some], masks[some], played[some].astype(np.intp), some))
        games.step(np.where(played == NOTHING, 0, played))
    return Choices(*(np.concatenate(part) for part in zip(*parts, strict=True)))


class Clone(NamedTuple):
    """A network that imitates a bot, as an npz file.

    `alike` is the share of choices on which it agrees with the bot, and `before` that of the
    network from which training began, both in validation games.
    """

    content: bytes
    alike: float
    before: float


def imitate(content: bytes, choices: Choices, rng: np.random.Generator) -> Clone:
    """Return a network trained to imitate a bot's choices, beginning with a given network.

    One game in eight is kept for validation; the clone is evaluated on these after each pass over
    the others, and the best one is returned.
    """
    network = from_bytes(content)
    tested = choices.games % _APART == min(_APART - 1, choices.games.max(initial=0))
    taught, test = np.flatnonzero(~tested), np.flatnonzero(tested)
    best = Clone(content, *[_alike(network, choices, test)] * 2)
    for _ in range(_EPOCHS):
        order = rng.permutation(taught)
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            slopes = probabilities(network(choices.known[some]), choices.masks[some])
            slopes[np.arange(len(some)), choices.actions[some]] -= 1
            network.improve((slopes / len(some)).astype(np.float32), _RATE)
        alike = _alike(network, choices, test)
        if alike > best.alike:
            best = Clone(to_bytes(network), alike, best.before)
    return best


def _alike(network: Network, choices: Choices, some: Any) -> float:
    """Return the share of some choices on which a network agrees."""
    if not len(some):
        return 0.0
    scores = np.where(choices.masks[some], network(choices.known[some]), -np.inf)
    return float((scores.argmax(axis=1) == choices.actions[some]).mean())
