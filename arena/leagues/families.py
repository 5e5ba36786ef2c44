"""Estimate the common deviation of the bots in a league's panel from the Elo model.

Results deviate from the Elo model, and intervals allow for that. Deviations of near copies are
correlated: a bot that seems too strong against one copy seems so against all, so six copies give
little more information than one. The common deviation of the panel is estimated from every other
bot's score against the panel, compared with its score against the rest.
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
    """Return what the panel's common deviation adds to the covariance of the strengths.

    The part that an equal round robin would have, too, is not an error. The estimate uses, for
    each bot, its mean gap to the panel minus its mean gap to all others, which does not depend on
    its own strength.
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
    """Return the variance of gaps beyond their sampling variances, in squared log odds.

    It is a posterior mean with the prior of a spread. Larger values get a larger weight, because
    intervals fail to cover if the variance is underestimated.
    """
    logs = weigh_variances(gaps, variances + (_GRID[:, None] / ELO) ** 2)
    logs -= (_GRID / LADDER_SPREAD.high) ** 2 / 2
    likely = np.exp(logs - logs.max()) * _GRID**2
    return float(likely @ (_GRID / ELO) ** 2 / likely.sum())
