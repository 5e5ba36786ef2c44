"""A newcomer's interval in a league covers its Elo against all, at every number of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from bench.studies.league import BUDGETS, ONLY, RULES, arrive


@pytest.mark.study
@pytest.mark.parametrize("bots", [12, 50])
def test_intervals_of_newcomers_cover(bots: int) -> None:
    """Of 200 arrivals 95 % are expected; fewer than 90 % have a probability of 0.1 %."""
    arrivals = [arrive(bots, "greatest drop", run) for run in range(200)]
    for number in range(len(BUDGETS)):
        assert np.mean([one.covered[number] for one in arrivals]) >= 0.90
    if bots == 50:
        assert np.median([one.half[BUDGETS.index(1500)] for one in arrivals]) <= 15.5


@pytest.mark.study
@pytest.mark.parametrize(("bots", "rule", "copies"), [(12, RULES[0], 6), (50, ONLY, 6)])
def test_so_they_do_where_the_panel_are_near_copies(bots: int, rule: str, copies: int) -> None:
    """Of 200 arrivals; those that met the panel alone were covered in 60 to 75 % before."""
    arrivals = [arrive(bots, rule, run, copies) for run in range(200)]
    for number in range(len(BUDGETS)):
        assert np.mean([one.covered[number] for one in arrivals]) >= 0.87


@pytest.mark.slow
def test_an_interval_narrows_with_the_pairs() -> None:
    """In one arrival; and one that is uniform is wider than one that chooses."""
    chosen, uniform = (arrive(50, rule, 0) for rule in ("greatest drop", "uniform"))
    assert chosen.half == sorted(chosen.half, reverse=True)
    assert chosen.half[3] < uniform.half[3]
