"""Which bot is the stronger one: what is said is right as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from arena.statistics.field import find_superiority
from arena.statistics.ratings import Fit, PairScores
from bench.studies.superiority import BOLD, CASES, RUNS, Case, Claims, play


def excess(claims: Claims, least: float = 0.5) -> float:
    """Return by how much more is said than is right, of the claims that say so much."""
    chosen = claims.said >= least
    return float(claims.said[chosen].mean() - claims.right[chosen].mean()) if chosen.any() else 0.0


def test_of_close_bots_with_few_pairs_no_more_is_said_than_is_right() -> None:
    """With a flat prior bold claims were wrong three times too often; 60 round robins of six."""
    flat, now = play(Case(6, 20.0, 5), 60)
    assert excess(flat, BOLD) > 0.06
    assert excess(flat) > 0.06
    assert excess(now) < 0.04
    assert abs(float(flat.right.mean() - now.right.mean())) < 0.03


def test_of_bots_far_apart_with_many_pairs_all_is_said() -> None:
    """As with a flat prior."""
    flat, now = play(Case(6, 150.0, 100), 20)
    assert float(now.said.mean()) == pytest.approx(float(flat.said.mean()), abs=0.005)


def test_a_bot_is_compared_with_those_of_its_group() -> None:
    """The two sides add up to 1; nothing is said of a bot and itself, or of two groups."""
    scores = [PairScores(0, 1, 9, 12.0, 20.0), PairScores(2, 3, 9, 9.0, 14.0)]
    likely = find_superiority(Fit(5, scores))
    assert likely[0, 1] + likely[1, 0] == pytest.approx(1)
    assert likely[2, 3] == pytest.approx(0.5)
    assert int(np.isnan(likely).sum()) == 25 - 4


@pytest.mark.study
@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_more_is_said_than_is_right(case: Case) -> None:
    """400 round robins each (bench/STUDIES.md)."""
    _, now = play(case, RUNS)
    assert excess(now) < 0.05
