"""Pairs are shared out to the pairings that were played; each case is worked out by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from arena.tables.win_tables import share_out


@pytest.mark.parametrize(
    ("pairs", "limit", "wanted"),
    [
        ([4, 4, 4], 12, [4, 4, 4]),
        ([4, 4, 4], 11, [3, 3, 3]),
        ([4, 4, 4], 3, [1, 1, 1]),
        ([1, 10, 3, 6], 20, [1, 10, 3, 6]),
        ([1, 10, 3, 6], 19, [1, 9, 3, 6]),
        ([1, 10, 3, 6], 16, [1, 6, 3, 6]),
        ([1, 10, 3, 6], 15, [1, 5, 3, 5]),
        ([1, 10, 3, 6], 9, [1, 2, 2, 2]),
        ([0, 0, 50, 0, 0, 0, 50], 60, [0, 0, 30, 0, 0, 0, 30]),
        ([0, 0, 1_000_000_000], 7, [0, 0, 7]),
        ([5, 5, 5, 5, 5, 5], 3, [1, 0, 1, 0, 1, 0]),
        ([5, 0, 5, 5, 0, 5, 5], 4, [1, 0, 1, 1, 0, 1, 0]),
        ([5, 5, 5, 5], 1, [1, 0, 0, 0]),
        ([0, 0, 0], 9, [0, 0, 0]),
        ([], 9, []),
    ],
)
def test_pairs_are_shared_out(pairs: list[int], limit: int, wanted: list[int]) -> None:
    """Equal and unequal lengths, unplayed pairings, more pairings than the limit, no pair."""
    assert share_out(np.array(pairs, np.int64), limit).tolist() == wanted


def test_the_level_is_the_highest_one() -> None:
    """As trying each level says."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        pairs = rng.integers(0, 12, rng.integers(1, 9))
        limit = int(rng.integers(len(pairs), 70))
        level = max(most for most in range(12) if np.minimum(pairs, most).sum() <= limit)
        assert share_out(pairs, limit).tolist() == np.minimum(pairs, level).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "limit"), [(500, 25_000), (700, 100_000), (1000, 25_000)])
def test_no_bot_of_many_is_left_out(bots: int, limit: int) -> None:
    """Every k-th pairing would leave out two, one and six of these bots."""
    pairings = np.array([*combinations(range(bots), 2)])
    quota = share_out(np.full(len(pairings), 3), limit)
    assert quota.sum() == limit
    times = np.bincount(pairings[quota > 0].ravel(), minlength=bots)
    assert times.min() > limit / bots / 2
