"""Plans: the power of the test of signs by counting, bounds by the verdicts, and simulation."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from arena.statistics.planned import Planned, expect_test
from arena.statistics.ratings import ELO
from arena.statistics.sprt import bounds
from arena.statistics.two_bots import sign_chance, sign_power
from arena.statistics.verdicts import Verdicts
from bench.studies import plan
from bench.studies.fields import EFFECT
from bench.studies.truths import Truth, of_elo, play


@pytest.mark.parametrize(("lost", "won"), [(0.25, 0.25), (0.1, 0.5), (0.01, 0.99 - 1e-9)])
def test_the_power_of_signs_is_that_of_all_outcomes(lost: float, won: float) -> None:
    """Of eleven pairs: those in which the test tells, and the stronger bot is ahead."""
    pairs, found = 11, 0.0
    for ahead, behind in product(range(pairs + 1), repeat=2):
        even = pairs - ahead - behind
        if even >= 0 and ahead > behind and sign_chance((behind, 0, even, 0, ahead)) <= 0.05:
            ways = comb(pairs, ahead) * comb(pairs - ahead, behind)
            found += ways * won**ahead * lost**behind * (1 - lost - won) ** even
    assert sign_power(pairs, lost, won, 0.05) == pytest.approx(found, abs=1e-5)


@pytest.mark.slow
def test_the_power_of_signs_goes_on_where_it_is_not_counted() -> None:
    """From 4,000 pairs that are not even on it is that of a normal distribution."""
    counted, normal = (sign_power(pairs, 0.24, 0.26, 0.05) for pairs in (8000, 8002))
    assert counted == pytest.approx(normal, abs=0.01)


@pytest.mark.slow
def test_a_lead_is_apart_if_it_passes_its_own_bound() -> None:
    """The bound of two bots is that of the steps down, in which they stay to the last one."""
    rng = np.random.default_rng(1)
    both = {True: 0, False: 0}
    for _ in range(20):
        played = play(Truth(of_elo(-30.0 * np.arange(5))), 100, rng)
        told = Verdicts(played.fit(), played.met)
        for one in range(4):
            error = told.leads[one, one + 1] / told.errors[one, one + 1]
            apart = bool(told.apart[one, one + 1])
            if abs(error - told.bound_of(one, one + 1)) > 0.1:
                assert (error > told.bound_of(one, one + 1)) == apart
                both[apart] += 1
    assert min(both.values()) > 10


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "panel"), [(2, 0), (4, 0), (3, 4)])
def test_the_chance_at_the_pairs_of_a_plan_is_its_power(bots: int, panel: int) -> None:
    """Within the steps of whole pairs, and wider gaps are seen more often."""
    planned = Planned(bots, panel, 50 / ELO)
    pairs = planned.pairs_to_tell(0.8)
    assert pairs
    narrow, right, wide = planned.chances(pairs, 25 / ELO, 50 / ELO, 100 / ELO)
    assert narrow < 0.4 < right == pytest.approx(0.8, abs=0.02)
    assert wide > 0.98


@pytest.mark.slow
def test_fewer_pairs_are_needed_where_they_vary_less() -> None:
    """As many times fewer as the variance of a pair is less."""
    usual, half = (Planned(3, 0, 20 / ELO, effect).pairs_to_tell(0.8) for effect in (1.0, 0.5))
    assert usual
    assert half
    assert usual / half == pytest.approx(2, rel=0.05)


@pytest.mark.slow
def test_a_panel_of_few_bots_does_not_tell_close_ones_apart() -> None:
    """What other opponents would say stays unknown with any number of pairs."""
    assert Planned(4, 2, 5 / ELO).pairs_to_tell(0.8) is None
    assert Planned(2, 2, 0.0).pairs_to_narrow(2 / ELO) is None


def test_a_longer_test_finds_the_gap_more_often() -> None:
    """The chance is what is not missed; a test that is cut short misses more."""
    planned = Planned(2, 0, 20 / ELO)
    whole, cut = (expect_test(planned, bounds(0.05, 0.1), most) for most in (20_000, 500))
    assert 0.9 <= whole.chance < 0.95
    assert cut.chance < 0.6
    assert cut.pairs < whole.pairs


@pytest.mark.study
@pytest.mark.parametrize(("bots", "panel", "gap"), [(2, 0, 20), (4, 0, 20), (6, 0, 20), (4, 8, 40)])
def test_a_plan_is_right_within_ten_per_cent(bots: int, panel: int, gap: float) -> None:
    """The pairs are those with which simulated runs have the power."""
    pairs, power, right = plan.row(bots, panel, gap)
    assert pairs / right == pytest.approx(1, abs=0.1)
    assert power == pytest.approx(0.8, abs=0.05)


@pytest.mark.study
def test_a_league_tells_neighbours_as_often_as_planned() -> None:
    """At the planned pairs, with bounds that hold at every look: in 80 of 100, as 200 runs say."""
    gap, panel, rng = 40, range(3, 9), np.random.default_rng(5)
    pairs = Planned(3, 6, gap / ELO, plan.EFFECT, looks=True).pairs_to_tell(0.8)
    assert pairs
    elo, told = np.append(gap * (1 - np.arange(3)), np.zeros(6)), []
    for _ in range(200):
        played = play(Truth(of_elo(elo)), pairs, rng, panel)
        apart = Verdicts(played.fit(), played.met, looks=True).apart
        told += [apart[0, 1], apart[1, 2]]
    assert np.mean(told) == pytest.approx(0.8, abs=0.06)


@pytest.mark.study
@pytest.mark.parametrize("gap", [20, 50])
def test_a_comparison_takes_the_pairs_that_are_expected(gap: float) -> None:
    """The test itself is simulated."""
    expected = expect_test(Planned(2, 0, gap / ELO, EFFECT), bounds(0.05, 0.2), 10**6)
    pairs, better = plan.play_tests(gap)
    assert expected.pairs == pytest.approx(pairs, rel=0.1)
    assert expected.chance == pytest.approx(better, abs=0.04)


@pytest.mark.study
def test_the_widest_interval_is_as_wide_as_planned() -> None:
    """In simulated runs, on average."""
    _, reached = plan.width_row(4, 0, 10)
    assert reached == pytest.approx(10, rel=0.1)
