"""The spread of results about the Elo: estimated, and a part of the intervals where it is felt."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from arena.statistics.model import LADDER_SPREAD, is_equal
from arena.statistics.ratings import Fit, PairScores
from bench.studies import unmet
from bench.studies.truths import Truth, of_elo, play
from bench.studies.unmet import PARTIALS, Partial, cover

PAIRS = 40


def even(*pairings: tuple[int, int], pairs: int = PAIRS) -> Fit:
    """Return the fit of these pairings, all of them even."""
    bots = 1 + max(max(two) for two in pairings)
    return Fit(bots, [PairScores(*two, pairs, pairs, 1.5 * pairs) for two in pairings])


def test_where_all_met_alike_the_errors_are_those_of_luck() -> None:
    """A round robin; and one pairing."""
    for bots in (2, 4):
        fit = even(*combinations(range(bots), 2))
        assert is_equal(fit.model)
        assert np.array_equal(fit.full_covariance, fit.covariance)


def test_with_all_pairings_missing_the_rest_is_that_of_the_ladder() -> None:
    """A chain of three: the gap of its ends differs from that in a round robin by thirds.

    In a round robin it is 2/3 of the pairing of the ends and 1/3 of each other one, in the chain
    the sum of the two others: so 2/3 of all three pairings are not the same.
    """
    fit = even((0, 1), (1, 2))
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


def test_pairings_of_unequal_numbers_of_pairs_are_no_equal_round_robin() -> None:
    """Unless each of them counts the same, as in a run that chooses its pairs."""
    scores = [PairScores(a, b, 10 + 90 * a, 10 + 90 * a, 200) for a, b in combinations(range(3), 2)]
    plain, fair = Fit(3, scores), Fit(3, scores, even=True)
    assert not is_equal(plain.model)
    assert is_equal(fair.model)
    assert plain.full_errors[0, 1] > plain.gap_errors[0, 1]
    assert np.array_equal(fair.full_errors, fair.gap_errors, equal_nan=True)


def test_bots_without_games_have_no_spread_to_speak_of() -> None:
    """Nobody, one bot, and groups that never met: all numbers are finite."""
    for fit in (Fit(0, []), Fit(1, []), Fit(4, [PairScores(0, 1, 9, 9.0, 14.0)])):
        assert np.isfinite(fit.full_covariance).all()
        assert fit.spread.elo == pytest.approx(LADDER_SPREAD.high, rel=0.02)


def check(partial: Partial, spread: float, runs: int) -> None:
    """See that intervals hold the truth, and that the spread is about the true one."""
    found = cover(partial, spread, runs)
    assert found.whole > 0.95 - 0.05 - 0.3 / runs**0.5
    assert abs(found.spread - spread) < 15


@pytest.mark.slow
def test_intervals_hold_the_elo_of_a_round_robin_that_was_not_played() -> None:
    """Eight bots that meet four others, in 20 runs; by luck alone three of ten did not."""
    assert cover(PARTIALS[1], 38.0, 20).luck < 0.82
    check(PARTIALS[1], 38.0, 20)


@pytest.mark.study
@pytest.mark.parametrize("spread", unmet.SPREADS)
@pytest.mark.parametrize("partial", PARTIALS, ids=lambda partial: partial.name)
def test_intervals_cover_where_not_all_bots_meet(partial: Partial, spread: float) -> None:
    """200 runs each (bench/STUDIES.md has 400)."""
    check(partial, spread, 200)
