"""Distributions against scipy, means and shares with their intervals, and how they are written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from math import inf, nan
from unittest.mock import Mock

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from arena.lanes.faults import Fault
from arena.statistics.bradley_terry import find_groups
from arena.statistics.cycles import find_cyclic, shortest_cycle
from arena.statistics.distributions import (
    expit,
    find_root,
    limit,
    normal_below,
    student_bound,
)
from arena.statistics.intervals import Estimate, Moments, score_interval
from arena.statistics.number_texts import write_chance, write_estimate, write_lead
from arena.store.store import Store
from arena.tables.findings import seat_advantage
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played


def game(pair: int, seat: int, winner: int | None, fault: Fault | None = None) -> GameResult:
    win_type = "forfeit" if fault else "draw" if winner is None else "points"
    return GameResult(pair, seat, winner, win_type, 1, 0, 10, fault, "")


def test_the_scores_of_seat_0_are_counted_by_pairs_without_a_forfeit() -> None:
    games = [
        *(game(0, 0, 0), game(0, 1, 1)),  # seat 0 wins both
        *(game(1, 0, 0), game(1, 1, 0)),  # the first bot wins both: one each
        *(game(2, 0, None), game(2, 1, 1)),  # a draw, and a win of seat 0
        *(game(3, 0, 1), game(3, 1, None)),  # a loss of seat 0, and a draw
        *(game(4, 0, 0, Fault("illegal", "no")), game(4, 1, 1)),  # not both were played
    ]
    store = Store(None)
    store.add(Played(Chunk(0, 0, 5), games, {}, 0.0))
    assert store.count().seats == (4, 2 + 1 + 1.5 + 0.5, 4 + 1 + 2.25 + 0.25)


def test_the_advantage_of_a_seat_is_a_share_and_elo_points_with_the_pair_as_the_unit() -> None:
    found = seat_advantage(40, 50.0, 75.0)
    low, high = score_interval(40, 50.0, 75.0)
    assert found[:4] == (40, 0.625, round(low, 4), round(high, 4))
    elos = [400 * math.log10(share / (1 - share)) for share in (0.625, low, high)]
    assert [found.elo, found.elo_low, found.elo_high] == pytest.approx(elos, abs=0.05)
    assert seat_advantage(0, 0.0, 0.0) is None
    won = seat_advantage(3, 6.0, 12.0)  # all of them, which no Elo explains
    assert (won.share, won.high, won.elo, won.elo_high) == (1.0, 1.0, None, None)
    assert won.elo_low < 150


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Estimate(77.3, 61.2, 93.4), "+77 Elo (61..93)"),
        (Estimate(-0.2, -9.0, 8.6), "+0 Elo (-9..9)"),
        (Estimate(nan, 210.3, inf), "at least 210 Elo (95 %)"),
        (Estimate(-inf, -inf, -210.3), "at most -210 Elo (95 %)"),
        (Estimate(5.0, 3.2, nan), "at least 3 Elo (95 %)"),
        (Estimate(), "unknown Elo"),
    ],
)
def test_an_estimate_is_written_with_what_is_known_of_it(found: Estimate, text: str) -> None:
    assert write_estimate(found, "+.0f", " Elo") == text


@given(st.floats(0, 1))
def test_no_probability_is_certain(chance: float) -> None:
    said = write_chance(chance)
    found = float(re.sub(r"[^0-9.]", "", said))
    assert 0 < found < 100
    if said[0].isdigit():
        assert math.isclose(found, 100 * chance, abs_tol=0.0501)


@given(st.floats(1e-9, 50), st.floats(1e-9, 50))
def test_a_lead_that_is_surely_above_0_is_not_written_as_0(low: float, more: float) -> None:
    ends = write_lead(Estimate(low + more / 2, low, low + more)).partition("(")[2]
    assert (float(ends.partition("..")[0]) > 0) == (round(low, 2) > 0)


def test_distributions_are_those_of_scipy() -> None:
    odds = np.concatenate([np.linspace(-40, 40, 1001), [-1e9, -800, 800, 1e9]])
    assert expit(odds) == pytest.approx(scipy.special.expit(odds), rel=1e-14, abs=1e-300)
    chances = np.linspace(0.001, 0.999, 999)
    assert expit(scipy.special.logit(chances)) == pytest.approx(chances)
    assert np.isnan(expit(math.nan))
    values = np.linspace(-37, 37, 1002).reshape(2, 3, 167)
    assert normal_below(values) == pytest.approx(scipy.special.ndtr(values), rel=1e-12)
    assert normal_below(-math.inf) == 0
    assert normal_below(math.inf) == 1
    assert np.isnan(normal_below(math.nan))
    assert normal_below([]).shape == (0,)
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
def test_a_root_is_scipys(function: Callable[[float], float], low: float, high: float) -> None:
    expected, report = scipy.optimize.brentq(
        function, low, high, xtol=1e-10, maxiter=999, full_output=True
    )
    counted = Mock(side_effect=function)
    assert find_root(counted, low, high, 1e-10) == pytest.approx(expected, abs=3e-10)
    assert counted.call_count <= report.function_calls + 5


def test_groups_and_cycles_are_those_of_scipy() -> None:
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


def moments(pairs: list[tuple[int, int]], scale: int = 1) -> Moments:
    made = Moments(1, 1, scale)
    data = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    made.add(np.zeros(len(data), np.int64), data[:, :1].T, data[:, 1:].T)
    return made


def test_a_mean_counts_pairs_and_has_no_interval_of_one_and_no_value_of_none() -> None:
    """By hand: (2, 3) and (4, 9): 12 / 6 = 2; they differ by -1 and 1, so 12.706 * sqrt(4) / 6."""
    mean, low, high = (float(part[0, 0]) for part in moments([(2, 3), (4, 9)]).means())
    assert mean == 2
    assert high - 2 == pytest.approx(12.7062047 * math.sqrt(2 * 2 / 1) / 6)
    assert 2 - low == pytest.approx(high - 2)
    one = moments([(2, 3), (0, 0)]).means()
    assert one.value[0, 0] == 1.5
    assert np.isnan([one.low[0, 0], one.high[0, 0]]).all()
    assert np.isnan([*moments([]).means(), *moments([]).shares()][0]).all()
    assert np.isnan(moments([(0, 0)]).shares().value).all()


@pytest.mark.parametrize("scores", [[0, 4, 4, 3, 1, 2, 2, 4, 4, 3], [4, 1], [2, 2, 2, 2], [3]])
def test_a_share_has_the_interval_of_a_score(scores: list[int]) -> None:
    """For pairs of two games it is that of `score_interval`; scores are in halves of a win."""
    share, low, high = moments([(2, score) for score in scores], scale=2).shares()
    total, squares = sum(scores) / 2, sum(score**2 for score in scores) / 4
    assert share[0, 0] == pytest.approx(total / 2 / len(scores))
    assert (low[0, 0], high[0, 0]) == pytest.approx(score_interval(len(scores), total, squares))


@pytest.mark.parametrize("pairs", [[(1, 0)] * 100, [(2, 0)] * 50])
def test_a_share_that_never_varied_is_of_independent_games(
    pairs: list[tuple[int, int]],
) -> None:
    """Wilson's bound of none in 100: 1.96^2 / (100 + 1.96^2), whatever the pairs are."""
    share, low, high = (float(part[0, 0]) for part in moments(pairs).shares())
    assert (share, low) == pytest.approx((0, 0), abs=1e-12)
    assert high == pytest.approx(3.8415 / 103.8415, rel=1e-3)


def test_neither_the_order_of_pairs_nor_the_end_of_a_batch_changes_moments() -> None:
    rng = np.random.default_rng(1)
    group, count = rng.integers(0, 3, 50), rng.integers(0, 3, (50, 2))
    total = rng.integers(-5, 9, (50, 2)) * (count > 0)
    whole, parts = Moments(3, 2), Moments(3, 2)
    whole.add(group, count.T, total.T)
    order = rng.permutation(50)
    for some in (order[:7], order[7:7], order[7:]):
        parts.add(group[some], count[some].T, total[some].T)
    assert (whole.sums == parts.sums).all()
    assert whole.totals[1].tolist() == total[group == 1].sum(axis=0).tolist()


def test_shares_above_their_limits_are_given_to_the_others() -> None:
    """As many as fit; limits that are less than a whole together are all reached."""
    rng = np.random.default_rng(3)
    for number in range(200):
        shares = rng.dirichlet(np.full(5, 0.3))
        most = rng.random(5) * (0.2, 0.5, 1.0)[number % 3]
        found, whole = limit(shares, most), min(1.0, most.sum())
        assert found.sum() == pytest.approx(1)
        assert (found <= most / whole + 1e-9).all()
        free = (found < most - 1e-6) & (shares > 1e-6)
        grown = found[free] / shares[free]
        assert grown == pytest.approx(grown[:1].repeat(len(grown)), rel=1e-4)
        assert (grown >= 1 - 1e-6).all()
