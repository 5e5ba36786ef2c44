"""The posterior of a field: probabilities of leads and of being the first.

The data are the fitted strengths with their covariance. A prior is a distribution of strengths, a
mixture of normal distributions. As the results of a field say little about the shape of its
distribution, the posterior averages over several shapes: normal; Student's t with two degrees of
freedom, in which a few bots are far from the others; and two or three groups of bots that are close
to each other. Each has a grid of scales, in log odds. For each prior the posterior is approximated
by expectation propagation, and the posteriors are averaged by their evidence.

The posterior of a lead follows from the fitted lead and its error only, as with two bots. So the
bot ahead is the stronger one with a probability of at least one half. With the strengths of all
bots, those that are known less well would be drawn further towards the mean, which is not theirs
where lists of games were joined.

With groups the strength of a bot may have several peaks: then the prior itself is used for the
chances to be first, and of few bots each division into the groups. They are integrated over fixed
points, so they are reproducible. A prior is dropped when its evidence is low and no longer moves
much; weights fall to 0 at the threshold, so that a rounding error cannot cause a jump.

Sources: Minka 2001 for expectation propagation; Efron and Morris 1973 for priors from the field.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.statistics.bradley_terry import Flags, Numbers
from arena.statistics.distributions import ELO, Floats, normal_below, normal_points

_SWEEPS = 30  # at most
_STILL = 1e-5  # the sweeps end when no log evidence moves more
_SETTLED = 1.0  # log evidence that moves less is compared with; it may be 80 too high before
_LOW = 15.0  # how far the log evidence of a prior that is dropped is below the best one's
_LEAST_EVIDENCE, _FULL_EVIDENCE = 12.0, 10.0  # at the end: how far for weight 0, and full weight
_PACE, _FAST = 0.7, 6  # the damping of the steps after the first one; after six it grows
_SMALL, _LEAST = 1e-12, 1e-6
_DIGITS = 9  # to which means are rounded, so that rounding errors do not change their order
_POINTS = 1 << 20  # points times bots: the chances to be first are then right within 0.5 %
_FEWEST, _MOST = 1 << 12, 1 << 15
_Random: TypeAlias = "np.random.RandomState"  # NumPy keeps its numbers; it takes 20 ms
_FEW = 6  # bots, of which all divisions into two groups are looked at
_AT_ONCE = 1 << 18  # numbers of matrices; those of all priors of 300 bots took 200 MB
_BLOCK = 48  # rows: with blocks a triangular matrix of 300 is inverted in a third of the time


class Posterior:
    """The posterior of some bots, a mixture with the parts' `weights`, `means` and `covariances`.

    `strengths` are the fitted ones. `seen` are possible covariances of them, with weights.
    `centred` is the matrix that subtracts the mean of each group of bots. Only differences of the
    `means` have a meaning.
    """

    def __init__(
        self, strengths: Floats, seen: Sequence[tuple[float, Floats]], centred: Floats
    ) -> None:
        self._strengths, self._seen = strengths, [covariance for _, covariance in seen]
        mean, bots = np.eye(len(strengths)) - centred, len(strengths)
        typical = np.median(np.diag(seen[0][1])) * bots / max(1, bots - 1)
        prior = make_priors(strengths, math.sqrt(typical))
        whole = centred @ self._seen @ centred + mean
        known = np.asarray(np.linalg.inv(whole) - mean)
        logs = np.log([weight for weight, _ in seen]) - np.linalg.slogdet(whole)[1] / 2
        logs -= strengths @ known @ strengths / 2  # normalized, so that covariances compare
        number = np.repeat(np.arange(len(seen)), len(prior.logs))
        prior = prior.take(np.tile(np.arange(len(prior.logs)), len(seen)))
        prior = prior._replace(logs=prior.logs + logs[number])
        cases = self._cases = _Cases(prior, known, known @ strengths, number)
        groups = np.asarray(prior.means.any(axis=1))
        divided = groups if bots <= _FEW else np.zeros_like(groups)
        found = [_propagate(cases, *(~divided).nonzero()), _divide(cases, *divided.nonzero())]
        every = _Parts(*map(np.concatenate, zip(*found, strict=True)))
        kept = every.logs > every.logs.max() - _LEAST_EVIDENCE
        parts = self._parts = _Parts(*(column[kept] for column in every))
        log = parts.logs - parts.logs.max()
        taper = (log + _LEAST_EVIDENCE) / (_LEAST_EVIDENCE - _FULL_EVIDENCE)
        weights = np.exp(log) * np.minimum(taper, 1)
        self.weights: Floats = np.asarray(weights / weights.sum())
        self.means: Floats = parts.means
        self.covariances = np.asarray(np.linalg.inv(cases.precisions(parts.place, parts.own)))
        mixed = prior.parts[:, 1] > 0 if bots <= _FEW else groups
        self._has_peaks: Flags = (mixed & ~divided)[parts.place]

    @cached_property
    def likely(self) -> Floats:
        """The probability that the bot of a row is stronger than that of a column (n, n)."""
        first, second = np.triu_indices(self.means.shape[1], 1)
        above = np.zeros(len(first))
        for some in _batches(np.arange(len(first)), self._cases.prior.parts.shape[1] ** 2):
            for weights, means, errors in self._leads(first[some], second[some]):
                above[some] += (weights * normal_below(means / errors)).sum(axis=0)
        found = np.full(self.covariances.shape[1:], 0.5)
        found[first, second], found[second, first] = above, 1 - above
        return found

    def _leads(self, first: Numbers, second: Numbers) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield normal parts of the leads of bots over others: weights, means and errors.

        The prior of a lead is that of the difference of two strengths of the field.
        """
        leads = self._strengths[first] - self._strengths[second]
        for place in np.unique(self._parts.place).tolist():
            weight = self.weights[self._parts.place == place].sum()
            seen = self._seen[self._cases.number[place]]
            square = seen[first, first] + seen[second, second] - 2 * seen[first, second] + _SMALL
            shares, at, variances = (column[place] for column in self._cases.prior[1:])
            both = np.array([*product(np.flatnonzero(shares), repeat=2)])
            one, two = both[:, :1], both[:, 1:]
            apart, wide = at[one] - at[two], variances[one] + variances[two]
            logs = np.log(shares[one] * shares[two]) - np.log(wide + square) / 2
            logs -= (leads - apart) ** 2 / (wide + square) / 2
            own = weight * np.exp(logs - np.logaddexp.reduce(logs))
            means = (leads * wide + apart * square) / (wide + square)
            yield own, means, np.sqrt(wide * square / (wide + square))

    def first(self) -> Floats:
        """Return the probability of each bot to be the strongest."""
        order = np.argsort(-(self.weights @ self.means).round(_DIGITS), kind="stable")
        bots = len(order)
        points = normal_points(min(max(_POINTS // bots, _FEWEST), _MOST), bots)
        ends = np.rint(np.cumsum(self.weights) * len(points)).astype(int)
        found = np.zeros(bots)
        for part in np.flatnonzero(np.diff(ends, prepend=0)):
            own = points[ends[part - 1] if part else 0 : ends[part]]
            best = self._draw(int(part), own, order).argmax(axis=1)
            found += np.bincount(best, minlength=bots)
        return found / len(points)

    def _draw(self, part: int, points: Floats, order: Numbers) -> Floats:
        """Return points of a part, from points of the standard normal distribution.

        They depend on the `order` of the bots, not on their numbers. With peaks each bot's values
        are drawn again by the prior itself, given those of the others: Gibbs sampling.
        """
        covariance, drawn = self.covariances[part], np.empty_like(points)
        drawn[:, order] = points @ np.linalg.cholesky(covariance[np.ix_(order, order)]).T
        drawn += self.means[part]
        if self._has_peaks[part]:
            prior, (known,), (seen,) = self._cases.at(self._parts.place[part : part + 1])
            random = np.random.RandomState(part)
            for bot in order.tolist() * (2 if len(order) <= _FEW else 1):
                own = known[bot, bot]
                towards = seen[bot] - drawn @ known[bot] + own * drawn[:, bot]
                drawn[:, bot] = _sample(prior, own, towards, random)
        return drawn


class _Cases(NamedTuple):
    """Priors with what the results say of the strengths.

    `known` are inverse covariances, and `seen` their products with the fitted strengths; the
    `number` of each prior is that of its covariance.
    """

    prior: FieldPrior
    known: Floats
    seen: Floats
    number: Numbers

    def at(self, place: Numbers) -> tuple[FieldPrior, Floats, Floats]:
        """Return the priors at some places, each with its inverse covariance and product."""
        prior, number = self.prior.take(place), self.number[place]
        said = prior.parts.any(axis=0)
        prior = FieldPrior(prior.logs, *(column[:, said] for column in prior[1:]))
        return prior, self.known[number], self.seen[number]

    def precisions(self, place: Numbers, own: Floats) -> Floats:
        """Return the precision of all strengths if their priors have the precisions `own`."""
        return np.asarray(self.known[self.number[place]] + own[..., None] * np.eye(own.shape[1]))


class _Parts(NamedTuple):
    """Normal posteriors with their log evidence, each by the prior at a `place`.

    In them a normal factor stands for the prior of each bot. It has a precision `own`, and a
    precision times mean `pull`.
    """

    logs: Floats
    place: Numbers
    means: Floats
    own: Floats
    pull: Floats


def _sample(prior: FieldPrior, cavity: float, towards: Floats, random: _Random) -> Floats:
    """Return a value of the prior times each cavity."""
    _, *parts = _split(np.full((1, len(towards)), cavity), towards[None], prior)
    shares, means, variances = (part[0] for part in parts)
    below = shares.cumsum(axis=1)[:, :-1]
    chosen = np.arange(len(towards)), (below < random.random_sample((len(towards), 1))).sum(axis=1)
    errors = np.sqrt(variances[chosen])
    return np.asarray(means[chosen] + errors * random.standard_normal(len(towards)))


def _batches(places: Numbers, size: int) -> Iterator[Numbers]:
    """Yield the places in batches, each with as many arrays of a size as memory allows."""
    at_once = max(1, _AT_ONCE // max(1, size))
    yield from (places[n : n + at_once] for n in range(0, len(places), at_once))


def _divide(cases: _Cases, place: Numbers) -> _Parts:
    """Return the posteriors of priors of two groups for each division of the bots into them.

    By a division the prior of each bot is normal, so the posterior is exact.
    """
    bots = cases.seen.shape[1]
    divisions = np.array([*product(range(2), repeat=bots)] if len(place) else np.zeros((0, bots)))
    place, divisions = np.repeat(place, len(divisions)), np.tile(divisions, (len(place), 1))
    chosen = place[:, None], divisions.astype(int)
    shares, means, variances = (column[chosen] for column in cases.prior[1:])
    own, pull = 1 / variances, means / variances
    log = np.log(shares**2 / (2 * np.pi * variances)) - means**2 / variances
    means, _, sizes = _multiply(cases, place, own, pull)
    return _Parts(cases.prior.logs[place] + log.sum(axis=1) / 2 + sizes, place, means, own, pull)


def _propagate(cases: _Cases, place: Numbers) -> _Parts:
    """Return the posteriors of priors at some places, of those that have enough evidence.

    Each factor matches the moments of the prior times the cavity, the distribution of the bot's
    strength by all other factors. A prior is dropped when its evidence, and as much again as it has
    moved in this sweep, is far below that of one that has settled.
    """
    prior = cases.prior.take(place)
    shift = (prior.parts * prior.means).sum(axis=1, keepdims=True)
    spread = np.minimum(prior.variances, 4) + (prior.means - shift) ** 2
    own = 1 / (prior.parts * spread).sum(axis=1, keepdims=True) + np.zeros(cases.seen.shape[1])
    pull, before = own * shift, np.full(len(own), np.inf)
    for sweep in range(_SWEEPS):
        means, variances, log = _multiply(cases, place, own, pull)
        cavity, towards = np.maximum(1 / variances - own, _LEAST), means / variances - pull
        both, total, mean, variance = cavity + own, *_moments(cavity, towards, prior)
        factor = (np.log(cavity / both) + (towards + pull) ** 2 / both - towards**2 / cavity) / 2
        log += prior.logs + (total - factor).sum(axis=1)
        moved = np.abs(log - before)
        kept = log + moved > log[moved < _SETTLED].max(initial=-np.inf) - _LOW
        if sweep == _SWEEPS - 1 or moved[kept].max() < _STILL:
            break
        pace = _PACE * min(1.0, _FAST / (sweep + 1)) if sweep else 1.0
        wanted = np.clip(1 / variance - cavity, 1e-5, 1e8)
        pull = (pull + pace * (mean * (cavity + wanted) - towards - pull))[kept]
        own = (own + pace * (wanted - own))[kept]
        prior, place, before = prior.take(kept), place[kept], log[kept]
    return _Parts(log - moved, place, means, own, pull)


def _multiply(
    cases: _Cases, place: Numbers, own: Floats, pull: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return means, variances and the log integral of what is known times the factors."""
    means, variances, logs = np.empty_like(own), np.empty_like(own), np.empty(len(own))
    for some in _batches(np.arange(len(own)), own.shape[1] ** 2):
        root = np.linalg.cholesky(cases.precisions(place[some], own[some]))
        inverse = _invert(np.asarray(root))
        whole = cases.seen[cases.number[place[some]]] + pull[some]
        half = np.einsum("mij,mj->mi", inverse, whole)
        means[some] = np.einsum("mji,mj->mi", inverse, half)
        variances[some] = np.maximum(np.einsum("mji,mji->mi", inverse, inverse), _SMALL)
        logs[some] = (half**2 / 2 - np.log(np.einsum("mii->mi", root))).sum(axis=1)
    return means, variances, logs


def _invert(lower: Floats) -> Floats:
    """Return the inverses of lower triangular matrices."""
    size = lower.shape[-1]
    if size <= _BLOCK:
        return np.asarray(np.linalg.inv(lower))
    upper, rest = np.s_[..., : size // 2, : size // 2], np.s_[..., size // 2 :, size // 2 :]
    found = np.zeros_like(lower)
    found[upper], found[rest] = _invert(lower[upper]), _invert(lower[rest])
    corner = np.s_[..., size // 2 :, : size // 2]
    found[corner] = -found[rest] @ lower[corner] @ found[upper]
    return found


def _split(cavity: Floats, towards: Floats, prior: FieldPrior) -> tuple[Floats, ...]:
    """Return the log integral of the prior times the cavity; its parts: share, mean, variance."""
    cavity_variance, cavity_mean = 1 / cavity[..., None], (towards / cavity)[..., None]
    of_part, at = prior.variances[:, None], prior.means[:, None]
    both = cavity_variance + of_part
    logs = np.log(np.maximum(prior.parts, 1e-300))[:, None]
    logs = logs - np.log(2 * np.pi * both) / 2 - (cavity_mean - at) ** 2 / both / 2
    total = np.logaddexp.reduce(logs, axis=-1)
    shares = np.exp(logs - total[..., None])
    middle = (cavity_mean * of_part + at * cavity_variance) / both
    return total, shares, middle, cavity_variance * of_part / both


def _moments(cavity: Floats, towards: Floats, prior: FieldPrior) -> tuple[Floats, Floats, Floats]:
    """Return the log integral, the mean and the variance of the prior times the cavity."""
    total, shares, middle, variances = _split(cavity, towards, prior)
    mean = (shares * middle).sum(axis=-1)
    square = (shares * (variances + middle**2)).sum(axis=-1)
    return total, mean, np.maximum(square - mean**2, 1e-10)


_NORMAL, _HEAVY, _GROUPS = 0.485, 0.485, 0.03
"""The prior probability of each shape."""

_SCALES: Final = 3 * 2 ** (np.arange(15) / 2) / ELO
_SELDOM = 30 / ELO  # smaller scales are unlikely
_GROUP_SCALES: Final = np.array([3, 6, 12, 24, 48]) / ELO
_LEAST_GAP = 2.5  # between groups: so many times their scale, and so many errors
_CUTS: Final = np.array([0, 0.01, 0.04, 0.12, 0.3, 0.6, 1.0])  # of the scale of Student's t
_MANY = 4  # bots, the fewest for priors of groups

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
    """Return the priors of a field; fitted strengths and their error place the groups.

    >>> make_priors().parts.shape, make_priors(np.array([1.0, 0.9, -1.0, -1.1]), 0.1).parts.shape
    ((30, 6), (35, 6))
    """
    rows = [*_single()]
    if strengths is not None and len(strengths) >= _MANY:
        rows += _groups(np.sort(strengths), error)
    weights, *columns = (np.array([row[place] for row in rows]) for place in range(4))
    return FieldPrior(np.log(weights), *columns)


def _single() -> Iterator[_Row]:
    """Yield the priors of one group: normal, and Student's t as a mixture of normals."""
    middle, whole = (_CUTS[1:] + _CUTS[:-1]) / 2, np.eye(len(_CUTS) - 1)[0]
    often = np.sqrt(np.minimum(_SCALES, _SELDOM))
    for scale, share in zip(_SCALES, often / often.sum(), strict=True):
        yield _NORMAL * share, whole, 0 * whole, np.full_like(whole, scale**2)
        yield _HEAVY * share, np.diff(_CUTS), 0 * whole, scale**2 / -np.log(1 - middle)


def _groups(strengths: Floats, error: float) -> Iterator[_Row]:
    """Yield priors of groups about their fitted means, for the sorted strengths.

    The prior of a gap is log-uniform, and its likelihood is taken as normal about the fitted one.
    """
    bots = len(strengths)
    for number in range(2, 3 + (bots > _FEW)):
        ends = _split_into(strengths, number)
        sizes = np.diff(ends)
        centers = np.add.reduceat(strengths, ends[:-1]) / sizes
        gaps, parts = np.diff(centers), np.sqrt(1 / sizes[1:] + 1 / sizes[:-1])
        for scale in _GROUP_SCALES.tolist():
            errors = math.hypot(scale, error) * parts
            if (gaps < _LEAST_GAP * np.maximum(scale, errors)).any():
                continue
            weight = np.minimum(1, math.sqrt(2 * math.pi) * errors / gaps).prod()
            shares = np.pad(sizes / bots, (0, 6 - number))
            middles = np.pad(centers - centers[0], (0, 6 - number), "edge")
            yield _GROUPS / len(_GROUP_SCALES) * weight, shares, middles, np.full(6, scale**2)


def _split_into(strengths: Floats, number: int) -> Numbers:
    """Return where two or three groups of sorted strengths begin and end, by least squares.

    >>> _split_into(np.array([-1.0, -0.9, 0.0, 0.1, 2.0]), 3).tolist()
    [0, 2, 4, 5]
    """
    bots = len(strengths)
    sums = np.pad(strengths.cumsum(), (1, 0))
    inner = [np.arange(bots - 1)] if number == 2 else np.triu_indices(bots - 1, 1)
    cuts = 1 + np.stack(inner, axis=1)
    ends = np.pad(cuts, ((0, 0), (1, 1)), constant_values=((0, 0), (0, bots)))
    squares = np.diff(sums[ends]) ** 2 / np.diff(ends)
    return np.asarray(ends[squares.sum(axis=1).argmax()])
