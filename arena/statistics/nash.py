"""Nash: the Nash average, which ranks players of a game with cycles.

Where players choose at random, but one that wins 1 more is chosen exp(1 / heat) times as often,
every heat has one mixture that is the answer to itself, x = softmax(payoffs @ x / heat). Its
entropy is at least that of every equilibrium p: for p wins at least 0 from x, and x wins 0 from
itself, so that p @ log(x) >= x @ log(x), and p @ log(p) >= p @ log(x). As the heat falls, x becomes
an equilibrium itself.

Sources: Balduzzi, Tuyls, Perolat and Graepel 2018; for such mixtures, McKelvey and Palfrey 1995.
"""

from __future__ import annotations

import numpy as np

from arena.statistics.model import Floats

_COOLING = 0.25
_COLDEST = 1e-8  # of the largest payoff; the error of a probability is about as large
_MOST_STEPS = 100
_SHORTEST_STEP = 1e-6
_SMALLEST_PART = 1e-4  # of a step


def nash_average(payoffs: Floats) -> Floats:
    """Return the Nash equilibrium of largest entropy of a symmetric zero-sum game.

    `payoffs` are antisymmetric: what the row wins from the column. A player has the
    probability with which the equilibrium plays it. If one player beats all others it has 1;
    players that are worth nothing beside the others have 0.

    >>> rock_paper_scissors = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> nash_average(rock_paper_scissors).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    scaled = payoffs / (np.abs(payoffs).max(initial=0.0) or 1.0)
    scores, heat = np.zeros(len(scaled)), 1.0
    while heat > _COLDEST:
        heat *= _COOLING
        scores = _balance(scaled / heat, scores)
    return _softmax(scores)


def _balance(payoffs: Floats, scores: Floats) -> Floats:
    """Return the scores that players have against the mixture that these scores make.

    Newton's method, with steps that are halved until they come closer. Its matrix has the
    eigenvalue 1 plus something imaginary, and so an inverse.
    """
    for _ in range(_MOST_STEPS):
        mixture = _softmax(scores)
        won = payoffs @ mixture
        bend = np.eye(len(scores)) - payoffs * mixture + np.outer(won, mixture)
        step = np.linalg.solve(bend, won - scores)
        part, missing = 1.0, np.linalg.norm(won - scores)
        while part > _SMALLEST_PART:
            moved = scores + part * step
            if np.linalg.norm(payoffs @ _softmax(moved) - moved) <= (1 - part / 4) * missing:
                break
            part /= 2
        scores = moved
        if np.abs(step).max() < _SHORTEST_STEP * max(1.0, np.abs(scores).max()):
            break
    return scores


def _softmax(scores: Floats) -> Floats:
    """Return the mixture in which a player is exp(score) times as likely as one of score 0."""
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())
