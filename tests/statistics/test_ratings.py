"""Ratings and intervals: an independent library, simulation, and cases by hand."""

from __future__ import annotations

import math
import random

import numpy as np
import numpy.typing as npt
import pytest

from arena.statistics.intervals import score_interval
from arena.statistics.model import LADDER_SPREAD
from arena.statistics.ratings import PairScores, fit_one
from tests.statistics.plain import fit


def wins_of(bots: int, scores: list[PairScores]) -> npt.NDArray[np.float64]:
    """Return how often each bot has beaten each other one; half a pair of credit for each bot."""
    wins = np.zeros((bots, bots))
    opponents = [sum(bot in score[:2] for score in scores) for bot in range(bots)]
    for bot, opponent, pairs, total, _ in scores:
        credit = 0.5 / opponents[bot] + 0.5 / opponents[opponent]
        wins[bot, opponent] = total + credit
        wins[opponent, bot] = 2 * pairs - total + credit
    return wins


@pytest.mark.slow
def test_the_fit_agrees_with_an_independent_library() -> None:
    """choix fits the same strengths to the same games, the credit included."""
    import choix

    scores = [
        PairScores(0, 1, 50, 70.0, 120.0),
        PairScores(0, 2, 50, 80.0, 140.0),
        PairScores(1, 2, 30, 33.0, 50.0),
        PairScores(2, 3, 40, 60.0, 100.0),
    ]
    theirs = choix.ilsr_pairwise_dense(wins_of(4, scores), tol=1e-12)
    elo = 1500 + 400 / math.log(10) * (theirs - np.mean(theirs))
    assert [rating.value for rating in fit(4, scores)] == pytest.approx(list(elo), abs=0.01)


def test_a_score_of_three_quarters_is_191_points() -> None:
    """Elo 1978: a share of 3/4 is a lead of 400 log10(3) = 190.85 points."""
    first, second = fit(2, [PairScores(0, 1, 10**6, 1.5e6, 2.5e6)])
    assert first.value - second.value == pytest.approx(400 * math.log10(3), abs=0.01)


def test_the_mean_is_1500() -> None:
    """Also for unequal bots and numbers of games."""
    scores = [PairScores(0, 1, 100, 150.0, 250.0), PairScores(1, 2, 500, 900.0, 1700.0)]
    assert sum(rating.value for rating in fit(3, scores)) == pytest.approx(4500)


def test_one_bot_among_rated_ones_gets_the_rating_of_the_whole_fit() -> None:
    """The others' ratings are those of the fit; its interval is somewhat wider."""
    scores = [
        PairScores(0, 1, 50, 70.0, 120.0),
        PairScores(2, 0, 50, 80.0, 140.0),
        PairScores(2, 1, 30, 49.0, 85.0),
    ]
    *known, whole = fit(3, scores)
    single = fit_one([rating.value for rating in known], scores[1:])
    assert single.value == pytest.approx(whole.value, abs=0.01)
    assert whole.low - 80 < single.low < whole.low
    assert whole.high < single.high < whole.high + 80


def test_an_undefeated_bot_is_rated_and_its_interval_is_wide() -> None:
    """100 pairs won 2 : 0 prove a lead, but not its size."""
    best, worst = fit(2, [PairScores(0, 1, 100, 200.0, 400.0)])
    assert 600 < best.value - worst.value < 1200
    assert best.high - best.low > 200


def simulated(rng: random.Random, pairs: int) -> PairScores:
    """Return pairs whose two games share their luck, so the games are not independent."""
    scores = []
    for _ in range(pairs):
        luck = rng.gauss(0, 1)
        scores.append(
            sum(rng.random() < 1 / (1 + math.exp(-(0.3 + sign * luck))) for sign in (1, -1))
        )
    return PairScores(0, 1, pairs, float(sum(scores)), float(sum(s * s for s in scores)))


def test_a_score_interval_is_wilsons_if_pairs_are_single_trials() -> None:
    """Pairs of 0 or 2 points are: Wilson 1927 for 50 of 100 is 0.404 to 0.596."""
    assert score_interval(100, 100.0, 200.0) == pytest.approx((0.404, 0.596), abs=0.001)


def test_one_pair_never_looks_certain() -> None:
    """Whatever its score, its interval is wider than half of the range."""
    for total in (0.0, 1.0, 2.0):
        low, high = score_interval(1, total, total * total)
        assert 0 <= low <= total / 2 <= high <= 1
        assert high - low > 0.5


def test_a_pair_that_is_split_proves_no_equality() -> None:
    """After one or twenty pairs of 1 : 1 the interval is still wide."""
    for pairs, width in ((1, 300), (20, 30)):
        rating = fit(2, [PairScores(0, 1, pairs, float(pairs), float(pairs))])[0]
        assert rating.value == pytest.approx(1500)
        assert rating.high - rating.low > width


def test_the_pair_is_the_unit_and_not_the_game() -> None:
    """Of 1,000 games with a score of 1/2, split pairs prove most, and pairs of 2 : 0 least.

    By game all three would have the binomial error: 1.96 x 400 / ln 10 / sqrt(1000 / 4) =
    21.5 for the difference, half of it, 10.8, for each of the two ratings.
    """
    half = {}
    for name, squares in (("split", 500.0), ("as coins", 750.0), ("swept", 1000.0)):
        rating = fit(2, [PairScores(0, 1, 500, 500.0, squares)])[0]
        half[name] = (rating.high - rating.low) / 2
    assert half["as coins"] == pytest.approx(10.8, rel=0.02)
    assert half["swept"] == pytest.approx(10.8 * math.sqrt(2), rel=0.02)
    assert half["split"] < 1.1


Z = 1.959963984540054
ELO = 400 / math.log(10)
NINE = PairScores(0, 1, 9, 11.0, 19.0)
"""Nine pairs with 11 of 18 points; with the prior's pair 12 of 20, and the squares sum to 21.

The share is 0.6. The weight is 20 x 0.6 x 0.4 = 4.8, and the spread of the gradient
21 - 4 x 0.6 x 12 + 4 x 0.36 x 10 = 6.6.
"""


def effect(
    pairs: int, credit: float, spread: float, weight: float, pairings: int, bots: int
) -> float:
    """Return the variance of a pair over that of two games, where all pairings are alike.

    The pairing's mean lends 20 pairs, so it follows its own pairs by less than one degree of
    freedom; ten pairs of the variance of all pairings are added, which have so many pairs less the
    strengths that were fitted.
    """
    counted = pairs + credit
    own = spread / (1 - (1 - (20 / (counted + 20)) ** 2) / counted)
    played = pairings * pairs
    pooled = own / weight * played / (played - bots + 1)
    return (own + 10 * weight / counted * pooled) / (weight + 10 * weight / counted)


GAP_ERROR = math.sqrt(effect(9, 1, 6.6, 4.8, 1, 2) / 4.8)
"""That of two bots with these pairs, in log odds."""


def test_two_bots_are_rated_as_worked_out_by_hand() -> None:
    """The gap is 400 log10(0.6 / 0.4), half of it and of its error for each."""
    best, worst = fit(2, [NINE])
    gap, error = 400 * math.log10(1.5), Z * ELO * GAP_ERROR / 2
    assert best[:3] == pytest.approx((1500 + gap / 2, *span(1500 + gap / 2, error)))
    assert worst[:3] == pytest.approx((1500 - gap / 2, *span(1500 - gap / 2, error)))


def span(middle: float, error: float) -> tuple[float, float]:
    """Return the bounds of an interval."""
    return middle - error, middle + error


def test_it_does_not_matter_which_bot_is_named_first() -> None:
    """The same nine pairs as the other bot sees them: 7 points, squares 36 - 44 + 19 = 11."""
    best, worst = fit(2, [NINE])
    mirrored = fit(2, [PairScores(1, 0, 9, 7.0, 11.0)])
    assert [one[:3] for one in mirrored] == [pytest.approx(best[:3]), pytest.approx(worst[:3])]


def test_three_even_bots_are_rated_as_worked_out_by_hand() -> None:
    """Each pairing has 9 of 18 points and squares 10, and half a pair of credit.

    The weight is 2 x 9.5 / 4 = 4.75, the spread 11 - 19 + 9.5 = 1.5. The variance of one of
    three is 2 x effect / (9 x weight).
    """
    error = math.sqrt(2 * effect(9, 0.5, 1.5, 4.75, 3, 3) / (9 * 4.75))
    pairings = [(0, 1), (0, 2), (1, 2)]
    ratings = fit(3, [PairScores(*two, 9, 9.0, 10.0) for two in pairings])
    for rating in ratings:
        assert rating[:3] == pytest.approx((1500, *span(1500, Z * ELO * error)))


def prior_variance() -> float:
    """Return the mean square of |Student's t| with 2 degrees of freedom, up to 399, in log odds."""
    grid = np.arange(400.0)
    likely = (1 + (grid / LADDER_SPREAD.high) ** 2 / 2) ** -1.5
    return float(likely @ grid**2 / likely.sum()) / ELO**2


@pytest.mark.parametrize("anchor", [1500, 1900, 1100.5])
def test_one_bot_against_a_known_one_is_rated_as_worked_out_by_hand(anchor: float) -> None:
    """The bot gets the whole gap, its whole error, and how pairings deviate."""
    rating = fit_one([anchor], [PairScores(1, 0, *NINE[2:])])
    error = Z * ELO * math.sqrt(GAP_ERROR**2 + prior_variance())
    assert rating.value == pytest.approx(anchor + 400 * math.log10(1.5))
    assert rating[1:3] == pytest.approx(span(rating.value, error), abs=2)


def test_one_bot_against_several_known_ones_is_rated_by_all_its_games() -> None:
    """Against 1400 and 1600 it scores as 1500 should, 1 / (1 + 10^(-100/400)) and the rest.

    With half a pair of credit each these are the shares of 19 points; weights add up, and both
    have the same spread. Both results are as the Elo says, so that what is left of the prior counts
    half at most.
    """
    share = 1 / (1 + 10 ** (-100 / 400))
    total = 19 * share - 0.5
    mirrored = 4 * (9 - total) + 19.0
    scores = [PairScores(2, 0, 9, total, 19.0), PairScores(2, 1, 9, 18 - total, mirrored)]
    rating = fit_one([1400, 1600], scores)
    weight = 19 * share * (1 - share)
    spread = 20 - 4 * share * 9.5 * share
    luck = effect(9, 0.5, spread, weight, 2, 3) / (2 * weight)
    assert rating.value == pytest.approx(1500)
    assert 0.1 < (((rating.high - 1500) / Z / ELO) ** 2 - luck) / (prior_variance() / 2) < 0.9


@pytest.mark.parametrize(
    ("pairs", "total", "squares", "games"),
    [
        (4, 5.0, 8.0, 4 * 0.96 / 0.6775),
        (4, 4.0, 4.0, 16.0),
        (9, 11.0, 19.0, 9 * 9 * 0.24 / (19 / 4 - 9 * (11 / 18) ** 2 + 0.24)),
        (1, 2.0, 4.0, 1.0),
    ],
)
def test_the_bounds_of_a_score_solve_wilsons_equation(
    pairs: int, total: float, squares: float, games: float
) -> None:
    """(bound - mean)^2 = z^2 bound (1 - bound) / games, Wilson 1927.

    Four pairs of 5 points: the mean is 0.625, with the prior's pair 0.6; the variance between
    pairs is 8 / 4 - 4 x 0.625^2 = 0.4375, and 0.24 with the prior: 4 x 0.24 / 0.6775 games
    for each pair. Four split pairs have no variance: 1 / 0.25 games for each.
    """
    mean = total / (2 * pairs)
    low, high = score_interval(pairs, total, squares)
    for bound in (low, high):
        assert games * (bound - mean) ** 2 == pytest.approx(Z * Z * bound * (1 - bound))
    assert 0 <= low < mean <= high <= 1
    assert high - low > 0.1


def test_one_bot_against_few_opponents_is_not_rated_as_against_all() -> None:
    """Games without end against four, two of them 100 Elo points above the Elo and two below.

    The deviation has so 400^2 / 3 as its variance, and the rating a quarter of it.
    """
    share = 1 / (1 + 10 ** (-100 / 400))
    totals = [2e9 * one for one in (share, share, 1 - share, 1 - share)]
    scores = [PairScores(4, n, 10**9, total, total**2 / 1e9) for n, total in enumerate(totals)]
    rating = fit_one([1500] * 4, scores)
    assert rating.value == pytest.approx(1500)
    assert rating.high - 1500 == pytest.approx(Z * 100 / math.sqrt(3), rel=0.1)
