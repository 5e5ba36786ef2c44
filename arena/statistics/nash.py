"""Nash: the Nash average, which ranks players of a game with cycles.

Sources: Balduzzi, Tuyls, Perolat and Graepel 2018; for the equilibrium of largest support,
Goldman and Tucker 1956.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import logsumexp, softmax

from arena.statistics.model import Floats, Numbers


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
    support = _largest_support(scaled)
    average = np.zeros(len(scaled))
    average[support] = _most_even(scaled, support)
    return average


def _largest_support(payoffs: Floats) -> Numbers:
    """Return the numbers of the players that any equilibrium plays.

    Some equilibrium plays exactly those that win the game's value against it; it is the one
    in which probability and loss against it, of which one is 0, are largest for all players.
    """
    players = len(payoffs)
    # variables: the probabilities x, and the least of x - payoffs @ x over all players
    least = np.hstack([payoffs - np.eye(players), np.ones((players, 1))])
    loses = np.hstack([payoffs, np.zeros((players, 1))])
    solution = linprog(
        np.append(np.zeros(players), -1.0),
        A_ub=np.vstack([least, loses]),
        b_ub=np.zeros(2 * players),
        A_eq=np.append(np.ones(players), 0.0)[None, :],
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
    )
    shares = np.asarray(solution.x)[:-1]
    return np.flatnonzero(shares > -payoffs @ shares)


def _most_even(payoffs: Floats, support: Numbers) -> Floats:
    """Return the equilibrium of largest entropy that plays just these players.

    They win nothing from it, and the others no more than that. The equilibrium is a softmax
    of multipliers, one for each player; those of players outside are not below 0.
    """
    within = payoffs[:, support]
    inside = np.zeros(len(payoffs), dtype=bool)
    inside[support] = True

    def loss(multipliers: Floats) -> tuple[float, Floats]:
        scores = -(within.T @ multipliers)
        return float(logsumexp(scores)), -(within @ softmax(scores))

    best = minimize(
        loss,
        np.zeros(len(payoffs)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None) if player else (0, None) for player in inside],
        options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000, "maxls": 50},
    )
    return np.asarray(softmax(-(within.T @ best.x)))
