"""A neural network in numpy, its features, and imitation learning from a bot's games."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep
from arena.batch.positions import Cards, Positions
from arena.batch.replay import NOTHING, Bools, find_points
from engine import CITY, KINDS, SUPPORTS, VALUES, Rules
from engine.encoding import CITIES, VERSION, WORTHS

Leads = npt.NDArray[np.signedinteger[Any]]


def find_worths(games: Positions) -> Leads:
    """Return `engine.encoding.worths` of the seats to act, a row for each game.

    They have 16 bits, or 32 under rules with larger leads.

    >>> from arena.batch.lockstep import Lockstep, random_deals
    >>> games = Lockstep(2)
    >>> games.begin(np.arange(2), random_deals(2, np.random.default_rng(7)))
    >>> find_worths(games).shape
    (2, 25)
    """
    return find_leads(games).T


def find_leads(games: Positions) -> Leads:
    """Return the same leads with a column for each game.

    One more card changes only the sets and the points of its kind, so the leads after a card of
    each kind are the leads without it plus a difference: 0.2 us a game instead of 2.0.
    """
    rules, count = games.rules, games.count
    number = number_of(rules)
    both = games.piles.astype(number)
    second = games.to_act.astype(np.bool_)
    own, other = np.where(second, both[::-1], both)
    size = rules.take_size
    before = games.count_newest(slice(None), size - 1).astype(number)
    gaining = np.concatenate([own + before, other + before], axis=-1)
    staying = np.concatenate([other, own], axis=-1)
    bare, after = _with_a_card(gaining, staying, rules)
    leads = np.empty((WORTHS, count), number)
    leads[0] = _lead(own, other, rules)
    leads[1], leads[2] = _with_oldest(games, bare, after)
    leads[3::2], leads[4::2] = after[:, :count], after[:, count:]
    won = own[CITY] >= rules.cities_needed
    np.negative(leads[2::2], out=leads[2::2])
    leads[2::2, won] = CITIES  # the first seat to hold the cities has won, whatever the other takes
    return leads


def _lead(first: Leads, second: Leads, rules: Rules) -> Leads:
    """Return the leads of the owners of the first piles (kind, game) over those of the second."""
    score = find_points(np.stack([first, second]), rules)
    return _by_cities(score[0] - score[1], first[CITY], second[CITY], rules)


def _by_cities(leads: Leads, first: Leads, second: Leads, rules: Rules) -> Leads:
    """Set, in place, the leads of a pile with the cities it takes to win to CITIES points."""
    needed = rules.cities_needed
    leads[np.broadcast_to(second >= needed, leads.shape)] = -CITIES
    leads[np.broadcast_to(first >= needed, leads.shape)] = CITIES
    return leads


def _with_a_card(first: Leads, second: Leads, rules: Rules) -> tuple[Leads, Leads]:
    """Return the leads of the first piles, and those with a card of each kind more (kind, game)."""
    score = find_points(np.stack([first, second]), rules)
    bare = score[0] - score[1]
    after = find_gains(first, second, rules) + bare
    cities = first[CITY] + (np.array(KINDS) == CITY)[:, None].astype(first.dtype)
    bare = _by_cities(bare, first[CITY], second[CITY], rules)
    return bare, _by_cities(after, cities, second[CITY], rules)


def find_gains(first: Leads, second: Leads, rules: Rules) -> Leads:
    """Return by how many points a card of each kind changes the leads of the first piles.

    The piles are (kind, game), and the gains (kind of the card, game). City wins do not count.
    """
    number = first.dtype.type
    after = np.empty_like(first)
    supports = first[: len(SUPPORTS)]
    ahead = supports - second[: len(SUPPORTS)]
    values = np.array(rules.majority_values, number)[:, None]
    gained = after[: len(SUPPORTS)]
    np.multiply(values, (ahead == 0) | (ahead == -1), out=gained)
    fewest = supports.min(axis=0)
    is_fewest = supports == fewest
    is_fewest &= is_fewest.sum(axis=0, dtype=np.uint8) == 1
    gained += number(rules.set_bonus) * is_fewest
    after[len(SUPPORTS) :] = np.array(VALUES[len(SUPPORTS) :], number)[:, None]
    return after


def _with_oldest(games: Positions, bare: Leads, after: Leads) -> Leads:
    """Return the leads (seat, game) of takes that include the oldest card, too."""
    size, count = games.rules.take_size, games.count
    columns = np.arange(count)
    whole = np.flatnonzero(games.length >= size)
    oldest = games.row[games.length[whole] - size, whole]
    leads = bare.reshape(2, count).copy()
    for seat in (0, 1):
        leads[seat, whole] = after[oldest, columns[whole] + seat * count]
    return leads


def number_of(rules: Rules) -> type[np.signedinteger[Any]]:
    """Return the integer type that holds the difference of any two piles' points."""
    values = sum(copies * abs(value) for copies, value in zip(rules.copies, VALUES, strict=True))
    sets = abs(rules.set_bonus) * min(rules.copies[: len(SUPPORTS)])
    most = sum(rules.majority_values) + sets + values
    return np.int16 if 2 * most <= np.iinfo(np.int16).max else np.int32


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


def draw(shares: Any, masks: Any, luck: Any) -> Any:
    """Return an action for each row of probabilities, given a random number from 0 to 1 (row, 1).

    >>> draw(np.array([[0.2, 0.8]] * 2), np.ones((2, 2), bool), np.array([[0.1], [0.3]])).tolist()
    [0, 1]
    """
    sums = shares.cumsum(axis=1)
    actions = np.minimum((sums <= luck * sums[:, -1:]).sum(axis=1), shares.shape[1] - 1)
    # rounding may select an action of probability 0: then the likeliest is played
    wrong = ~masks[np.arange(len(shares)), actions]
    actions[wrong] = shares[wrong].argmax(axis=1)
    return actions


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
