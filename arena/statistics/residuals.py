"""Find pairings whose score differs significantly from what the ratings predict (residuals).

The rating predicts the score of every pairing. The residual is what it has scored beyond
that, to be compared with what luck would do: the error of the pairing's own pairs, less
the part of it that the fit has followed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.statistics.distributions import normal_below
from arena.statistics.field import Field
from arena.statistics.intervals import LEVEL, correct
from arena.statistics.model import Floats

_UNTESTED = 1e-6  # the part of a pairing's error that the fit has not followed: none
_COLUMNS = ["bot", "opponent", "expected", "residual", "residual_z", "residual_q"]


def make_residuals(field: Field) -> pd.DataFrame:
    """Return one row for each ordered two rated bots that met.

    `expected` is the share that the ratings say, `residual` what was scored beyond it.
    `residual_z` is it in standard errors, and `residual_q` its significance after correction
    for many pairings; both are empty where the rating of a bot rests on this pairing alone.
    Source: Benjamini and Hochberg 1995 for the correction.
    """
    model, strengths = field.fit.model, field.fit.strengths
    labels = np.array(field.labels, dtype=object)
    bot, opponent = labels[model.first], labels[model.second]
    expected = model.shares(strengths)
    observed = np.array([score.total / (2 * score.pairs) for score in field.scores])
    z = _in_errors(field)
    q = correct(2 * normal_below(-np.abs(z)))
    own = pd.DataFrame(
        dict(zip(_COLUMNS, (bot, opponent, expected, observed - expected, z, q), strict=True))
    )
    theirs = own.assign(bot=opponent, opponent=bot, expected=1 - expected)
    theirs[["residual", "residual_z"]] = -own[["residual", "residual_z"]]
    return pd.concat([own, theirs], ignore_index=True)


def _in_errors(field: Field) -> Floats:
    """Return the residual of each pairing in standard errors; nan where nothing tests it.

    The fit moves with the score of a pairing by a part of it, the leverage. So the residual's
    variance is spread x (1 - 2 leverage) + weight squared x the variance of the fitted gap.
    """
    model, strengths = field.fit.model, field.fit.strengths
    weights, spreads = model.weights(strengths), model.spreads(strengths)
    information = model.information(strengths)
    first, second = model.first, model.second
    inverse = model.inverse(strengths)
    own = np.diag(inverse)
    leverage = weights * (own[first] + own[second] - 2 * inverse[first, second])
    variance = spreads * (1 - 2 * leverage)
    variance += (information * field.fit.gap_errors[first, second]) ** 2
    beyond = model.total - 2 * model.pairs * model.shares(strengths)
    tested = variance > _UNTESTED * spreads
    return np.where(tested, beyond / np.sqrt(np.where(tested, variance, 1.0)), np.nan)


def find_misfits(residuals: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the pairings whose residual is significant, the worst first.

    Each is seen from the bot that `labels` name first.
    """
    places = {label: place for place, label in enumerate(labels)}
    found = residuals[residuals["residual_q"] < LEVEL]
    bot, opponent = found["bot"].map(places), found["opponent"].map(places)
    found = found.assign(_bot=bot, _opponent=opponent, _z=-found["residual_z"].abs())
    found = found[bot < opponent].sort_values(["_z", "_bot", "_opponent"])
    return found[_COLUMNS].reset_index(drop=True)
