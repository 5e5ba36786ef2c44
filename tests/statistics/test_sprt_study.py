"""The sequential test in simulation: how often it is wrong, and what its interval covers.

`bench/STUDIES.md` has the table of which these are rows.
"""

from __future__ import annotations

import math

import pytest

from arena.statistics.sprt import DIFFERENCES, elo_of, log_likelihood_ratio, share_of
from bench.studies.sprt import (
    DIFFERENCE_SETUPS,
    FAR,
    NEAR,
    SETUPS,
    Coverage,
    Setup,
    coverage,
    difference_coverage,
    mean_pairs,
    play_differences,
    play_tests,
    share_better,
    share_not_better,
)

RATE = 0.05


def noise(share: float, runs: int) -> float:
    """Return three standard errors of a share."""
    return 3 * math.sqrt(share * (1 - share) / runs)


def check_errors(setup: Setup, better: float, not_better: float, runs: int) -> None:
    """See that the wrong verdict is as rare as was asked for, where there is one."""
    most = RATE + noise(RATE, runs)
    if setup.elo <= 0:
        assert better <= most
    if setup.elo >= setup.elo1:
        assert not_better <= most


def check_coverage(covered: Coverage, setup: Setup, runs: int) -> None:
    """See that the interval has the truth in 93 to 97 %, and the estimate is not to one side.

    A large lead needs few pairs, and the one that is added pulls its estimate towards nothing.
    """
    assert 0.93 - noise(RATE, runs) / 2 <= covered.covered <= 0.97 + noise(RATE, runs) / 2
    assert setup.elo > 60 or abs(covered.above - 0.5) <= 0.05 + noise(0.5, runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setup",
    [Setup(FAR, 0.0, 60.0), pytest.param(Setup(NEAR, 60.0, 60.0), marks=pytest.mark.slow)],
    ids=str,
)
def test_few_tests_are_seldom_wrong_and_covered(setup: Setup) -> None:
    """The fast form: 120 runs with 60 Elo points."""
    tests = play_tests(setup, runs=120)
    check_errors(setup, share_better(tests), share_not_better(tests), 120)
    check_coverage(coverage(tests, setup), setup, 120)
    assert 60 < mean_pairs(tests) < 200


def test_differences_are_judged_as_a_comparison_is() -> None:
    """Few runs: the ratio is that of the counts, worked out here, and no test goes on past it."""
    setup = Setup(FAR, 60.0, 60.0)
    tests = play_differences(setup, runs=20)
    for test in tests:
        means = [
            2 * sum(share_of(elo_of(share) + elo) - share for share in test.old_shares) / 3
            for elo in (0.0, setup.elo1)
        ]
        assert test.ratio == pytest.approx(log_likelihood_ratio(test.counts, DIFFERENCES, *means))
        assert not -2.94 < test.ratio < 2.94
        assert test.pairs % 48 == 0
    assert share_better(tests) > 0.7
    assert abs(sum(share for test in tests for share in test.old_shares) / 60 - 0.533) < 0.03
    short = play_differences(setup._replace(most=20), runs=4)
    assert {test.pairs for test in short} <= {48, 60}


@pytest.mark.study
@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_verdicts_are_wrong_as_rarely_as_asked_for(setup: Setup) -> None:
    """1,000 runs a row, as in the table."""
    tests = play_tests(setup)
    check_errors(setup, share_better(tests), share_not_better(tests), len(tests))
    check_coverage(coverage(tests, setup), setup, len(tests))


@pytest.mark.study
@pytest.mark.parametrize("setup", DIFFERENCE_SETUPS, ids=str)
def test_differences_by_deal_are_judged_as_well(setup: Setup) -> None:
    """Two versions against three opponents of different strength."""
    tests = play_differences(setup)
    check_errors(setup, share_better(tests), share_not_better(tests), len(tests))
    check_coverage(difference_coverage(tests, setup), setup, len(tests))
