"""Seasons of comparisons in simulation: how often one has a false claim.

`bench/STUDIES.md` has the table of which these are rows.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.statistics.sprt import PAIR_SCORES, log_likelihood_ratio, season_level, share_of
from bench.studies.seasons import (
    ALONE,
    ELO1,
    LEVELS,
    SEASONS,
    SEASONS_OF,
    SEEDS,
    Level,
    Season,
    find_false,
    is_true,
    make_claim_of,
    play_seasons,
    play_tests,
    ratios_of,
)
from bench.studies.sprt import FAR, MOST


def test_the_levels_of_all_places_are_the_budget() -> None:
    """Each is less than the one before, and the first 100,000 are 5 % less a little."""
    levels = [season_level(place) for place in range(1, 100_001)]
    assert levels == sorted(levels, reverse=True)
    assert 0.04999 < math.fsum(levels) < 0.05
    assert math.fsum(levels[:4]) == pytest.approx(0.025)


def test_many_ratios_are_those_of_the_test() -> None:
    """Row by row, also of rows in which only one score or none of the middle ones occurs."""
    rng = np.random.default_rng(1)
    rows = rng.multinomial(60, FAR, size=20)
    rows[:3] = (0, 0, 0, 0, 16), (0, 0, 16, 0, 0), (9, 0, 0, 0, 7)
    expected = [
        log_likelihood_ratio(row, PAIR_SCORES, 1.0, 2 * share_of(ELO1)) for row in rows.tolist()
    ]
    assert ratios_of(rows) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_what_is_false_is_what_the_command_says() -> None:
    """Also where the interval is not computed, because it surely holds 0."""
    for level, most in ((ALONE, 50), (Level(1), 50), (Level(20), 50)):
        season = Season("no gain", (0.0,), most=most)
        tests = play_tests(season, [level] * 30, np.random.default_rng(4), np.zeros(30))
        for counts, ratio in zip(tests.counts.tolist(), tests.ratios.tolist(), strict=True):
            claim = make_claim_of(counts, level, most).removeprefix("probably ")
            expected = "" if is_true(claim, 0.0) else claim
            assert find_false(counts, ratio, 0.0, level, most) == expected


@pytest.mark.slow
@pytest.mark.parametrize("most", [16, 50])
def test_few_seasons_have_a_false_claim(most: int) -> None:
    """The fast form: short comparisons; if each is alone, a third of the seasons has one."""
    season = Season("no gain", (0.0,), most=most)
    assert play_seasons(season, [ALONE] * len(LEVELS), 40, 3).false > 0.3
    assert play_seasons(season, LEVELS, 400, 3).false <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.study
@pytest.mark.parametrize("season", SEASONS_OF, ids=str)
def test_seasons_seldom_have_a_false_claim(season: Season) -> None:
    """As many seasons as in the table, with both seeds."""
    false = [play_seasons(season, LEVELS, SEASONS, seed).false for seed in SEEDS]
    assert sum(false) / len(false) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / SEASONS / len(false))


@pytest.mark.study
def test_a_place_costs_what_the_page_says() -> None:
    """With a lead of elo1 the 1st takes twice, the 20th three times the pairs of one alone."""
    means = []
    for level in (ALONE, Level(1), Level(10), Level(20)):
        elos = np.full(400, ELO1)
        season = Season("gain", (ELO1,), most=MOST)
        tests = play_tests(season, [level] * 400, np.random.default_rng(level.place), elos)
        means.append(tests.counts.sum(1).mean())
    assert [mean / means[0] for mean in means[1:]] == pytest.approx([1.9, 2.6, 3.1], rel=0.15)
