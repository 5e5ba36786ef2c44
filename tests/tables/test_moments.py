"""Means and shares of pairs, with their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.statistics.intervals import Moments, score_interval


def moments(pairs: list[tuple[int, int]], scale: int = 1) -> Moments:
    """Return the moments of pairs, each with its count and its total."""
    made = Moments(1, 1, scale)
    data = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    made.add(np.zeros(len(data), np.int64), data[:, :1].T, data[:, 1:].T)
    return made


def test_a_mean_counts_pairs_and_not_games() -> None:
    """By hand: (2, 3) and (4, 9): 12 / 6 = 2; they differ by -1 and 1, so 12.706 * sqrt(4) / 6."""
    mean, low, high = (float(part[0, 0]) for part in moments([(2, 3), (4, 9)]).means())
    assert mean == 2
    assert high - 2 == pytest.approx(12.7062047 * math.sqrt(2 * 2 / 1) / 6)
    assert 2 - low == pytest.approx(high - 2)


def test_of_one_pair_a_mean_has_no_interval_and_of_none_there_is_no_mean() -> None:
    """A pair in which nothing was counted is none."""
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


def test_a_share_that_never_varied_is_as_sure_as_independent_games_make_it() -> None:
    """Wilson's bound of none in 100: 1.96^2 / (100 + 1.96^2), whatever the pairs are."""
    for pairs in ([(1, 0)] * 100, [(2, 0)] * 50):
        share, low, high = moments(pairs).shares()
        assert share[0, 0] == 0
        assert low[0, 0] == pytest.approx(0, abs=1e-12)
        assert high[0, 0] == pytest.approx(3.8415 / 103.8415, rel=1e-3)


def test_groups_and_batches_add_up() -> None:
    """The order of pairs and where a batch ends change nothing."""
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


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_intervals_cover_the_truth(alike: float) -> None:
    """In 2,000 runs of 60 pairs, whose games share their luck more or less: 93 to 97 %."""
    rng = np.random.default_rng(3)
    runs, pairs, truth = 2_000, 60, 0.3
    shared = rng.random((runs, pairs)) < alike
    one, other = rng.random((2, runs, pairs)) < truth
    wins = one * 1 + np.where(shared, one, other)
    made, of_points = Moments(runs, 1), Moments(runs, 1)
    luck = rng.normal(2, 3, (runs, pairs))
    total = np.rint(1000 * (2 * luck + rng.normal(0, 2, (runs, pairs)))).astype(np.int64)
    for pair in range(pairs):
        group, two = np.arange(runs), np.full((1, runs), 2)
        made.add(group, two, wins[:, pair][None])
        of_points.add(group, two, total[:, pair][None])
    _, low, high = made.shares()
    assert 0.93 <= ((low <= truth) & (truth <= high)).mean() <= 0.97
    _, low, high = of_points.means()
    assert 0.93 <= ((low <= 2000) & (high >= 2000)).mean() <= 0.97
