"""The intervals of `arena worth --intervene`: how often they hold the effect of a card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import erf, sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.addons.studies.intervene import make_effects
from arena.tournament.rule_changes import find_taken
from engine import KINDS, STANDARD, Rules, State, outcome
from engine.cards import CHARS, UNIT
from engine.play import playout
from engine.seeds import stream
from engine.state import random_deal

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


GAMES: Final = 1_000
"""Pairs of real games."""

DRAWN: Final = (50, 200, 1_000)
"""Pairs of an experiment with them."""


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
    """Return the rows of one experiment (`arena.addons.studies.intervene.Swapped`)."""
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
    return _count(true_effects(), (play(setup, rng) for _ in range(runs)))


class Games(NamedTuple):
    """Random games of the engine in pairs of one deal, with the outcome of every swap.

    Nobody wins by City, so the rest is played the same with any card in the pile. `rows` has all
    swaps, with the halves (`Swapped`); those of a game begin at `starts` and are `sizes` many.
    """

    rows: Ints
    starts: Ints
    sizes: Ints


def play_games(pairs: int) -> Games:
    """Return games of so many pairs."""
    rules = Rules(cities_needed=9)
    rows: list[tuple[int, ...]] = []
    starts = []
    for pair in range(pairs):
        rng = stream(SEED, "swaps", pair)
        deal = random_deal(rng, rules)
        for _ in range(2):
            starts.append(len(rows))
            state = State(deal, rules)
            playout(state, rng)
            rows += _all_swaps(deal, state, pair)
    ends = np.array([*starts[1:], len(rows)])
    begins = np.array(starts)
    return Games(np.array(rows), begins.reshape(-1, 2), (ends - begins).reshape(-1, 2))


def _all_swaps(deal: bytes, state: State, pair: int) -> Iterator[tuple[int, ...]]:
    """Yield the outcome of every swap of a game, of which this is the end."""

    def halves(piles: tuple[int, int], seat: int) -> int:
        winner = outcome(piles, state.rules).winner
        return 1 if winner is None else 2 * (winner == seat)

    for taken in find_taken(deal, state.history, state.rules):
        for other in deal[-state.rules.removed :]:
            piles = [*state.piles]
            piles[taken.seat] += UNIT[other] - UNIT[taken.kind]
            after = halves((piles[0], piles[1]), taken.seat)
            yield 0, pair, 0, taken.kind, halves(state.piles, taken.seat) - after


def hold_in_games(games: Games, pairs: int, runs: int = RUNS) -> Held:
    """Return how often the intervals of experiments with so many of the pairs hold the truth.

    The truth is that of all games, of which an experiment draws pairs, each as likely as any.
    """
    rng = np.random.default_rng([SEED, pairs])
    weights = np.repeat(1 / games.sizes.ravel(), games.sizes.ravel())
    kinds = games.rows[:, 3]
    totals = np.bincount(kinds, weights * games.rows[:, 4], len(KINDS))
    true = totals / np.bincount(kinds, weights, len(KINDS)) / 2

    def experiment() -> Ints:
        chosen = rng.integers(len(games.starts), size=pairs)
        swap = games.starts[chosen] + (rng.random((pairs, 2)) * games.sizes[chosen]).astype(int)
        rows: Ints = games.rows[swap.ravel()]
        rows[:, 1] = np.arange(pairs).repeat(2)
        return rows

    return _count(true, (experiment() for _ in range(runs)))


def _count(true: Floats, experiments: Iterable[Ints]) -> Held:
    """Return how often the intervals of experiments hold the truth."""
    held, said = np.zeros((2, len(KINDS)), np.int64)
    for rows in experiments:
        table = make_effects(["a", "b"], rows)
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
        yield f"| {setup.pairs:,} | {setup.changed:.0%} | {_shares(hold(setup).covered)} |"
    yield ""
    yield f"The same in {2 * GAMES:,} random games of the engine that nobody wins by City: there"
    yield "the outcome of every swap is known, and so is the true effect of every kind. An"
    yield "experiment draws so many of the pairs."
    yield ""
    yield f"| pairs | {' | '.join(CHARS[: len(KINDS)])} |"
    yield "|---|" + "---|" * len(KINDS)
    games = play_games(GAMES)
    for number, pairs in enumerate(DRAWN):
        held = hold_in_games(games, pairs)
        if not number:
            yield f"| | {' | '.join(f'{effect:+.1%}' for effect in held.true)} |"
        yield f"| {pairs:,} | {_shares(held.covered)} |"


def _shares(shares: Floats) -> str:
    return " | ".join(f"{share:.1%}" for share in shares)
