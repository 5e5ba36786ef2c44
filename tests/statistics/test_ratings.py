"""Ratings: compared with an independent library, simulation and cases worked out by hand."""

from __future__ import annotations

import math
import random

import numpy as np
import numpy.typing as npt
import pytest

from arena.statistics.intervals import score_interval
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


@pytest.mark.slow
def test_95_percent_intervals_cover_the_truth_in_95_percent() -> None:
    """In 400 simulated matches, 92 to 98 % of the intervals contain the true value."""
    rng = random.Random(1)
    truth = simulated(rng, 200_000)
    share = truth.total / (2 * truth.pairs)
    elo = 200 / math.log(10) * math.log(share / (1 - share))
    covered_share = covered_elo = 0
    for _ in range(400):
        match = simulated(rng, 150)
        low, high = score_interval(match.pairs, match.total, match.squares)
        covered_share += low <= share <= high
        rating = fit(2, [match])[0]
        covered_elo += rating.low <= 1500 + elo <= rating.high
    assert 0.92 <= covered_share / 400 <= 0.98
    assert 0.92 <= covered_elo / 400 <= 0.98


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
