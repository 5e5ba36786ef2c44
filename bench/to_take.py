"""Learns what a seat can expect that is still to take: the table TO_TAKE of `bots/champion.py`.

`python -m bench.to_take` plays games of STAGES on all cores, and fits a logistic regression of
the result on the positions in which one seat has taken. Takes about two minutes on two cores.
"""

from __future__ import annotations

from functools import partial
from multiprocessing import get_context

import numpy as np
import scipy

from arena.entries.resolve import resolve
from arena.threads import count_cores
from bench.values import Floats
from bots.champion import features_to_take
from engine import STANDARD, Setup, State, outcome
from engine.seeds import stream
from engine.state import random_deal
from engine.view import view

STAGES = (("majority", 8_000), ("champion(iterations=150)", 800))
"""The bot and its number of games; the positions of either bot weigh the same in total."""

RIDGE = 0.5

Position = tuple[int, tuple[float, ...], float]
"""The round, the features and the result for seat 0."""


def game(spec: str, number: int) -> list[Position]:
    """Play one game, and return its positions in which one seat is still to take."""
    rng = stream(0, "to take", spec, number)
    state = State(random_deal(rng))
    entry = resolve(spec)
    players = [
        entry.create(Setup(stream(0, "to take", spec, number, seat), seat, STANDARD))
        for seat in (0, 1)
    ]
    rows = []
    while not state.over:
        if state.taken[0] != state.taken[1]:
            seat = state.taken.index(False)
            now, gain, *own = features_to_take(view(state, 0), seat)
            rows.append((state.round, (now, gain, *(x * (1 - 2 * seat) for x in own))))
        state.apply(players[state.to_act].choose(view(state, state.to_act)))
    winner = outcome(state.piles).winner
    result = 0.5 if winner is None else 1.0 - winner
    return [(number, features, result) for number, features in rows]


def fitted(table: Floats, results: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return the weights of the features and the log loss."""

    def loss(values: Floats) -> tuple[float, Floats]:
        logits = table @ values
        each = np.logaddexp(0, logits) - results * logits
        error = 1 / (1 + np.exp(-logits)) - results
        total = float(weights @ each + RIDGE / 2 * values @ values)
        return total, table.T @ (weights * error) + RIDGE * values

    found: Floats = scipy.optimize.minimize(
        loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B"
    ).x
    logits = table @ found
    return found, float(np.average(np.logaddexp(0, logits) - results * logits, weights=weights))


def main() -> None:
    """Play, fit, and print the table."""
    rows: list[tuple[Position, float]] = []
    most = 0
    with get_context("forkserver").Pool(count_cores()) as pool:
        for spec, games in STAGES:
            played = pool.imap(partial(game, spec), range(games), chunksize=20)
            some = [position for of_game in played for position in of_game]
            most = max(most, len(some))
            rows += [(position, most / len(some)) for position in some]
    for number in range(1, STANDARD.rounds + 1):
        chosen = [(position, weight) for position, weight in rows if position[0] == number]
        table = np.array([position[1] for position, _ in chosen])
        results = np.array([position[2] for position, _ in chosen])
        values, loss = fitted(table, results, np.array([weight for _, weight in chosen]))
        line = ", ".join(f"{value:.2f}" for value in values)
        print(f"    {number}: ToTake({line}),  # {len(chosen):,} positions, log loss {loss:.4f}")


if __name__ == "__main__":
    main()
