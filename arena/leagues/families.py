"""Find by how much the bots of a league's panel deviate from their Elo together.

Results differ from the Elo, which intervals allow for. Near copies do so alike: a bot that seems
too strong against one of them seems so against all, and six tell little more than one. By how much
the panel deviates together is found from what every other bot has scored against it, beyond what it
has scored against the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.statistics.distributions import Floats, expit
from arena.statistics.model import invert
from arena.statistics.ratings import ELO, Fit
from arena.statistics.spread import LADDER_SPREAD

_GRID = np.linspace(0.0, 150.0, 61)  # Elo points


def shared_covariance(fit: Fit, panel: Sequence[int]) -> Floats:
    """Return what the panel's deviating together adds to the covariance of the strengths.

    What an equal round robin would have of it, too, is no error.
    """
    model, means = fit.model, fit.model.means()
    others = np.setdiff1d(np.arange(model.bots), panel)
    weights, gaps = np.zeros((2, model.bots, model.bots))
    beyond = model.total - 2 * model.pairs * model.shares(fit.strengths)
    weights[model.first, model.second] = model.weights(fit.strengths)
    gaps[model.first, model.second] = beyond / model.information(fit.strengths)
    weights, gaps = weights + weights.T, gaps - gaps.T
    share = expit(fit.strengths[:, None] - fit.strengths)
    full = np.where(means > 0, share * (1 - share), 0.0)
    np.fill_diagonal(full, 0.0)
    equal = invert(np.diag(full.sum(axis=1)) - full, means)
    moved = _follow(model.inverse(fit.strengths), weights, panel)[:, others]
    moved -= _follow(equal, full, panel)[:, others]
    return np.asarray(_find_variance(weights[others], gaps[others], panel) * moved @ moved.T)


def _follow(inverse: Floats, weights: Floats, panel: Sequence[int]) -> Floats:
    """Return by how much strengths move if one bot (a column) does better against the panel."""
    own = weights[:, panel]
    return np.asarray(inverse * own.sum(axis=1) - inverse[:, panel] @ own.T)


def _find_variance(weights: Floats, gaps: Floats, panel: Sequence[int]) -> float:
    """Return the variance of what bots have in common against the panel, in log odds.

    Rows of the weights and gaps are bots, columns their opponents. The mean gap to the panel less
    that to all others does not depend on a bot's own strength. The prior is that of a spread. What
    is possible weighs by its own size, because intervals miss where the variance is large.
    """
    is_panel = np.isin(np.arange(weights.shape[1]), panel)
    sums = np.array([weights[:, is_panel].sum(axis=1), weights[:, ~is_panel].sum(axis=1)])
    known = (sums > 0).all(axis=0)
    means = (np.where(is_panel, weights, 0.0) * gaps).sum(axis=1)[known] / sums[0, known]
    means -= (np.where(is_panel, 0.0, weights) * gaps).sum(axis=1)[known] / sums[1, known]
    variances = (1 / sums[:, known]).sum(axis=0) + (_GRID[:, None] / ELO) ** 2
    sums = (1 / variances).sum(axis=1, keepdims=True)
    beyond = means - (means / variances).sum(axis=1, keepdims=True) / np.maximum(sums, 1e-9)
    logs = -(np.log(variances) + beyond**2 / variances).sum(axis=1) / 2
    logs -= np.log(np.maximum(sums[:, 0], 1e-9)) / 2 + (_GRID / LADDER_SPREAD.high) ** 2 / 2
    likely = np.exp(logs - logs.max()) * _GRID**2
    return float(likely @ (_GRID / ELO) ** 2 / likely.sum())
