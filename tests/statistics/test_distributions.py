"""Distributions, roots and groups, against scipy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy

from arena.statistics.cycles import find_cyclic, shortest_cycle
from arena.statistics.distributions import expit, find_root, logit, normal_below, student_bound
from arena.statistics.model import find_groups


def test_log_odds_and_chances_are_those_of_scipy() -> None:
    """Also where a chance is too small for a float, without a warning."""
    odds = np.concatenate([np.linspace(-40, 40, 1001), [-1e9, -800, 800, 1e9]])
    assert expit(odds) == pytest.approx(scipy.special.expit(odds), rel=1e-14, abs=1e-300)
    chances = np.linspace(0.001, 0.999, 999)
    assert logit(chances) == pytest.approx(scipy.special.logit(chances), rel=1e-12, abs=1e-14)
    assert expit(logit(chances)) == pytest.approx(chances)
    assert np.isnan(expit(math.nan))


def test_the_normal_distribution_is_that_of_scipy() -> None:
    """In both tails, for any shape, and for what is no number."""
    values = np.linspace(-37, 37, 1002).reshape(2, 3, 167)
    assert normal_below(values) == pytest.approx(scipy.special.ndtr(values), rel=1e-12)
    assert normal_below(-math.inf) == 0
    assert normal_below(math.inf) == 1
    assert np.isnan(normal_below(math.nan))
    assert normal_below([]).shape == (0,)


def test_the_bound_of_student_is_that_of_scipy() -> None:
    """From two pairs to ten million, whatever repeats, and in any shape."""
    freedom = np.array([[1, 2, 3, 4, 5], [9, 30, 30, 101, 1], [1000, 12345, 10**5, 10**6, 10**7]])
    assert student_bound(freedom) == pytest.approx(scipy.special.stdtrit(freedom, 0.975), rel=2e-8)
    few = np.arange(1, 500)
    assert student_bound(few) == pytest.approx(scipy.special.stdtrit(few, 0.975), rel=1e-11)
    assert student_bound(few, 0.9) == pytest.approx(scipy.special.stdtrit(few, 0.9), rel=1e-11)
    assert student_bound(7).shape == ()


FUNCTIONS: dict[str, tuple[Callable[[float], float], float, float]] = {
    "parabola": (lambda x: x**2 - 2, 0.0, 2.0),
    "steep": (lambda x: math.tanh(50 * (x - 0.3)), -30.0, 30.0),
    "flat": (lambda x: (x - 0.3) ** 3, -3.0, 9.0),
    "falling": (lambda x: 1000 - 1 / x, 1e-9, 1.0),
    "logarithm": (lambda x: math.log(x) + 10, 1e-9, 1 - 1e-9),
    "jump": (lambda x: 1.0 if x > 0.7 else -1.0, 0.0, 1.0),
    "at the lower end": (lambda x: x, 0.0, 1.0),
    "at the upper end": (lambda x: x - 1, 0.0, 1.0),
}


@pytest.mark.parametrize(("function", "low", "high"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_root_is_that_of_scipy(
    function: Callable[[float], float], low: float, high: float
) -> None:
    """And it is found in few more calls."""
    calls = 0

    def counted(place: float) -> float:
        nonlocal calls
        calls += 1
        return function(place)

    expected, report = scipy.optimize.brentq(
        function, low, high, xtol=1e-10, maxiter=999, full_output=True
    )
    assert find_root(counted, low, high, 1e-10) == pytest.approx(expected, abs=3e-10)
    assert calls <= report.function_calls + 5


def test_groups_and_cycles_are_those_of_scipy() -> None:
    """Of random games, few and many; groups are numbered in the order of their first bots."""
    rng = np.random.default_rng(5)
    for bots, games in ((1, 0), (5, 2), (30, 20), (40, 60), (200, 190)):
        first, second = rng.integers(bots, size=(2, games))
        graph = np.zeros((bots, bots), dtype=bool)
        graph[first, second] = first != second
        groups = find_groups(bots, first, second)
        same = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        assert np.array_equal(groups[:, None] == groups, same[:, None] == same)
        firsts = [groups.tolist().index(group) for group in range(groups.max() + 1)]
        assert firsts == sorted(firsts)

        parts = scipy.sparse.csgraph.connected_components(graph, connection="strong")[1]
        cyclic = np.bincount(parts)[parts] > 1
        assert np.array_equal(find_cyclic(graph), cyclic)
        for bot in np.flatnonzero(cyclic).tolist():
            cycle = shortest_cycle(graph, bot)
            assert cycle[0] == bot
            assert all(graph[a, b] for a, b in zip(cycle, [*cycle[1:], bot], strict=True))
