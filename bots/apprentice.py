"""Has learned in games against itself; one pass of a network.

A network scores the actions from what the seat knows (`engine.encoding`), and the legal one with
the highest score is played. It was trained under the published rules; under others it plays as
`timing` does. docs/training.md says how it was made. Source: Schulman and others, "Proximal Policy
Optimization Algorithms", 2017; the critic of the training sees all cards, as in Li and others,
"Suphx: Mastering Mahjong with Deep Reinforcement Learning", 2020.
"""

from __future__ import annotations

import hashlib
import io
import pkgutil
from collections.abc import Sequence
from functools import cache
from math import exp
from threading import local
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from bots.timing import bot as plain_bot
from engine import STANDARD, Action, Setup, Strategy, View
from engine.encoding import ACTIONS, VERSION, WORTHS, encoder_of, worths

SHA256: Final = "c36be609cbf1b08d9b178604e42e17b1806f7440477750ed1206f31d63e7cdd0"
"""The hash of apprentice.npz: with other weights the source, and so the bot, is another."""

UNIT: Final = 1 << 8
"""The integer for an input of 1 and for an output of 1 of a unit."""
WEIGHT: Final = 1 << 12
"""The integer for a weight of 1."""

Numbers: TypeAlias = npt.NDArray[np.float64]


_TOGETHER = 1024  # games whose numbers fit in the cache
_rooms = local()


def _room(name: str, rows: int, columns: int, kind: Any = np.float64) -> Any:
    """Return memory of this thread's own, which the next call with the name overwrites.

    New memory is first cleared by the kernel: a pass then takes 7 us a game instead of 3.3.
    """
    known = _rooms.__dict__.get(name)
    if known is None or known.size < rows * columns:
        known = _rooms.__dict__[name] = np.empty(rows * columns, kind)
    return known[: rows * columns].reshape(rows, columns)


class Network:
    """Layers of weights, all whole numbers: their sums are the same on every machine.

    `layers` has the weights (input, unit) and the offsets of each layer in turn, for views of
    these rules; `version` is that of the encoding. Raises ValueError for another version, and
    for layers that do not fit it or each other.
    """

    def __init__(self, layers: Sequence[npt.NDArray[Any]], version: int) -> None:
        if version != VERSION:
            raise ValueError(f"weights for version {version} of the encoding, not {VERSION}")
        size = encoder_of(STANDARD).size + WORTHS
        for weights, offsets in zip(layers[::2], layers[1::2], strict=True):
            if weights.shape != (size, *offsets.shape):
                raise ValueError(f"weights of shape {weights.shape}, where {size} numbers come in")
            size = len(offsets)
        if size != ACTIONS:
            raise ValueError(f"scores of {size} actions, not of {ACTIONS}")
        exact = [layer.astype(np.float64) for layer in layers]  # whole below 2**53
        self.layers = [*zip(exact[::2], exact[1::2], strict=True)]
        self.first = self.layers[0][0].astype(np.float32)

    def scores(self, view: View) -> list[float]:
        """Return the score of each action, legal or not."""
        bits = encoder_of(view.rules).observation(view)
        units: Numbers = UNIT * np.array([*bits, *worths(view)], np.float64)
        *hidden, (weights, offsets) = self.layers
        for rows, shift in hidden:
            units = np.floor(np.maximum(units @ rows + shift, 0) / WEIGHT)
        scores: list[float] = (units @ weights + offsets).tolist()
        return scores

    def scores_in(self, games: Any) -> Numbers:
        """Return the scores (game, action) of the seats to act in many games, the same numbers.

        The games are those of `arena.batch.lockstep`. Inputs that are the same in all games are
        added up once. The rest is multiplied with 32 bits, which hold the sums exactly: they stay
        below 2**18.
        """
        from arena.batch.learner import find_leads

        bits, leads = games.observe()[0].T, find_leads(games)
        scores = np.empty((ACTIONS, games.count))
        for start in range(0, games.count, _TOGETHER):
            some = slice(start, start + _TOGETHER)
            inputs = _room("inputs", len(self.first), scores[0, some].size, np.float32)
            np.concatenate([bits[:, some], leads[:, some]], out=inputs, casting="unsafe")
            self._pass(inputs, scores[:, some])
        return scores.T

    def _pass(self, inputs: Any, out: Numbers) -> None:
        """Fill in the scores (action, game) of inputs (input, game)."""
        count = inputs.shape[1]
        (rows, offsets), *hidden, (weights, last) = self.layers
        lowest = inputs.min(axis=1)
        varied = np.flatnonzero(lowest != inputs.max(axis=1))
        lowest[varied] = 0
        shift = np.floor(offsets / UNIT) + lowest @ rows
        chosen = inputs.take(varied, axis=0, out=_room("varied", len(varied), count, np.float32))
        sums = _room("sums", len(shift), count, np.float32)
        np.matmul(self.first.take(varied, axis=0).T, chosen, out=sums)
        sums += shift.astype(np.float32)[:, None]
        sums *= UNIT / WEIGHT  # a power of two: exact
        units = _room("units", len(shift), count, np.float64)
        np.floor(np.maximum(sums, 0, out=sums), out=units)
        for place, (rows, offsets) in enumerate(hidden):
            sums = np.matmul(rows.T, units, out=_room(f"units{place}", len(offsets), count))
            sums += offsets[:, None]
            sums *= 1 / WEIGHT
            units = np.floor(np.maximum(sums, 0, out=sums), out=sums)
        out[:] = weights.T @ units + last[:, None]

    def policy(self, view: View) -> dict[Action, float]:
        """Return the probability of each legal action, as in the games of the training."""
        scores = self.scores(view)
        highest = max(scores[action] for action in view.legal)
        odds = {action: exp((scores[action] - highest) / (UNIT * WEIGHT)) for action in view.legal}
        whole = sum(odds.values())
        return {action: share / whole for action, share in odds.items()}


class Apprentice:
    """Plays the legal action with the highest score, the first if several tie."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def choose(self, view: View, /) -> Action:
        """Return the action."""
        if len(view.legal) == 1:
            return view.legal[0]
        scores = self.network.scores(view)
        return max(view.legal, key=scores.__getitem__)

    def scores(self, games: Any, /) -> Numbers:
        """Return the score of each action in many games (game, action)."""
        return self.network.scores_in(games)


def read(content: bytes | None) -> Network:
    """Return the network of an npz file as docs/examples/selfplay/train.py writes it."""
    with np.load(io.BytesIO(content or b"")) as arrays:
        layers = [arrays[f"layer{place}"] for place in range(len(arrays) - 1)]
        return Network(layers, int(arrays["version"]))


def own_network() -> Network:
    """Return the network of this bot; raises ValueError for a file that is not its own."""
    return load("apprentice", SHA256)


@cache
def load(name: str, sha256: str) -> Network:
    """Return the network of a bot of this folder; raises ValueError for a file of another hash."""
    content = pkgutil.get_data("bots", f"{name}.npz") or b""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"bots/{name}.npz is not the file whose sha256 bots/{name}.py has")
    return read(content)


def begin(network: Network, setup: Setup) -> Strategy:
    """Return the strategy for one game, with this network if it was made for the rules."""
    return Apprentice(network) if setup.rules == STANDARD else plain_bot(setup)


def bot(setup: Setup) -> Strategy:
    """Return the strategy for one game."""
    return begin(own_network(), setup)
