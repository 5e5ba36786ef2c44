"""The posterior of the strengths of a field: probabilities of leads and of being the first.

The data are the fitted strengths with their covariance. A prior is a distribution of strengths, a
mixture of normal distributions. As the results of a field say little about the shape of its
distribution, the posterior averages over several shapes: normal; Student's t with two degrees of
freedom, in which a few bots are far from the others; and two groups with a gap between them. Each
has a grid of scales, in log odds. For each prior the posterior is computed by expectation
propagation, which is exact for one part and close for several, and the posteriors are averaged by
their evidence. Priors of little evidence are dropped step by step; weights fall to 0 at the
threshold, so that a rounding error cannot cause a jump. Probabilities in many dimensions are
integrated over fixed quasi-random points, so they are reproducible.

Sources: Minka 2001 for expectation propagation; Efron and Morris 1973 for priors from the field.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import count as numbers
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.statistics.distributions import ELO, Floats, find_root, normal_below
from arena.statistics.model import Numbers, gap_variances

_SWEEPS = 13
_KEPT = {1: 30.0, 2: 20.0, 4: 12.0}
"""By sweep, how far the log evidence of a prior may be below the best one's."""

_LEAST_EVIDENCE, _FULL_EVIDENCE = 7.0, 5.0  # at the end: how far for weight 0, and for full weight
_PACE = 0.7  # the damping of all steps but the first
_SMALL = 1e-12
_DIGITS = 9  # to which means are rounded, so that rounding errors do not change their order
_POINTS = 24_000  # points times bots: the chances to be first are then right within 0.3 %
_FEWEST, _MOST = 512, 4096
_CLOSE = 1e-13
_FAR = 40.0  # in log odds
_AT_ONCE = 1 << 18  # numbers of covariances; those of all priors of 300 bots took 200 MB


class Posterior:
    """The posterior of some bots, a normal mixture: `weights`, `means` and `covariances`.

    `strengths` are the fitted ones. `seen` are possible covariances of them, with weights.
    `centred` is the matrix that subtracts the mean of each group of bots.
    """

    def __init__(
        self, strengths: Floats, seen: Sequence[tuple[float, Floats]], centred: Floats
    ) -> None:
        mean = self._mean = np.eye(len(strengths)) - centred
        bots = len(strengths)
        typical = np.median(np.diag(seen[0][1])) * bots / max(1, bots - 1)
        prior = make_priors(strengths, math.sqrt(typical))
        whole = centred @ [covariance for _, covariance in seen] @ centred + mean
        known = np.asarray(np.linalg.inv(whole) - mean)
        logs = np.log([weight for weight, _ in seen])
        number = np.repeat(np.arange(len(seen)), len(prior.logs))  # of each prior's covariance
        prior = prior.take(np.tile(np.arange(len(prior.logs)), len(seen)))
        prior = prior._replace(logs=prior.logs + logs[number])
        log, means, covariances = _propagate(strengths, known, number, prior)
        log = log - log.max()
        taper = (log + _LEAST_EVIDENCE) / (_LEAST_EVIDENCE - _FULL_EVIDENCE)
        weights = np.exp(log) * np.clip(taper, 0, 1)
        kept = weights > 0
        self.weights: Floats = weights[kept] / weights.sum()
        self.means: Floats = means[kept] @ centred
        self.covariances: Floats = centred @ covariances[kept] @ centred
        self._parts = [*zip(self.weights, self.means, self.covariances, strict=True)]

    @cached_property
    def likely(self) -> Floats:
        """The probability that the bot of a row is stronger than that of a column (n, n)."""
        found = np.zeros(self.means.shape[1:] * 2)
        for weight, mean, covariance in self._parts:
            errors = np.sqrt(np.maximum(gap_variances(covariance), _SMALL))
            found += weight * normal_below((mean[:, None] - mean) / errors)
        return found

    def first(self) -> Floats:
        """Return the probability of each bot to be the strongest."""
        order = np.argsort(-(self.weights @ self.means).round(_DIGITS), kind="stable")
        bots = self.means.shape[1]
        count, chances = min(max(_POINTS // bots, _FEWEST), _MOST), np.zeros(bots)
        for weight, mean, covariance in self._parts:
            best = (mean + draw(count, covariance, self._mean, order)).argmax(axis=1)
            chances += weight * np.bincount(best, minlength=len(chances)) / count
        return chances

    def lead_at(self, bot: int, opponent: int, level: float) -> float:
        """Return the quantile at `level` of the lead of a bot over another."""
        gap = np.eye(self.means.shape[1])[bot] - np.eye(self.means.shape[1])[opponent]
        means, errors = self.means @ gap, np.sqrt(gap @ self.covariances @ gap)

        def excess(lead: float) -> float:
            return float(self.weights @ normal_below((lead - means) / errors)) - level

        return find_root(excess, -_FAR, _FAR, _CLOSE)


def _propagate(
    strengths: Floats, known: Floats, number: Numbers, prior: FieldPrior
) -> tuple[Floats, Floats, Floats]:
    """Return log evidence, means and covariances of the posterior of each remaining prior.

    Each bot's prior is approximated by a normal factor, which matches the moments of the prior
    times the cavity, the distribution of the bot's strength by all other factors. A factor has a
    precision `own`, a precision times mean `pull`, and a constant `scale`.
    """
    identity = np.eye(len(strengths))
    shift = (prior.parts * prior.means).sum(axis=1, keepdims=True)
    spread = np.minimum(prior.variances, 4) + (prior.means - shift) ** 2
    own = 1 / (prior.parts * spread).sum(axis=1, keepdims=True) + np.zeros(len(strengths))
    pull, scale = own * shift, 0 * own
    seen = known @ strengths
    for sweep in range(_SWEEPS + 1):
        whole = seen[number] + pull
        is_looked_at = sweep in _KEPT or sweep == _SWEEPS
        means, variances, sizes = np.empty_like(own), np.empty_like(own), np.empty(len(own))
        covariances = []
        at_once = max(1, _AT_ONCE // own.shape[1] ** 2)
        for some in (slice(n, n + at_once) for n in range(0, len(own), at_once)):
            covariance = np.linalg.inv(known[number[some]] + own[some, :, None] * identity)
            variances[some] = np.maximum(np.einsum("mii->mi", covariance), _SMALL)
            means[some] = np.squeeze(covariance @ whole[some, :, None], -1)
            if is_looked_at:
                sizes[some] = np.linalg.slogdet(covariance)[1]
            if sweep == _SWEEPS:
                covariances.append(covariance)
        if is_looked_at:
            log = prior.logs + sizes / 2
            log += (whole * means).sum(axis=1) / 2 + scale.sum(axis=1)
            if sweep == _SWEEPS:
                break
            kept = log > log.max() - _KEPT[sweep]
            prior, number = prior.take(kept), number[kept]
            own, pull, scale = own[kept], pull[kept], scale[kept]
            variances, means = variances[kept], means[kept]
        pace = _PACE if sweep else 1.0
        own, pull, scale = _update(own, pull, variances, means, prior, pace)
    return log, means, np.concatenate(covariances)


def _update(
    own: Floats, pull: Floats, variances: Floats, means: Floats, prior: FieldPrior, pace: float
) -> tuple[Floats, Floats, Floats]:
    """Return the factors after one more sweep."""
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


_NORMAL, _HEAVY, _GROUPS = 0.35, 0.3, 0.35
"""The prior probability of each shape."""

_SCALES: Final = 3 * 2 ** (np.arange(15) / 2) / ELO
_SELDOM = 30 / ELO  # smaller scales are unlikely
_GROUP_SCALES: Final = np.array([3, 6, 12, 24, 48]) / ELO
_SHARES = 0.25, 0.5, 0.75  # of bots in the upper group
_STEPS = range(-3, 4)  # of the gap between two groups
_LEAST_GAP = 2.5  # times the scale of the groups
_CUTS: Final = np.array([0, 0.01, 0.04, 0.12, 0.3, 0.6, 1.0])  # of the scale of Student's t
_MANY = 4  # bots, the fewest for priors of two groups

_Row: TypeAlias = "tuple[float, npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]"


class FieldPrior(NamedTuple):
    """Priors of a strength, each with its log weight and its normal parts.

    `logs` has a value for each prior. The other arrays have a row for each prior, with the weights,
    means and variances of its parts.
    """

    logs: Floats
    parts: Floats
    means: Floats
    variances: Floats

    def take(self, kept: npt.NDArray[Any]) -> FieldPrior:
        """Return the priors that a mask or indices select."""
        return FieldPrior(*(column[kept] for column in self))


def make_priors(strengths: Floats | None = None, error: float = 0.0) -> FieldPrior:
    """Return the priors of a field; fitted strengths and their error place the two groups.

    >>> make_priors().parts.shape, make_priors(np.array([1.0, 0.9, -1.0, -1.1]), 0.1).parts.shape
    ((30, 6), (135, 6))
    """
    rows = [*_single()]
    if strengths is not None and len(strengths) >= _MANY:
        rows += _two_groups(np.sort(strengths), error)
    weights, *columns = (np.array([row[place] for row in rows]) for place in range(4))
    return FieldPrior(np.log(weights), *columns)


def _single() -> Iterator[_Row]:
    """Yield the priors of one group: normal, and Student's t as a mixture of normals."""
    middle, whole = (_CUTS[1:] + _CUTS[:-1]) / 2, np.eye(len(_CUTS) - 1)[0]
    often = np.sqrt(np.minimum(_SCALES, _SELDOM))
    for scale, share in zip(_SCALES, often / often.sum(), strict=True):
        yield _NORMAL * share, whole, 0 * whole, np.full_like(whole, scale**2)
        yield _HEAVY * share, np.diff(_CUTS), 0 * whole, scale**2 / -np.log(1 - middle)


def _two_groups(strengths: Floats, error: float) -> Iterator[_Row]:
    """Yield priors of two groups, at the best split of the sorted strengths."""
    bots = len(strengths)
    sizes = np.arange(1, bots)  # of the lower group
    below = np.cumsum(strengths)[:-1]
    gaps = (strengths.sum() - below) / (bots - sizes) - below / sizes
    place = int((gaps**2 * sizes * (bots - sizes)).argmax())
    size, gap = int(sizes[place]), float(gaps[place])
    step = max(0.75 * error * math.sqrt(1 / size + 1 / (bots - size)), 0.03 * gap)
    found = [
        (share, gap + number * step, scale)
        for share in sorted({*_SHARES, size / bots})
        for number in _STEPS
        for scale in _GROUP_SCALES.tolist()
        if _LEAST_GAP * scale <= gap + number * step > 3.5 * step
    ]
    rest = 4 * [0.0]
    for share, apart, scale in found:
        weight = _GROUPS * len(_STEPS) * min(1.0, step / apart) / len(found)
        yield weight, [share, 1 - share, *rest], [0.0, *(5 * [apart])], 6 * [scale**2]


@cache
def normal_points(count: int, dimensions: int) -> Floats:
    """Return this many points of the standard normal distribution (count, dimensions).

    They are a Kronecker lattice under the Box-Muller transform, corrected to mean 0 and unit
    covariance. Source: Niederreiter 1992 for the lattice.

    >>> points = normal_points(4096, 5)
    >>> np.allclose(points.mean(axis=0), 0), np.allclose(points.T @ points / 4096, np.eye(5))
    (True, True)
    """
    primes = _primes(dimensions + dimensions % 2)
    uniform = (np.outer(np.arange(1, count + 1), np.sqrt(primes)) + 0.5) % 1
    size = np.sqrt(-2 * np.log(1 - np.minimum(uniform[:, ::2], 1 - 1e-12)))
    turn = 2 * np.pi * uniform[:, 1::2]
    points = np.hstack([size * np.cos(turn), size * np.sin(turn)])[:, :dimensions]
    points -= points.mean(axis=0)
    root = np.linalg.cholesky(points.T @ points / count)
    return np.linalg.solve(root, points.T).T


def _primes(count: int) -> list[int]:
    primes = (n for n in numbers(2) if all(n % one for one in range(2, math.isqrt(n) + 1)))
    return [*islice(primes, count)]


def draw(count: int, covariance: Floats, means: Floats, order: Numbers) -> Floats:
    """Return points (count, n) of a normal distribution that is degenerate along `means`.

    `means` projects on the means of groups. These get a variance of their own, which does not
    change the differences within a group. The points depend on the `order` of the bots, not on
    their numbers. The Cholesky root is unique, whereas eigenvectors are not.
    """
    scale = float(np.trace(covariance)) / len(covariance) or 1.0
    whole = covariance + scale * means + 1e-12 * scale * np.eye(len(covariance))
    points = np.empty((count, len(covariance)))
    root = np.linalg.cholesky(whole[np.ix_(order, order)])
    points[:, order] = normal_points(count, len(covariance)) @ root.T
    return points
