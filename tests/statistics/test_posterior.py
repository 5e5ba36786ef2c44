"""The posterior of a field is that of its priors: every assignment of bots to parts is added up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np
import pytest

from arena.statistics.distributions import Floats, expit, normal_below
from arena.statistics.posterior import make_priors
from arena.statistics.ratings import Fit
from arena.statistics.two_bots import pair_scores
from arena.statistics.verdicts import Verdicts
from tests.tiers import few

CLOSE = 0.01
_DRAWS = 100_000
_NEGLIGIBLE = 16.0  # how far log evidence is below the largest

Random = np.random.Generator
Drawn = Callable[[Random, int], Floats]


def _normal(rng: Random, bots: int) -> Floats:
    return rng.normal(size=bots) * rng.choice([0.05, 0.2, 0.6])


def _far(rng: Random, bots: int) -> Floats:
    return rng.standard_t(2, bots) * 0.15


def _clusters(rng: Random, bots: int) -> Floats:
    upper = np.arange(bots) < max(1, bots * rng.choice([0.25, 0.5, 0.75]))
    return upper * rng.choice([0.5, 1.0, 2.0]) + rng.normal(size=bots) * 0.04


STRENGTHS: dict[str, Drawn] = {"far": _far, "clusters": _clusters, "random": _normal}
DESIGNS = "all", "joined", "gauntlet"


def play(seed: int, bots: int, strengths: str, design: str) -> Verdicts:
    """Return the verdicts on a field; pairings deviate from the Elo.

    All bots meet in as many pairs; or in different numbers, as in joined lists; or only the first
    meets the others. Then errors are uncertain, and the covariance is one of three.
    """
    rng = np.random.default_rng(seed)
    true, pairs = STRENGTHS[strengths](rng, bots), int(rng.choice([2, 5, 20, 50, 200, 500]))
    met = {}
    for one, two in combinations(range(bots), 2):
        if design == "gauntlet" and one:
            continue
        own = int(rng.integers(max(1, pairs // 8), 2 * pairs)) if design == "joined" else pairs
        share = float(expit(true[one] - true[two] + rng.normal() * 0.15))
        won = (rng.random((own, 2)) < share).sum(axis=1)
        met[one, two] = tuple(np.bincount(2 * won, minlength=5).tolist())
    return Verdicts(Fit(bots, [pair_scores(*two, counts) for two, counts in met.items()]), met)


def every_assignment(told: Verdicts) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield the log evidence, means and covariances by a prior, for each assignment of its parts.

    If it is known of which part each bot is, every strength has a normal prior, so all is exact.
    The results say nothing of the mean of all bots, so they are seen without it.
    """
    strengths, bots, seen = told.fit.strengths, told.bots, told.seen
    typical = np.median(np.diag(seen[0][1])) * bots / (bots - 1)
    prior = make_priors(strengths, math.sqrt(typical))
    without_mean = np.linalg.svd(np.eye(bots) - 1 / bots)[0][:, :-1].T
    for weight, covariance in seen:
        for log, parts, means, variances in zip(*prior, strict=True):
            assigned = np.array([*product(np.flatnonzero(parts), repeat=bots)])
            of_prior = variances[assigned][:, None] * np.eye(bots)
            spread = without_mean @ (covariance + of_prior) @ without_mean.T
            beyond = ((strengths - means[assigned]) @ without_mean.T)[..., None]
            gain = of_prior @ without_mean.T @ np.linalg.inv(spread)
            misfit = (beyond * np.linalg.solve(spread, beyond)).sum(axis=(1, 2))
            evidence = math.log(weight) + log + np.log(parts[assigned]).sum(axis=1)
            evidence -= (misfit + np.linalg.slogdet(spread)[1]) / 2
            kept = evidence > evidence.max() - _NEGLIGIBLE
            mean = means[assigned] + (gain @ beyond)[..., 0]
            yield evidence[kept], mean[kept], (of_prior - gain @ without_mean @ of_prior)[kept]


def enumerate_field(told: Verdicts) -> tuple[Floats, Floats]:
    """Return the probability that a bot of a row is the stronger one, and that it is the first."""
    parts = zip(*every_assignment(told), strict=True)
    logs, means, covariances = (np.concatenate(column) for column in parts)
    weights = np.exp(logs - logs.max())
    kept = weights > math.exp(-_NEGLIGIBLE)
    weights, means, covariances = weights[kept] / weights.sum(), means[kept], covariances[kept]
    own = np.einsum("aii->ai", covariances)
    gaps = np.maximum(own[:, :, None] + own[:, None] - 2 * covariances, 1e-14)
    ahead = normal_below((means[:, :, None] - means[:, None]) / np.sqrt(gaps))
    rng, first = np.random.default_rng(1), np.zeros(told.bots)
    counts = rng.multinomial(_DRAWS, weights / weights.sum())
    for mean, covariance, count in zip(means, covariances, counts, strict=True):
        if count:
            root = np.linalg.cholesky(covariance + 1e-9 * np.eye(told.bots))
            points = mean + rng.normal(size=(count, told.bots)) @ root.T
            first += np.bincount(points.argmax(axis=1), minlength=told.bots)
    return np.einsum("a,aij->ij", weights, ahead), first / _DRAWS


QUICKSTART = {  # city_hunter, majority, greedy, uniform
    (0, 1): (106, 0, 304, 0, 90),
    (0, 2): (128, 0, 260, 0, 112),
    (2, 1): (114, 0, 274, 0, 112),
    (3, 0): (402, 0, 92, 0, 6),
    (3, 2): (370, 0, 123, 0, 7),
    (3, 1): (403, 0, 93, 0, 4),
}


def test_the_chances_after_quickstart_are_those_of_all_assignments() -> None:
    """One bot far from the others is a second group: there the priors had been dropped too soon."""
    told = Verdicts(Fit(4, [pair_scores(*two, by) for two, by in QUICKSTART.items()]), QUICKSTART)
    ahead, first = enumerate_field(told)
    assert told.likely == pytest.approx(ahead, abs=CLOSE)
    assert told.first() == pytest.approx(first, abs=CLOSE)
    assert told.likely[1, 0] == pytest.approx(0.82, abs=CLOSE)


def test_no_prior_is_dropped_for_one_whose_evidence_is_too_high_for_a_moment() -> None:
    """After two sweeps that of a Student's t is 76 too high, and the best were dropped."""
    met = {
        (0, 1): (25, 88, 118, 54, 15),
        (0, 2): (1, 11, 50, 125, 113),
        (0, 3): (8, 55, 105, 100, 32),
    }
    told = Verdicts(Fit(4, [pair_scores(*two, by) for two, by in met.items()]), met)
    ahead, first = enumerate_field(told)
    assert told.likely == pytest.approx(ahead, abs=CLOSE)
    assert told.first() == pytest.approx(first, abs=CLOSE)


FIELDS = [*product((3, 4, 5, 6), STRENGTHS, DESIGNS)]
"""The first three are quick, and those of six bots, with two million assignments, a study."""


@pytest.mark.parametrize(("bots", "strengths", "design"), few(FIELDS, 3, 24, unpack=True))
def test_the_chances_of_few_bots_are_those_of_all_assignments(
    bots: int, strengths: str, design: str
) -> None:
    """Also where the covariance is one of three, which agree more or less with the results."""
    for seed in range(2, {3: 3, 4: 6}.get(bots, 3)):
        told = play(seed, bots, strengths, design)
        ahead, first = enumerate_field(told)
        assert told.likely == pytest.approx(ahead, abs=CLOSE)
        assert told.first() == pytest.approx(first, abs=CLOSE)
