"""Intervals of scores and of newcomers to a league cover the truth in simulated runs."""

from __future__ import annotations

import numpy as np
import pytest

from bench.studies.league import BUDGETS, RULES, arrive
from bench.studies.ratings import PAIRS, SETUPS, Setup, pair_shares, simulate
from tests.tiers import few

NAMES = [setup.name for setup in SETUPS]
FAR_WEAKER = SETUPS[-1]


def test_the_simulated_bots_are_as_strong_as_they_should_be() -> None:
    """An Elo gap of 191 is a mean score of 3/4 (Elo 1978); luck makes sweeps more likely."""
    lost, split, won = pair_shares(190.85)
    assert split / 2 + won == pytest.approx(0.75, abs=1e-4)
    assert lost + split + won == pytest.approx(1)
    assert split > 2 * 0.75 * 0.25  # what is good luck in one game is bad luck in the other


@pytest.mark.parametrize("setup", few(SETUPS), ids=NAMES)
def test_intervals_cover_the_truth(setup: Setup) -> None:
    """In a hundred runs: 90 to 99 % over all pairings; more of the Elo, which hold at once."""
    found = simulate(setup, 50, 100)
    assert found.elo.mean() >= 0.9
    assert 0.9 <= found.score.mean() <= 0.99
    assert found.named <= 0.12


@pytest.mark.slow
def test_the_intervals_of_a_far_weaker_bot_are_not_too_narrow() -> None:
    """It lost nearly all of 20 pairs to each: with a pair of credit for each pairing its Elo was
    covered in half of the runs, and with no least variance its scores in a third.
    """
    found = simulate(FAR_WEAKER, 20, 100)
    assert found.elo[0] >= 0.9
    assert found.score.min() >= 0.85


@pytest.mark.study
@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("setup", SETUPS, ids=NAMES)
def test_intervals_cover_the_truth_in_a_thousand_runs(setup: Setup, pairs: int) -> None:
    """93 to 97 % over all pairings, at least 93 for each bot, and misfits in 7 % at most."""
    found = simulate(setup, pairs, 1000)
    assert found.elo.min() >= 0.93
    assert 0.93 <= found.score.mean() <= 0.97
    assert found.named <= 0.07


@pytest.mark.study
@pytest.mark.parametrize("bots", [12, 50])
def test_intervals_of_newcomers_cover(bots: int) -> None:
    """Of 200 arrivals 95 % are expected; fewer than 90 % have a probability of 0.1 %."""
    arrivals = [arrive(bots, RULES[0], run) for run in range(200)]
    for number in range(len(BUDGETS)):
        assert np.mean([one.covered[number] for one in arrivals]) >= 0.90
    if bots == 50:
        assert np.median([one.half[BUDGETS.index(1500)] for one in arrivals]) <= 15.5
