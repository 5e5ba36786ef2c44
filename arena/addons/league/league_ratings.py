"""Rate the versions of a league by all pairs that were ever played."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from arena.addons.league.ledger import Pairs, RatingRow, Version
from arena.entries.catalogue import ELO as LADDER
from arena.statistics.apart import pair_scores
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Z95
from arena.statistics.letters import give_letters
from arena.statistics.model import make_laplacian
from arena.statistics.ratings import ELO, MEAN, Fit
from arena.statistics.spread import LADDER_SPREAD, weigh_equally, weigh_variances
from arena.statistics.verdicts import Verdicts

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


class Rated(NamedTuple):
    """The ratings of a league's versions, by id, and the spread with its interval."""

    rows: dict[int, RatingRow]
    spread: tuple[float, float, float, bool]


def rate(
    versions: Sequence[Version],
    played: Sequence[Pairs],
    active: Collection[int],
    now: Collection[int] = (),
) -> Rated:
    """Return the ratings of all versions that played and are connected with the panel.

    `active` are the ids of the versions that get group letters, and `now` the ids of those that
    played in the last round.
    """
    met = {id for pairs in played for id in pairs[:2]}
    rated = [version for version in versions if version.id in met]
    numbers = {version.id: number for number, version in enumerate(rated)}
    counts = {(numbers[one], numbers[two]): by_score for one, two, by_score in played}
    scores = [pair_scores(*two, by_score) for two, by_score in counts.items()]
    if not rated:
        return Rated({}, (LADDER_SPREAD.high, 0.0, math.inf, False))
    spread = Fit(len(rated), scores).spread
    fit = Fit(len(rated), scores, known_spread=spread.elo)
    panel = [numbers[version.id] for version in rated if version.panel]
    shared = shared_covariance(fit, panel)
    fit.covariances = [one + shared for one in fit.covariances]
    zero = _zero(len(rated), panel)
    elo = _panel_elo([rated[number] for number in panel]) + ELO * (
        fit.strengths - zero @ fit.strengths
    )
    moved = fit.full_covariance - zero @ fit.full_covariance
    variances = np.clip(np.diag(moved) - moved @ zero, 0, None)
    rows = _rows(rated, elo, ELO * np.sqrt(variances), fit, panel, now)
    letters = _letters(rated, fit, counts, elo, active)
    kept = {row.version: row._replace(letters=letters.get(row.version, "")) for row in rows}
    return Rated(kept, (spread.elo, spread.low, spread.high, spread.is_measured))


def _zero(bots: int, panel: Sequence[int]) -> Floats:
    """Return the weights of the strengths in the mean that is the zero of the scale."""
    counted = [*panel] or [*range(bots)]
    weights = np.zeros(bots)
    weights[counted] = 1 / len(counted)
    return weights


def _panel_elo(panel: Sequence[Version]) -> float:
    """Return the mean ladder Elo of the panel; a bot that is not on the ladder counts as 1500."""
    elos = [float(LADDER.get(version.spec, MEAN)) for version in panel]
    return math.fsum(elos) / len(elos) if elos else MEAN


def _rows(
    rated: Sequence[Version],
    elo: Floats,
    errors: Floats,
    fit: Fit,
    panel: Sequence[int],
    now: Collection[int],
) -> list[RatingRow]:
    """Return the row, without letters, of each version that games connect with the panel."""
    scale = fit.scale()
    pairs = np.zeros(len(rated))
    for score in fit.scores:
        pairs[[score.bot, score.opponent]] += score.pairs
    group = fit.groups[panel[0] if panel else 0]
    shrunk = _shrink(elo, errors)
    return [
        RatingRow(
            version.id,
            int(pairs[number]),
            float(elo[number]),
            None if scale.no_low[number] else float(elo[number] - Z95 * errors[number]),
            None if scale.no_high[number] else float(elo[number] + Z95 * errors[number]),
            float(shrunk[number]),
            "",
            version.id in now,
        )
        for number, version in enumerate(rated)
        if fit.groups[number] == group
    ]


def _shrink(elo: Floats, errors: Floats) -> Floats:
    """Shrink ratings towards their mean, the more the larger their errors (empirical Bayes).

    The prior is normal, with the mean and the spread of the ratings themselves.
    Source: Efron and Morris 1973.
    """
    weights = 1 / np.maximum(errors**2, 1.0)
    mean = float(weights @ elo / weights.sum())
    between = max(1.0, float(np.mean((elo - mean) ** 2 - errors**2)))
    return np.asarray(mean + between / (between + errors**2) * (elo - mean))


def _letters(
    rated: Sequence[Version],
    fit: Fit,
    counts: Mapping[tuple[int, int], Sequence[int]],
    elo: Floats,
    active: Collection[int],
) -> dict[int, str]:
    """Return the group letters of the active versions: two share one unless they are `apart`."""
    verdicts = Verdicts(fit, {two: tuple(by) for two, by in counts.items()}, looks=True)
    ranked = [number for number, version in enumerate(rated) if version.id in active]
    ranked.sort(key=lambda number: (-round(float(elo[number]), 1), rated[number].name))

    def is_apart(upper: int, lower: int) -> bool:
        return bool(verdicts.apart[ranked[upper], ranked[lower]])

    letters = give_letters(len(ranked), is_apart)
    return {rated[number].id: text for number, text in zip(ranked, letters, strict=True)}
