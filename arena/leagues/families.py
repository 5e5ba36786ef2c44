"""Find by how much the bots of a league's panel deviate from their Elo together.

Results differ from the Elo, which intervals allow for. Near copies do so alike: a bot that seems
too strong against one of them seems so against all, and six of them say little more than one. By
how much the panel deviates together is found from what every other bot has scored against it,
beyond what it has scored against the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.statistics.distributions import Floats
from arena.statistics.model import make_laplacian
from arena.statistics.ratings import ELO, Fit
from arena.statistics.spread import LADDER_SPREAD, weigh_equally, weigh_variances

_GRID = np.linspace(0.0, 150.0, 61)  # Elo points


def shared_covariance(fit: Fit, panel: Sequence[int]) -> Floats:
    """Return what the panel's deviating together adds to the covariance of the strengths.

    What an equal round robin would have of it, too, is no error. The mean gap of a bot to the
    panel less that to all others does not depend on its own strength.
    """
    model = fit.model
    is_panel = np.isin(np.arange(model.bots), panel)
    to_panel = is_panel[model.first] != is_panel[model.second]
    weights = model.weights(fit.strengths)
    beyond = model.factors * (model.total - 2 * model.pairs * model.shares(fit.strengths))
    own = model.matrix(weights * to_panel)
    sums = np.array([np.diag(own), np.diag(model.matrix(weights * ~to_panel))])
    pulls = np.array([model.sum_ends(beyond * to_panel), model.sum_ends(beyond * ~to_panel)])
    known = ~is_panel & (sums > 0).all(axis=0)
    first, second = pulls[:, known] / sums[:, known]
    variance = _find_variance(first - second, (1 / sums[:, known]).sum(axis=0))
    full, equal = weigh_equally(model, fit.strengths)
    theirs = make_laplacian(full * (is_panel[:, None] != is_panel))
    moved = (model.inverse(fit.strengths) @ own - equal @ theirs)[:, ~is_panel]
    return np.asarray(variance * moved @ moved.T)


def _find_variance(gaps: Floats, variances: Floats) -> float:
    """Return by how much gaps differ beyond their variances, as a variance in log odds.

    The prior is that of a spread. What is possible weighs by its own size, because intervals miss
    where the variance is large.
    """
    logs = weigh_variances(gaps, variances + (_GRID[:, None] / ELO) ** 2)
    logs -= (_GRID / LADDER_SPREAD.high) ** 2 / 2
    likely = np.exp(logs - logs.max()) * _GRID**2
    return float(likely @ (_GRID / ELO) ** 2 / likely.sum())
