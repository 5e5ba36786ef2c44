"""Superiority: how likely one bot is stronger than another one, given all of their field.

The strengths of a field are taken to be normal with a spread that the field itself tells
(empirical Bayes; the spread is averaged over, because few bots do not tell it well). So a lead
that luck explains as well counts little: of many close bots the one that seems the best is seldom
as far ahead as it seems.

Sources: Efron and Morris 1973 for the prior from the field; Lindley and Smith 1972 for the model.
"""

from __future__ import annotations

import numpy as np

from arena.statistics.distributions import Floats, normal_below
from arena.statistics.ratings import ELO, Fit

SPREADS = 10.0 * 2 ** (np.arange(15) / 2)
"""Elo points: standard deviations of a field's strengths, all as likely before its games.

They go from 10 to 1,280, each as many times the one before.
"""


def find_superiority(fit: Fit) -> Floats:
    """Return how likely the bot of a row is stronger than that of a column.

    It is nan for a bot and itself, and where no games lead from one to the other.

    >>> from arena.statistics.ratings import PairScores
    >>> few, many = (
    ...     Fit(2, [PairScores(0, 1, pairs, 1.2 * pairs, 1.8 * pairs)]) for pairs in (5, 500)
    ... )
    >>> [round(float(find_superiority(fit)[0, 1]), 2) for fit in (few, many)]
    [0.62, 1.0]
    """
    values, vectors = _luck(fit)
    seen = vectors.T @ fit.strengths
    likely = np.zeros((len(fit.strengths),) * 2)
    for square, weight in zip((SPREADS / ELO) ** 2, _weights(values, seen), strict=True):
        kept = square / (square + values)
        strengths = vectors @ (kept * seen)
        covariance = (vectors * (kept * values)) @ vectors.T
        own = np.diag(covariance)
        variances = own[:, None] + own[None, :] - 2 * covariance
        errors = np.sqrt(np.where(variances > 0, variances, np.inf))
        likely += weight * normal_below((strengths[:, None] - strengths[None, :]) / errors)
    met = fit.groups[:, None] == fit.groups[None, :]
    np.fill_diagonal(met, False)
    return np.where(met, likely, np.nan)


def _luck(fit: Fit) -> tuple[Floats, Floats]:
    """Return the variances of the fit and their directions, without the means of the groups."""
    values, vectors = np.linalg.eigh(fit.full_covariance)
    first = int(fit.groups.max(initial=-1)) + 1
    return np.maximum(values[first:], 1e-12), vectors[:, first:]


def _weights(values: Floats, seen: Floats) -> Floats:
    """Return how likely each spread of the field is."""
    logs = []
    for square in ((SPREADS / ELO) ** 2).tolist():
        variances = values + square
        logs.append(-float(np.sum(np.log(variances) + seen**2 / variances)) / 2)
    weights = np.exp(np.array(logs) - max(logs))
    return np.asarray(weights / weights.sum())
