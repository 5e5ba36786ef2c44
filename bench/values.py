"""Learns what piles are worth between two rounds: the table of `bots/champion.py`.

`python -m bench.values` plays games of STAGES on all cores. The rounds before a random one are
played with some random actions, so that the positions between rounds are of many kinds. A logistic
regression of the result on `features` gives the table, which is printed as Python. Takes
about half an hour on two cores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from multiprocessing import get_context
from random import Random
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from arena.entries.resolve import resolve
from arena.threads import count_cores
from bots.champion import Cities, Role, Weights
from engine import CITY, STANDARD, SUPPORTS, State
from engine.cards import VALUES, counts
from engine.scoring import outcome
from engine.seeds import stream
from engine.state import random_deal
from engine.strategy import Setup
from engine.view import view

STAGES = (("majority", 100_000, 0.15), ("champion(iterations=150)", 10_000, 1.0))
"""The bot, its number of games, and the weight of each of their positions."""

LOOSE = (0.0, 0.1, 0.3, 0.6)
CHUNK = 50
RIDGE = 10.0
ROUNDS = (1, 2, 3)

Floats = NDArray[np.float64]


class Row(NamedTuple):
    """A position between rounds with its game's result: piles and row as counts.

    The first pile is that of the seat that begins the next round.
    """

    after: int
    first: tuple[int, ...]
    second: tuple[int, ...]
    row: tuple[int, ...]
    result: float


def game(spec: str, number: int) -> Iterator[Row]:
    """Play one game, and yield its positions from a random round on."""
    rng = stream(0, "values", spec, number)
    state = State(random_deal(rng))
    entry = resolve(spec)
    players = [entry.create(Setup(Random(rng.random()), seat, STANDARD)) for seat in (0, 1)]
    clean, loose = rng.choice((1, 2, 3, 4)), rng.choice(LOOSE)
    seen: list[tuple[int, State]] = []
    while not state.over:
        if (state.round >= max(2, clean) and not seen) or (seen and state.round > seen[-1][0] + 1):
            seen.append((state.round - 1, state.copy()))
        legal = state.legal()
        if state.round < clean and rng.random() < loose:
            state.apply(rng.choice(legal))
        else:
            state.apply(players[state.to_act].choose(view(state, state.to_act)))
    winner = outcome(state.piles).winner
    for after, position in seen:
        begins = after & 1
        yield Row(
            after,
            counts(position.piles[begins]),
            counts(position.piles[1 - begins]),
            tuple(position.row.count(kind) for kind in range(len(VALUES))),
            0.5 if winner is None else float(winner == begins),
        )


def chunk(job: tuple[str, int]) -> list[Row]:
    """Return the positions of some games."""
    spec, start = job
    return [row for number in range(start, start + CHUNK) for row in game(spec, number)]


def side(piles: NDArray[np.int64], rivals: NDArray[np.int64], row: NDArray[np.int64]) -> Floats:
    """Return one player's features: counts, sets, deals, cities; 26 columns."""
    columns = [piles[:, kind] >= n for kind in SUPPORTS for n in (1, 2, 3, 4)]
    columns += [piles[:, :4].min(axis=1), piles @ np.array(VALUES)]
    for cities in (1, 2):
        held = piles[:, CITY] == cities
        unrivalled = held & (rivals[:, CITY] == 0)
        columns += [held, unrivalled, unrivalled & (row[:, CITY] == 3 - cities)]
    return np.stack(columns, axis=1).astype(float)


def features(rows: list[Row]) -> Floats:
    """Return a row of features for each position, those of the second player negative."""
    first = np.array([row.first for row in rows])
    second = np.array([row.second for row in rows])
    row = np.array([row.row for row in rows])
    ahead = first[:, :4] - second[:, :4]
    left = np.array(STANDARD.copies[:4]) - first[:, :4] - second[:, :4]
    share = np.clip(ahead / (left + 1), -1, 1)
    sure = (ahead > left) * 1.0 - (-ahead > left)
    ones = np.ones((len(rows), 1))
    return np.hstack([ones, side(first, second, row), -side(second, first, row), share, sure, row])


def fitted(rows: list[Row], weights: Floats) -> tuple[Floats, float]:
    """Return the weights of the features, and the log loss on a fifth that was left out."""
    table = features(rows)
    results = np.array([row.result for row in rows])
    held_out = np.arange(len(rows)) % 5 == 4
    trial = _fit(table[~held_out], results[~held_out], weights[~held_out])
    known = held_out & (weights == weights.max())
    logits = table[known] @ trial
    loss = float(np.mean(np.logaddexp(0, logits) - results[known] * logits))
    return _fit(table, results, weights), loss


def _fit(table: Floats, results: Floats, weights: Floats) -> Floats:
    def loss(values: Floats) -> tuple[float, Floats]:
        logits = table @ values
        each = np.logaddexp(0, logits) - results * logits
        error = 1 / (1 + np.exp(-logits)) - results
        total = float(weights @ each + RIDGE / 2 * values @ values)
        return total, table.T @ (weights * error) + RIDGE * values

    start = np.zeros(table.shape[1])
    found: Floats = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x
    return found


def to_weights(columns: Sequence[float]) -> Weights:
    """Return a weight for each column of `features`, by its name in the bot."""
    left = iter(columns)

    def take(number: int) -> tuple[float, ...]:
        return tuple(islice(left, number))

    def role() -> Role:
        fives, sixes, sevens, eights = (take(4) for _ in SUPPORTS)
        whole_set, point = take(2)
        one, two = (Cities(*take(3)) for _ in range(2))
        return Role(fives, sixes, sevens, eights, whole_set, point, one, two)

    return Weights(next(left), role(), role(), take(4), take(4), take(len(VALUES)))


def to_columns(weights: Weights) -> list[float]:
    """Return weights in the order of the columns of `features`."""

    def flat(part: Any) -> list[float]:
        return [n for one in part for n in flat(one)] if isinstance(part, tuple) else [part]

    return flat(weights)


def main() -> None:
    """Play, fit, and print the table."""
    rows: list[tuple[Row, float]] = []
    with get_context("forkserver").Pool(count_cores()) as pool:
        for spec, games, weight in STAGES:
            jobs = [(spec, start) for start in range(0, games, CHUNK)]
            for some in pool.imap(chunk, jobs):
                rows += [(row, weight) for row in some]
    for after in ROUNDS:
        chosen = [(row, weight) for row, weight in rows if row.after == after]
        weights = np.array([weight for _, weight in chosen])
        values, loss = fitted([row for row, _ in chosen], weights)
        print(f"    # {len(chosen):,} positions, log loss {loss:.4f}")
        print(f"    {after}: {to_weights([round(float(value), 2) for value in values])},")


if __name__ == "__main__":
    main()
