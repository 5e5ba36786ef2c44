"""The intervals of `arena worth --intervene`: how often they hold the effect of a card."""

from __future__ import annotations

from collections.abc import Iterator
from math import erf, sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.wins.effects import make_effects
from engine import KINDS, STANDARD
from engine.cards import CHARS

SEED = 17
RUNS = 1000
PLANTED: Final = (0.1, 0.1, 0.05, 0.0, 0.05, 0.1, 0.2, -0.1, -0.2, -0.3, 0.4)
"""What a card of each kind adds to the taker's lead, in standard deviations of the rest's luck."""

_DRAW = 0.03  # a lead that is no greater is a draw
_MIRROR = -0.5  # what is luck for the taker of one game of a pair is bad luck in the other

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Setup(NamedTuple):
    """An experiment with a swap in both games of so many pairs.

    `changed` is how often the rest of a game has another luck after the swap, because a bot
    plays otherwise.
    """

    pairs: int
    changed: float


SETUPS: Final = [
    Setup(pairs, changed) for pairs in (50, 200, 1_000, 4_000) for changed in (0.0, 0.4)
]


class Held(NamedTuple):
    """By kind of card: the true effect, and how often the interval held it.

    An experiment without a swap of this kind does not count.
    """

    true: Floats
    covered: Floats


def score(lead: Floats) -> Ints:
    """Return the taker's results in halves."""
    return 1 + (lead > _DRAW).astype(np.int64) - (lead < -_DRAW)


def true_effects() -> Floats:
    """Return the planted effects, worked out: each card against one drawn from the deck."""

    def mean(added: float) -> float:
        """Return the mean result of a taker whose lead is normal around what was added."""
        return (2 + sum(erf((added + edge) / sqrt(2)) for edge in (-_DRAW, _DRAW))) / 4

    means = np.array([mean(added) for added in PLANTED])
    effects: Floats = means - means @ np.array(STANDARD.copies) / len(STANDARD.deck)
    return effects


def play(setup: Setup, rng: np.random.Generator) -> Ints:
    """Return the rows of one experiment (`arena.wins.effects.Swapped`)."""
    shape = setup.pairs, 2
    deck, added = np.frombuffer(STANDARD.deck, np.uint8), np.array(PLANTED)
    kind, other = deck[rng.integers(len(deck), size=(2, *shape))]
    luck, fresh = rng.normal(size=(2, *shape))
    luck[:, 1] = _MIRROR * luck[:, 0] + sqrt(1 - _MIRROR**2) * luck[:, 1]
    rest = np.where(rng.random(shape) < setup.changed, fresh, luck)
    halves = score(luck + added[kind]) - score(rest + added[other])
    halves[kind == other] = 0
    pair, bot = np.indices(shape)
    columns = np.zeros(shape, np.int64), pair, bot, kind.astype(np.int64), halves
    return np.stack([column.ravel() for column in columns], axis=1)


def hold(setup: Setup, runs: int = RUNS) -> Held:
    """Return how often the intervals for all bots hold the planted effects."""
    rng = np.random.default_rng([SEED, setup.pairs, round(1000 * setup.changed)])
    true = true_effects()
    held, said = np.zeros((2, len(KINDS)), np.int64)
    for _ in range(runs):
        table = make_effects(["a", "b"], play(setup, rng))
        table = table[table["bot"].isna()]
        kinds = np.array([CHARS.index(card) for card in table["card"]])
        low, high = (table[f"effect_{end}"].to_numpy() for end in ("low", "high"))
        said[kinds] += 1
        held[kinds] += (low <= true[kinds]) & (true[kinds] <= high)
    return Held(true, held / np.maximum(said, 1))


def lines() -> Iterator[str]:
    """Yield the lines of the section."""
    yield f"{RUNS:,} experiments a row, with a swap in both games of each pair. A card of each kind"
    yield "adds a planted part to its taker's lead, and the rest is luck, of which half is the"
    yield "opposite in the other game of the pair. `changed` is how often the rest of a game has"
    yield "another luck after the swap. The columns are the kinds; the first row has the true"
    yield "effects, the others how often the 95 % interval held them."
    yield ""
    yield f"| pairs | changed | {' | '.join(CHARS[: len(KINDS)])} |"
    yield "|---|---|" + "---|" * len(KINDS)
    yield f"| | | {' | '.join(f'{effect:+.1%}' for effect in true_effects())} |"
    for setup in SETUPS:
        held = hold(setup)
        shares = " | ".join(f"{share:.1%}" for share in held.covered)
        yield f"| {setup.pairs:,} | {setup.changed:.0%} | {shares} |"
