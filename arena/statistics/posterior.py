"""Find what the results of a field make likely of its strengths: who leads whom, who is the first.

The strengths as fitted, with their covariance, are what was seen; each prior of
`arena.statistics.field_prior` says how strengths are spread. For each of them the posterior is
found by expectation propagation, which is exact for one part and close for several, and they are
averaged by their evidence. Priors of little evidence are left out step by step; the weight of those
that stay falls to 0 where that happens, so nothing jumps at a rounding.

Sources: Minka 2001 for expectation propagation; Efron and Morris 1973 for priors from the field.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from arena.statistics.distributions import Floats, normal_below
from arena.statistics.field_prior import FieldPrior, make_priors
from arena.statistics.model import Numbers
from arena.statistics.points import draw

_SWEEPS = 13
_KEPT = {1: 30.0, 2: 20.0, 4: 12.0}
"""After a sweep: by how much the log evidence of a prior may be less than the best one's."""

_LEAST_EVIDENCE, _FULL_EVIDENCE = 7.0, 5.0  # the same at the end: without weight, and with all
_PACE = 0.7  # of a step after the first
_SMALL = 1e-12
_POINTS = 512  # for the chances to be first
_BISECTIONS = 48
_FAR = 40.0  # in log odds


class Posterior:
    """Of some bots, as a mixture: `weights`, and of each part `means` and `covariances`.

    `strengths` are as fitted. `seen` are their covariance and its weight, or several of these.
    `centred` is the matrix that takes the mean of each group of bots off.
    """

    def __init__(
        self, strengths: Floats, seen: Sequence[tuple[float, Floats]], centred: Floats
    ) -> None:
        mean = self._mean = np.eye(len(strengths)) - centred
        prior = make_priors(strengths, _typical_error(seen[0][1]))
        known = np.array([_invert(covariance, centred, mean) for _, covariance in seen])
        logs = np.log([weight for weight, _ in seen])
        number = np.repeat(np.arange(len(seen)), len(prior.logs))  # of the covariance
        prior = prior.take(np.tile(np.arange(len(prior.logs)), len(seen)))
        prior = prior._replace(logs=prior.logs + logs[number])
        log, means, covariances = _propagate(strengths, known, number, prior)
        taper = np.clip(
            (log - log.max() + _LEAST_EVIDENCE) / (_LEAST_EVIDENCE - _FULL_EVIDENCE), 0, 1
        )
        weights = np.exp(log - log.max()) * taper
        kept = weights > 0
        self.weights: Floats = weights[kept] / weights.sum()
        self.means: Floats = means[kept] @ centred
        self.covariances: Floats = centred @ covariances[kept] @ centred

    @cached_property
    def likely(self) -> Floats:
        """How likely the bot of a row is stronger than that of a column (n, n)."""
        found = np.zeros(self.means.shape[1:] * 2)
        for weight, mean, covariance in zip(
            self.weights, self.means, self.covariances, strict=True
        ):
            errors = np.sqrt(gap_variances(covariance))
            found += weight * normal_below((mean[:, None] - mean) / errors)
        return found

    def first(self) -> Floats:
        """Return how likely each bot is the strongest."""
        order = np.argsort(-(self.weights @ self.means), kind="stable")
        chances = np.zeros(self.means.shape[1])
        for weight, mean, covariance in zip(
            self.weights, self.means, self.covariances, strict=True
        ):
            best = (mean + draw(_POINTS, covariance, self._mean, order)).argmax(axis=1)
            chances += weight * np.bincount(best, minlength=len(chances)) / _POINTS
        return chances

    def lead_at(self, bot: int, opponent: int, level: float) -> float:
        """Return the lead of a bot over another that the true one is below with this chance."""
        gap = np.eye(self.means.shape[1])[bot] - np.eye(self.means.shape[1])[opponent]
        means, errors = self.means @ gap, np.sqrt(gap @ self.covariances @ gap)
        low, high = -_FAR, _FAR
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            below = float(self.weights @ normal_below((middle - means) / errors))
            low, high = (middle, high) if below < level else (low, middle)
        return (low + high) / 2


def gap_variances(covariance: Floats) -> Floats:
    """Return the variances of the differences between every two (n, n)."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2 * covariance, _SMALL)


def _typical_error(covariance: Floats) -> float:
    bots = len(covariance)
    return float(np.sqrt(np.median(np.diag(covariance)) * bots / max(1, bots - 1)))


def _invert(covariance: Floats, centred: Floats, mean: Floats) -> Floats:
    return np.asarray(np.linalg.inv(centred @ covariance @ centred + mean) - mean)


def _propagate(
    strengths: Floats, known: Floats, number: Numbers, prior: FieldPrior
) -> tuple[Floats, Floats, Floats]:
    """Return log evidence, means and covariances of the posterior of each prior that is left.

    Each bot's prior is replaced by a normal factor, which is fitted to what the prior makes of
    what all else says of the bot (the cavity). A factor has a precision `own`, its product with
    the mean `pull`, and a constant `scale`.
    """
    identity = np.eye(len(strengths))
    shift = (prior.parts * prior.means).sum(axis=1, keepdims=True)
    spread = np.minimum(prior.variances, 4) + (prior.means - shift) ** 2
    own = 1 / (prior.parts * spread).sum(axis=1, keepdims=True) + np.zeros(len(strengths))
    pull, scale = own * shift, 0 * own
    seen = known @ strengths
    for sweep in range(_SWEEPS + 1):
        covariances = np.linalg.inv(known[number] + own[:, :, None] * identity)
        variances = np.maximum(np.einsum("mii->mi", covariances), _SMALL)
        whole = seen[number] + pull
        means = np.squeeze(covariances @ whole[..., None], -1)
        if sweep in _KEPT or sweep == _SWEEPS:
            log = prior.logs + np.linalg.slogdet(covariances)[1] / 2
            log += (whole * means).sum(axis=1) / 2 + scale.sum(axis=1)
            if sweep == _SWEEPS:
                break
            kept = log > log.max() - _KEPT[sweep]
            prior, number = prior.take(kept), number[kept]
            own, pull, scale = own[kept], pull[kept], scale[kept]
            variances, means = variances[kept], means[kept]
        pace = _PACE if sweep else 1.0
        own, pull, scale = _update(own, pull, variances, means, prior, pace)
    return log, means, covariances


def _update(
    own: Floats, pull: Floats, variances: Floats, means: Floats, prior: FieldPrior, pace: float
) -> tuple[Floats, Floats, Floats]:
    """Return the factors as they are after a sweep."""
    cavity = np.maximum(1 / variances - own, 1e-6)
    towards = means / variances - pull
    cavity_variance, cavity_mean = 1 / cavity[..., None], (towards / cavity)[..., None]
    of_part, at = prior.variances[:, None], prior.means[:, None]
    both = cavity_variance + of_part
    logs = np.log(np.maximum(prior.parts, 1e-300))[:, None]
    logs = logs - np.log(2 * np.pi * both) / 2 - (cavity_mean - at) ** 2 / both / 2
    total = np.logaddexp.reduce(logs, axis=-1)
    shares = np.exp(logs - total[..., None])
    middle = (cavity_mean * of_part + at * cavity_variance) / both
    mean = (shares * middle).sum(axis=-1)
    square = (shares * (cavity_variance * of_part / both + middle**2)).sum(axis=-1)
    variance = np.maximum(square - mean**2, 1e-10)
    wanted = np.clip(1 / variance - cavity, 1e-5, 1e8)
    own = own + pace * (wanted - own)
    pull = pull + pace * (mean * (cavity + wanted) - towards - pull)
    precision = cavity + own
    scale = total - np.log(cavity / precision) / 2
    scale -= ((towards + pull) ** 2 / precision - towards**2 / cavity) / 2
    return own, pull, scale
