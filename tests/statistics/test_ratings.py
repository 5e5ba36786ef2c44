"""Ratings: an independent library, cases by hand, and what pairings and the scale add to errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from arena.statistics.bradley_terry import LADDER_SPREAD, is_equal
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.intervals import Z95, Estimate, score_interval
from arena.statistics.ratings import ELO, MEAN, Fit, PairScores, fit_one
from arena.tables.findings import Findings, Unbounded
from arena.tables.standings_text import format_standings
from arena.tournament.schedule import round_robin
from bench.studies.truths import Truth, of_elo, play
from bench.studies.unmet import PARTIALS, cover


def fit(
    bots: int, scores: Sequence[PairScores], anchor: tuple[int, float] | None = None
) -> list[Estimate]:
    """Return the rating of every bot, with 1.96 errors on each side."""
    fitted = Fit(bots, scores)
    scale = fitted.scale({anchor[0]: 1.0} if anchor else {})
    elo = np.full(len(fitted.strengths), MEAN)
    if anchor:
        elo[fitted.groups == fitted.groups[anchor[0]]] = anchor[1]
    elo += ELO * scale.move(fitted.strengths)
    half = Z95 * ELO * scale.errors(fitted.full_covariance)
    low = np.where(scale.no_low, -np.inf, elo - half)
    high = np.where(scale.no_high, np.inf, elo + half)
    return list(map(Estimate, elo.tolist(), low.tolist(), high.tolist()))


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


def test_one_bot_among_rated_ones_gets_the_rating_of_the_whole_fit() -> None:
    """The others' ratings are those of the fit; its interval is somewhat wider."""
    others = PairScores(0, 1, 50, 70.0, 120.0)
    scores = [PairScores(2, 0, 50, 80.0, 140.0), PairScores(2, 1, 30, 49.0, 85.0)]
    *known, whole = fit(3, [others, *scores])
    single = fit_one([rating.value for rating in known], scores)
    assert single.value == pytest.approx(whole.value, abs=0.01)
    assert whole.low - 80 < single.low < whole.low
    assert whole.high < single.high < whole.high + 80


Z = 1.959963984540054
NINE = PairScores(0, 1, 9, 11.0, 19.0)
"""Nine pairs with 11 of 18 points; with the prior's pair 12 of 20, and the squares sum to 21.

The share is 0.6. The weight is 20 x 0.6 x 0.4 = 4.8, and the spread of the gradient
21 - 4 x 0.6 x 12 + 4 x 0.36 x 10 = 6.6.
"""


def span(middle: float, error: float) -> tuple[float, float]:
    """Return the bounds of an interval."""
    return middle - error, middle + error


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


def test_two_and_three_bots_are_rated_as_worked_out_by_hand() -> None:
    """The gap is 400 log10(0.6 / 0.4), half of it and of its error for each."""
    gap, error = 400 * math.log10(1.5), Z * ELO * GAP_ERROR / 2
    by_hand = [(middle, *span(middle, error)) for middle in (1500 + gap / 2, 1500 - gap / 2)]
    mirrored = PairScores(1, 0, 9, 7.0, 11.0)  # 7 points, squares 36 - 44 + 19
    for scores in (NINE, mirrored):
        assert [one[:3] for one in fit(2, [scores])] == [pytest.approx(one) for one in by_hand]
    # Each pairing has 9 of 18 points and squares 10, and half a pair of credit. The weight is 2 x
    # 9.5 / 4 = 4.75, the spread 11 - 19 + 9.5 = 1.5. The variance of one of three is 2 x effect /
    # (9 x weight).
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


@pytest.mark.parametrize(
    ("pairs", "total", "squares", "games"),
    [
        (4, 5.0, 8.0, 4 * 0.96 / 0.6775),
        (4, 4.0, 4.0, 16.0),
        (9, 11.0, 19.0, 9 * 9 * 0.24 / (19 / 4 - 9 * (11 / 18) ** 2 + 0.24)),
        (1, 2.0, 4.0, 1.0),
    ],
)
def test_bounds_are_wilsons(pairs: int, total: float, squares: float, games: float) -> None:
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


def luck(bot: int, opponent: int, pairs: int, share: float = 0.5) -> PairScores:
    """Return pairs in which nobody won both games more often than luck has it."""
    total = 2 * pairs * share
    return PairScores(bot, opponent, pairs, total, total**2 / pairs + pairs * 0.5)


def test_with_a_known_spread_many_pairs_do_not_outweigh_the_others() -> None:
    """Bot 0 beats 1 in many pairs, and is even with all others; with 0 all weigh the same."""
    others = [luck(0, other, 500) for other in range(2, 12)]
    others += [luck(*two, 500) for two in combinations(range(1, 12), 2)]
    scores = [luck(0, 1, 100_000, 0.6), *others]
    equal = Fit(12, [*others, luck(0, 1, 500, 0.6)]).strengths
    fits = Fit(12, scores), Fit(12, scores, known_spread=38.0)
    plain, known = (abs(float((one.strengths - equal)[0])) for one in fits)
    assert known < plain / 3
    scores = [luck(0, 1, 40, 0.6), luck(1, 2, 900, 0.45), luck(0, 2, 200)]
    plain, known = Fit(3, scores), Fit(3, scores, known_spread=0.0)
    assert np.allclose(plain.strengths, known.strengths, atol=1e-9)
    assert np.allclose(plain.covariance, known.covariance, rtol=1e-6)


def test_the_error_never_falls_below_what_few_opponents_leave_open() -> None:
    """A bot with one opponent of eleven has the spread in its rating, whatever it plays."""
    field = [luck(*two, 500) for two in combinations(range(1, 12), 2)]
    errors = []
    for pairs in (100, 1_000_000):
        fit = Fit(12, [luck(0, 1, pairs), *field], known_spread=38.0)
        scale = fit.scale()
        errors.append(ELO * float(scale.errors(fit.full_covariance)[0]))
    assert errors[0] > errors[1] > 30


def test_with_all_pairings_missing_the_rest_is_that_of_the_ladder() -> None:
    """A chain of three: the gap of its ends differs from that in a round robin by thirds.

    In a round robin it is 2/3 of the pairing of the ends and 1/3 of each other one, in the chain
    the sum of the two others: so 2/3 of all three pairings are not the same.
    """
    fit = Fit(3, [PairScores(*two, 40, 40, 60) for two in ((0, 1), (1, 2))])
    assert fit.spread.freedom == 0
    assert fit.spread.elo == pytest.approx(LADDER_SPREAD.high, rel=0.02)
    assert not fit.spread.is_measured
    rest = fit.full_errors[0, 2] ** 2 - fit.gap_errors[0, 2] ** 2
    assert rest == pytest.approx(3 * (2 / 3) ** 2 * fit.spread.variance, rel=1e-6)


def test_a_measured_spread_counts_with_caution() -> None:
    """Larger values weigh more: else leads of small gauntlets were missed in 11 % of runs."""
    rng = np.random.default_rng(9)
    for panel, caution in ((1, 1.0), (4, 1.3)):
        truth = Truth(of_elo(rng.normal(scale=50, size=4 + panel), 60, rng))
        spread = play(truth, 60, rng, range(4, 4 + panel)).fit().spread
        assert (spread.freedom >= 3) == (panel == 4)
        assert np.mean(spread.thirds) / spread.variance == pytest.approx(caution, abs=0.15)


def test_unequal_numbers_of_pairs_are_no_equal_round_robin() -> None:
    """Unless each of them counts the same, as in a run that chooses its pairs."""
    scores = [PairScores(a, b, 10 + 90 * a, 10 + 90 * a, 200) for a, b in combinations(range(3), 2)]
    plain, fair = Fit(3, scores), Fit(3, scores, even=True)
    assert not is_equal(plain.model)
    assert is_equal(fair.model)
    assert plain.full_errors[0, 1] > plain.gap_errors[0, 1]
    assert np.array_equal(fair.full_errors, fair.gap_errors, equal_nan=True)
    for fit in (Fit(0, []), Fit(1, []), Fit(4, [PairScores(0, 1, 9, 9.0, 14.0)])):
        assert np.isfinite(fit.full_covariance).all()
        assert fit.spread.elo == pytest.approx(LADDER_SPREAD.high, rel=0.02)


@pytest.mark.slow
def test_intervals_hold_the_elo_of_a_round_robin_that_was_not_played() -> None:
    """Eight bots that meet four others, in 20 runs; by luck alone three of ten did not."""
    found = cover(PARTIALS[1], 38.0, 20)
    assert found.luck < 0.82
    assert found.whole > 0.83
    assert abs(found.spread - 38) < 15


PAIRS_PLAYED = 20
LEVEL = dict.fromkeys(combinations("abc", 2), 20.0)
"""The points of the first bot of 40; the others of these are even."""


def field_of(
    points: dict[tuple[str, str], float], anchor: tuple[str, float] | None = None
) -> Field:
    """Return the field of a round robin in which the first of two bots has so many points of 40."""
    labels = sorted({label for two in points for label in two})
    pairings = round_robin(labels)
    totals = [
        PairTotals(number, PAIRS_PLAYED, points[two], points[two] ** 2 / PAIRS_PLAYED)
        for number, two in enumerate(pairings)
    ]
    return Field(pairings, totals, labels, anchors={anchor[0]: (anchor[1], 0.0)} if anchor else {})


def beats(one: str, others: str, points: float = 40.0) -> dict[tuple[str, str], float]:
    """Return what one bot scores against others that come before or after it."""
    return {
        (min(one, other), max(one, other)): points if one < other else 40.0 - points
        for other in others
    }


@pytest.mark.parametrize("points", [40.0, 0.0])
def test_a_bot_that_wins_or_loses_everything_is_not_in_the_mean(points: float) -> None:
    """The others have the ratings of a run without it, nearly; it has one end."""
    field = field_of(LEVEL | beats("x", "abc", points=points))
    found = field.ratings
    assert [round(found[label].value) for label in "abc"] == [1500] * 3
    assert math.isinf(found["x"].high) == (points == 40)
    assert math.isinf(found["x"].low) == (points == 0)
    alone = field_of(LEVEL).ratings
    for label in "abc":
        assert found[label][:3] == pytest.approx(alone[label][:3], abs=3)
    ((label, record, low, high),) = field.unbounded()
    assert (label, record) == ("x", "unbeaten" if points else "winless")
    assert (low is None, high is None) == (points == 0, points == 40)


@pytest.mark.parametrize(
    ("points", "records"),
    [
        (40.0, [("x", "unbeaten"), ("y", "unbeaten by the rest")]),
        (0.0, [("x", "winless"), ("y", "winless against the rest")]),
    ],
)
def test_who_loses_only_to_an_unbeaten_bot_or_wins_only_so_has_no_such_end_either(
    points: float, records: list[tuple[str, str]]
) -> None:
    field = field_of(LEVEL | beats("x", "abcy", points=points) | beats("y", "abc", points=points))
    assert [one[:2] for one in field.unbounded()] == records
    assert sum(field.ratings[label].value for label in "abc") == pytest.approx(4500)


def test_two_bots_may_be_unbeaten_by_the_rest_and_have_one_mean() -> None:
    """Although both have lost games: to each other."""
    field = field_of(LEVEL | beats("x", "abc") | beats("y", "abc") | beats("x", "y", points=25.0))
    assert {one[1] for one in field.unbounded()} == {"unbeaten by the rest"}
    assert sum(field.ratings[label].value for label in "abc") == pytest.approx(4500)
    one, two = field_of({("a", "b"): 40.0}).ratings.values()
    assert one.value + two.value == pytest.approx(3000)
    assert (one.high, two.low) == (math.inf, -math.inf)
    even = field_of({("a", "b"): 20.0})
    assert not [*even.unbounded()]


def test_an_anchor_is_the_scale_whatever_it_has_won() -> None:
    """Of an anchor that loses everything the others are unbeaten; it has its Elo."""
    points = LEVEL | beats("x", "abc", points=0.0)
    for anchor, unbounded in (("a", {"x"}), ("x", {"a", "b", "c"})):
        field = field_of(points, (anchor, 1000.0))
        assert field.ratings[anchor] == Estimate(1000.0, 1000.0, 1000.0)
        assert {one[0] for one in field.unbounded()} == unbounded


def test_a_bot_that_wins_all_or_nearly_is_not_in_the_mean() -> None:
    """Its error would be in the ratings of all others."""
    scores = [PairScores(*two, 9, 9.0, 9.0) for two in ((0, 1), (1, 2), (0, 2), (3, 4))]
    scores += [PairScores(5, bot, 9, 18.0, 36.0) for bot in (3, 4)]
    fit = Fit(6, scores)
    scale = fit.scale()
    assert scale.no_high.tolist() == [False] * 5 + [True]
    assert scale.weights[5].tolist() == [0, 0, 0, 0.5, 0.5, 0]
    assert scale.weights[0].tolist() == [1 / 3] * 3 + [0] * 3
    assert scale.move(np.ones(6)).tolist() == pytest.approx([0.0] * 6)
    points = dict.fromkeys(combinations("abcdef", 2), 20.0)
    field = field_of(points | beats("x", "abcde") | beats("x", "f", points=39.5))
    scale = field.fit.scale()
    assert scale.weights[0].round(3).tolist() == [*[0.167] * 6, 0]
    assert not scale.no_high.any()
    assert (field_of(points).fit.scale().weights == 1 / 6).all()


def test_an_unbounded_rating_is_marked_where_it_is_printed() -> None:
    row = {"rank": 1, "bot": "x", "elo": 2380.0, "elo_low": 2040.0, "elo_high": None, "games": 9}
    row |= dict.fromkeys(("score", "city_wins", "points_wins", "tiebreak_wins", "forfeits"), 0)
    _, line = format_standings([row | {"group": "a"}])
    assert line[25:45] == "       at least 2040"
    named = [Unbounded(f"bot{number}", "winless", None, 900.0) for number in range(6)]
    lines = [*Findings(None, True, None, [], 0, [], [], unbounded=named).lines()]
    assert lines[0] == "bot0 is winless: its Elo is at most 900"
    assert lines[-1].startswith("and 2 more bots")
