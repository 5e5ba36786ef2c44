"""Verdicts on two bots, and the posterior of a field: every assignment is added up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product

import numpy as np
import pytest

from arena.statistics.bradley_terry import gap_errors
from arena.statistics.counts import ScoreCounts
from arena.statistics.distributions import Floats, expit, normal_below, quantile
from arena.statistics.posterior import make_priors
from arena.statistics.ratings import ELO, Fit
from arena.statistics.two_bots import pair_scores, sign_chance
from arena.statistics.verdicts import Verdicts
from bench.studies.truths import CASES, play
from bench.studies.verdicts import simulate
from tests.tiers import few

EVEN: ScoreCounts = (10, 20, 40, 20, 10)
AHEAD: ScoreCounts = (10, 40, 150, 150, 150)


Met = Mapping[tuple[int, int], ScoreCounts]


def judge(bots: int, met: Met, *, looks: bool = False, even: bool = False) -> Verdicts:
    """Return what these pairs say of a run whose number of games was fixed, or of each look."""
    scores = [pair_scores(*two, by) for two, by in met.items()]
    return Verdicts(Fit(bots, scores, even=even), met, looks=looks)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_a_quantile_is_that_of_numpy_to_the_last_bit(count: int) -> None:
    numbers = np.random.default_rng(count).normal(size=count)
    for share in (0.0, 0.3, 0.5, 0.95, 1.0):
        assert quantile(numbers, share) == float(np.quantile(numbers, share))


@pytest.mark.parametrize(
    ("won", "word"), [(1, "open"), (4, "leans"), (5, "leans"), (6, "apart"), (10, "apart")]
)
def test_of_two_bots_none_is_apart_before_six_pairs(won: int, word: str) -> None:
    """Six pairs that all went one way have a chance of 1 in 32 between equal bots."""
    found = judge(2, {(0, 1): (0, 0, 0, 0, won)}).on(0, [1])[0]
    assert (found.word, found.low > 0, found.high) == (word, word == "apart", math.inf)
    turned = judge(2, {(0, 1): (won, 0, 0, 0, 0)}).on(1, [0])[0]
    assert turned == pytest.approx(found) or turned[:4] == pytest.approx(found[:4])


@pytest.mark.parametrize(("bots", "studentised"), [(4, 3.633), (12, 4.622)])
def test_all_leads_of_equal_bots_have_the_bound_of_tukey(bots: int, studentised: float) -> None:
    """The range of independent ratings, in errors of one of them, at 95 %; Tukey 1949."""
    told = judge(bots, dict.fromkeys(combinations(range(bots), 2), EVEN))
    bound = told.ends[0, 1] / told.fit.full_errors[0, 1]
    assert bound == pytest.approx(studentised / math.sqrt(2), rel=0.03)


def test_a_lead_is_that_of_the_ratings() -> None:
    """Both sides of a verdict say the same, and the ends hold the lead."""
    told = judge(3, {(0, 1): AHEAD, (0, 2): AHEAD, (1, 2): EVEN})
    for one, two in combinations(range(3), 2):
        found, turned = told.on(one, [two])[0], told.on(two, [one])[0]
        assert found.lead == told.fit.strengths[one] - told.fit.strengths[two] == -turned.lead
        assert found.likely + turned.likely == pytest.approx(1)
        assert -turned.high <= found.lead <= found.high
    assert [told.apart[two] for two in ((0, 1), (0, 2), (1, 2))] == [True, True, False]
    # With its ends: the upper one of the first bot is the lower one of the other, turned.
    told = judge(2, {(0, 1): AHEAD})
    found = told.on(0, [1])[0]
    values, lows, highs = told.ratings(told.fit.scale())
    assert 0 < found.low < found.lead < found.high
    assert [*values] == pytest.approx([found.lead / 2, -found.lead / 2])
    assert [*lows] == pytest.approx([found.low / 2, -found.high / 2])
    assert [*highs] == pytest.approx([found.high / 2, -found.low / 2])


def test_the_chance_of_signs_is_that_of_all_flips() -> None:
    """Each of the pairs that was not even goes either way; many are close to the normal law."""
    sizes = 3 * [-1] + 1 * [1] + 2 * [-2] + 4 * [2]
    flips = np.array(np.meshgrid(*(10 * [[-1, 1]]))).reshape(10, -1).T
    share = float((abs(flips @ np.abs(sizes)) >= abs(sum(sizes))).mean())
    assert sign_chance((2, 3, 4, 1, 4)) == pytest.approx(share)
    counted, normal = sign_chance((900, 0, 0, 0, 1000)), sign_chance((2000, 0, 0, 0, 2144))
    assert counted == pytest.approx(math.erfc(99 / math.sqrt(2 * 1900)), rel=0.01)
    assert normal == pytest.approx(math.erfc(143.5 / math.sqrt(2 * 4144)), rel=0.01)


@pytest.mark.parametrize("name", few(["3 equal", "6 equal, 5 pairs"], 0, 1))
def test_equal_bots_are_rarely_apart(name: str) -> None:
    """In 5 % of 100 runs; 13 would be an accident of 1 in 700."""
    found = simulate(name, CASES[name], 100)
    assert found["wrong"] <= 12
    assert found["missed"] <= 12


@pytest.mark.slow
def test_a_bound_that_is_too_low_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a family of leads has the bound of one."""
    monkeypatch.setattr(Verdicts, "_bounds", (1.96, 1.96))
    found = simulate("6 equal, 5 pairs", CASES["6 equal, 5 pairs"], 60)
    assert min(found["wrong"], found["missed"]) > 12


def test_records_without_a_loss_or_a_difference_stay_sane() -> None:
    met = dict.fromkeys(combinations(range(1, 4), 2), EVEN)
    told = judge(4, met | {(0, other): (0, 0, 0, 0, 20) for other in range(1, 4)})
    for other in range(1, 4):
        found = told.on(0, [other])[0]
        assert found.word == "apart"
        assert 200 < ELO * found.low < ELO * found.lead < found.high == math.inf
    met = {(one, two): (5, 5, 20 * one, 5, 5) for one in range(4) for two in range(one)}
    scores, found = [pair_scores(*two, counts) for two, counts in met.items()], []
    for last_bits in (np.zeros(4), np.array([0, 2, 1, 3]) * 1e-15):
        fit = Fit(4, scores)
        fit.strengths = np.array([0.5, 0.0, 0.0, 0.0]) + last_bits
        told = Verdicts(fit, {})
        found.append(np.concatenate([told.ends.ravel(), told.first()]))
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_the_same_run_has_the_same_verdicts() -> None:
    """To the last bit, in any order of the bots."""
    case = CASES["deviation 38"]
    rng = np.random.default_rng(3)
    played = play(case.truth(rng), 40, rng)
    one, again = (Verdicts(played.fit(), played.met) for _ in range(2))
    assert np.array_equal(one.likely, again.likely)
    assert np.array_equal(one.ends, again.ends)
    bots = played.bots
    turned = {
        (bots - 1 - two, bots - 1 - one): counts[::-1] for (one, two), counts in played.met.items()
    }
    other = judge(bots, turned)
    assert other.likely[::-1, ::-1] == pytest.approx(one.likely, abs=2e-5)
    assert other.apart[::-1, ::-1].tolist() == one.apart.tolist()


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


def play_all(seed: int, bots: int, strengths: str, design: str) -> Verdicts:
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
    return judge(bots, met)


def every_assignment(told: Verdicts) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    """Yield the log evidence, means and covariances by a prior, for each assignment of its parts.

    The last is the probability of every lead by this prior, for each two parts of the two bots.

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
            rest = (of_prior - gain @ without_mean @ of_prior)[kept]
            ahead = weigh_leads(
                told.leads, gap_errors(covariance, told.fit.groups) ** 2, parts, means, variances
            )
            yield evidence[kept], mean[kept], rest, np.array([ahead] * int(kept.sum()))


def weigh_leads(
    leads: Floats, squares: Floats, parts: Floats, means: Floats, variances: Floats
) -> Floats:
    """Return how likely each lead is above 0, if nothing but it and its variance is known."""
    every, above = np.zeros_like(leads), np.zeros_like(leads)
    for one, two in product(np.flatnonzero(parts), repeat=2):
        gap, wide = means[one] - means[two], variances[one] + variances[two]
        seen = parts[one] * parts[two] * np.exp(-((leads - gap) ** 2) / (wide + squares) / 2)
        seen /= np.sqrt(wide + squares)
        pull, precision = gap / wide + leads / (squares + 1e-12), 1 / wide + 1 / (squares + 1e-12)
        every += seen
        above += seen * normal_below(pull / np.sqrt(precision))
    np.fill_diagonal(above, np.diag(every) / 2)
    return above / every


def enumerate_field(told: Verdicts) -> tuple[Floats, Floats]:
    """Return the probability that a bot of a row is the stronger one, and that it is the first."""
    parts = zip(*every_assignment(told), strict=True)
    logs, means, covariances, ahead = (np.concatenate(column) for column in parts)
    weights = np.exp(logs - logs.max())
    kept = weights > math.exp(-_NEGLIGIBLE)
    weights, means, covariances = weights[kept] / weights.sum(), means[kept], covariances[kept]
    rng, first = np.random.default_rng(1), np.zeros(told.bots)
    counts = rng.multinomial(_DRAWS, weights / weights.sum())
    for mean, covariance, count in zip(means, covariances, counts, strict=True):
        if count:
            root = np.linalg.cholesky(covariance + 1e-9 * np.eye(told.bots))
            points = mean + rng.normal(size=(count, told.bots)) @ root.T
            first += np.bincount(points.argmax(axis=1), minlength=told.bots)
    return np.einsum("a,aij->ij", weights, ahead[kept]), first / _DRAWS


QUICKSTART = {  # city_hunter, majority, greedy, uniform
    (0, 1): (106, 0, 304, 0, 90),
    (0, 2): (128, 0, 260, 0, 112),
    (2, 1): (114, 0, 274, 0, 112),
    (3, 0): (402, 0, 92, 0, 6),
    (3, 2): (370, 0, 123, 0, 7),
    (3, 1): (403, 0, 93, 0, 4),
}


def check_chances(told: Verdicts) -> None:
    """See that both chances are those of all assignments."""
    ahead, first = enumerate_field(told)
    assert told.posterior.likely == pytest.approx(ahead, abs=CLOSE)
    assert told.posterior.first() == pytest.approx(first, abs=CLOSE)


@pytest.mark.parametrize(
    "met",
    [
        # one bot far from the others is a second group: there the priors had been dropped too soon
        QUICKSTART,
        # after two sweeps the evidence of a Student's t is 76 too high, and the best were dropped
        {
            (0, 1): (25, 88, 118, 54, 15),
            (0, 2): (1, 11, 50, 125, 113),
            (0, 3): (8, 55, 105, 100, 32),
        },
    ],
)
def test_no_prior_is_dropped_too_soon(met: Met) -> None:
    told = judge(4, met)
    check_chances(told)
    assert told.likely == pytest.approx(told.posterior.likely, abs=CLOSE)
    assert met is not QUICKSTART or told.likely[1, 0] == pytest.approx(0.836, abs=CLOSE)


JOINED = {  # a list of four bots, and another one of the last of them with three more
    "one below .5": (
        *((37, 110, 53), (62, 107, 31), (59, 119, 22), (55, 110, 35), (61, 118, 21), (53, 107, 40)),
        *((3, 6, 1), (3, 6, 1), (1, 5, 4), (1, 6, 3), (0, 9, 1), (4, 6, 0)),
    ),
    "apart below .95": (
        *((36, 100, 64), (9, 109, 82), (26, 91, 83), (27, 119, 54), (35, 116, 49), (34, 120, 46)),
        *((9, 1, 0), (5, 5, 0), (7, 3, 0), (2, 6, 2), (2, 5, 3), (2, 5, 3)),
    ),
}


@pytest.mark.parametrize(
    ("name", "two", "chance"), [("one below .5", (6, 3), 0.536), ("apart below .95", (4, 0), 0.985)]
)
def test_no_leader_is_probably_the_weaker_one_where_lists_were_joined(
    name: str, two: tuple[int, int], chance: float
) -> None:
    """By the strengths of all bots .243 and .882: those known less well are drawn further."""
    pairings = [*combinations(range(4), 2), *combinations(range(3, 7), 2)]
    met = dict(zip(pairings, ((a, 0, b, 0, c) for a, b, c in JOINED[name]), strict=True))
    told = judge(7, met)
    assert told.leads[two] > 0
    assert told.likely[two] == pytest.approx(chance, abs=0.005)
    assert told.posterior.likely[told.leads > 0].min() >= 0.5
    assert told.posterior.likely[told.apart].min(initial=1.0) >= 0.95
    assert (told.likely + told.likely.T).ravel() == pytest.approx(np.ones(49))


def test_no_bots_that_are_apart_are_less_likely_than_the_test_says() -> None:
    """The prior of a field with one bot far below says that the others are close."""
    even = [(8, 22, 10), (4, 29, 7), (11, 26, 3), (14, 17, 9), (3, 27, 10)]
    even += [(10, 21, 9), (9, 25, 6), (10, 21, 9), (11, 25, 4), (7, 25, 8)]
    met = dict(zip(combinations(range(5), 2), ((a, 0, b, 0, c) for a, b, c in even), strict=True))
    lost = [(0, 0, one, 0, 40 - one) for one in (9, 5, 11, 8, 6)]
    told = judge(6, met | {(one, 5): lost[one] for one in range(5)})
    assert told.apart[4, 2]
    assert told.posterior.likely[4, 2] < 0.95
    assert told.likely[4, 2] == 0.95
    assert told.likely[2, 4] == pytest.approx(0.05)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("looks", [False, True])
def test_no_two_figures_of_a_field_contradict_each_other(design: str, looks: bool) -> None:
    """Order, lead, ends, probability, verdict, and the chance to be the first, in 30 fields."""
    for seed in range(5):
        played = play_all(seed, 3 + seed, ["far", "clusters", "random"][seed % 3], design)
        told = Verdicts(played.fit, played.met, looks=looks)
        first, likely = told.first(), told.likely
        assert likely[told.leads > 0].min() >= 0.5
        assert likely[told.apart].min(initial=1.0) >= 0.95
        assert told.leads[told.apart].min(initial=1.0) > 0
        assert told.ends[~told.apart.T].min() >= 0  # so only those apart have a lower end above 0
        assert (first - 1e-4 <= (likely + np.eye(told.bots)).min(axis=1)).all()
        assert first.sum() == pytest.approx(1, abs=1e-3)


FIELDS = [*product((3, 4, 5, 6), STRENGTHS, DESIGNS)]
"""The first three are quick, and those of six bots, with two million assignments, a study."""


@pytest.mark.parametrize(("bots", "strengths", "design"), few(FIELDS, 3, 24, unpack=True))
def test_chances_of_few_bots_are_of_assignments(bots: int, strengths: str, design: str) -> None:
    """Also where the covariance is one of three, which agree more or less with the results."""
    for seed in range(2, {3: 3, 4: 6}.get(bots, 3)):
        check_chances(play_all(seed, bots, strengths, design))
