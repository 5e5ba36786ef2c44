"""The lead of a changed bot by deal: values worked out by hand, and the Elo of many opponents."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.differences.common_deals import PairedGame, make_differences, separate_games
from arena.statistics.intervals import Z95, Estimate, find_significant
from arena.statistics.sequential_test import elo_difference, elo_of, mean_difference, share_of
from arena.statistics.two_bots import compare_ratios, mean_by_deal
from arena.store.column_titles import DIFFERENCES

NONE = Estimate(0.0, -0.1, 0.1)


def twins_of(*rows: tuple[str, int, int, float, float]) -> pd.DataFrame:
    """Return games won and lost by City at seat 0, by points at seat 1; the moves differ."""
    kinds = ("city", "points")
    return pd.DataFrame(
        [
            PairedGame(name, pair, seat, new, old, kinds[seat], kinds[seat], 3)
            for name, pair, seat, new, old in rows
        ]
    )


FOUR = twins_of(
    ("a", 0, 0, 1.0, 0.0),
    ("a", 0, 1, 0.0, 0.0),
    ("a", 1, 0, 1.0, 1.0),
    ("a", 1, 1, 1.0, 0.0),
    ("b", 0, 0, 0.0, 1.0),
    ("b", 0, 1, 0.5, 0.5),
    ("b", 1, 0, 1.0, 1.0),
    ("b", 1, 1, 1.0, 0.0),
)


def test_the_table_has_the_shares_of_both_versions_by_part() -> None:
    table = make_differences(FOUR, NONE)
    assert [*table.columns] == DIFFERENCES.names
    rows = {(row["part"], row["name"]): row for _, row in table.iterrows()}
    assert [*rows] == [
        *(("total", ""), ("opponent", "a"), ("opponent", "b"), ("seat", "0"), ("seat", "1")),
        *((part, kind) for part in ("won_by", "lost_by") for kind in ("city", "points")),
    ]
    shares = {key: tuple(row[["deals", "new", "old"]]) for key, row in rows.items()}
    assert shares["total", ""] == (4, 0.6875, 0.4375)
    assert shares["opponent", "a"] == (2, 0.75, 0.25)
    assert shares["seat", "1"] == (4, 0.625, 0.125)
    assert shares["won_by", "points"] == (4, 0.25, 0.0)
    assert shares["lost_by", "city"] == (4, 0.125, 0.125)
    assert rows["won_by", "city"]["difference"] == 0
    assert math.isnan(rows["won_by", "city"]["elo"])


def test_the_rows_of_a_difference_are_worked_out_by_hand() -> None:
    # Against a the old version scored 1 of 4, with that deal 2 of 6; the new one 4 of 6.
    table = make_differences(FOUR, NONE).set_index("name")
    assert table.loc["a", "elo"] == pytest.approx(elo_of(4 / 6) - elo_of(2 / 6), abs=0.1)
    assert table.loc["b", "elo"] == 0.0
    # Its interval is one for a test that stopped; the difference is that of the two shares.
    row = make_differences(FOUR, Estimate(0.2, 0.1, 0.3)).iloc[0]
    assert tuple(row[["difference", "low", "high"]]) == (0.25, 0.1, 0.3)
    assert row["error"] == pytest.approx((0.25 - 0.1) / Z95, abs=1e-6)
    assert row["elo_low"] < row["elo"] < row["elo_high"]
    # Mean 1/4; with a deal of +-1 the variance is (0.5 + 1)/5 - 0.2^2 = 0.26, over 4 deals.
    half = 1.959964 * math.sqrt(0.26 / 4)
    lead = mean_by_deal([np.array([0.0, 0.5, 0.0, 0.5])])
    assert lead[:3] == pytest.approx((0.25, 0.25 - half, 0.25 + half), abs=1e-6)


SCORES = st.sampled_from([0.0, 0.5, 1.0])


@pytest.mark.slow
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(SCORES, SCORES, SCORES, SCORES), min_size=1, max_size=6))
def test_the_difference_is_new_less_old(
    deals: list[tuple[float, float, float, float]],
) -> None:
    """In every row and its interval; what is significant has no 0 in there."""
    games = [
        ("a", pair, seat, deal[seat], deal[2 + seat])
        for pair, deal in enumerate(deals)
        for seat in (0, 1)
    ]
    table = make_differences(twins_of(*games), Estimate(0.1, -0.9, 1.4))
    assert (table["difference"] == (table["new"] - table["old"]).round(4) + 0.0).all()
    assert ((table["low"] <= table["difference"]) & (table["difference"] <= table["high"])).all()
    assert (table["low"].min(), table["high"].max()) >= (-1.0, 0.0)
    assert table["high"].max() <= 1.0
    rows = table[["difference", "low", "high", "error"]].itertuples(index=False)
    sure = pd.Series(find_significant([Estimate(*row) for row in rows]))
    assert not (sure & (table["low"] <= 0) & (table["high"] >= 0)).any()


@pytest.mark.parametrize("pairs", [1, 40])
def test_all_won_and_all_lost_are_finite(pairs: int) -> None:
    """Both versions have half a pair of so many and one more, in total and at each seat."""
    rows = [("a", pair, seat, 1.0, 0.0) for pair in range(pairs) for seat in (0, 1)]
    table = make_differences(twins_of(*rows), Estimate(1.0, 0.9, 1.0))
    elo = table[["elo", "elo_low", "elo_high"]].iloc[:4]
    assert np.isfinite(elo.to_numpy()).all()
    edge = 0.5 / (pairs + 1)
    assert elo["elo"][1:].tolist() == pytest.approx([-2 * elo_of(edge)] * 3, abs=0.1)
    assert math.isfinite(separate_games(twins_of(*rows)))


def test_a_lead_means_less_against_far_weaker_opponents() -> None:
    """Against one it is the gain on the old share; else the mean of each one's, and back again."""
    assert elo_difference([0.3], 0.1, 10**6) == pytest.approx(elo_of(0.4) - elo_of(0.3), abs=1e-6)
    shares = [0.2, 0.6, 0.99]
    rises = [share_of(elo_of(share) + 25) - share for share in shares]
    assert mean_difference(shares, 25) == pytest.approx(2 * sum(rises) / 3)
    assert elo_difference(shares, sum(rises) / 3, 10**6) == pytest.approx(25, abs=1e-6)


def test_separate_deals_cost_what_the_correlation_saves() -> None:
    """Scores with variance 1/2 each that agree in 9 of 10 deals: their variances over that."""
    rng = np.random.default_rng(3)
    old = rng.integers(0, 2, (4000, 2)).astype(float)
    new = np.where(rng.random((4000, 1)) < 0.9, old, rng.integers(0, 2, (4000, 2)))
    rows = [
        ("a", pair, seat, new[pair, seat], old[pair, seat]) for pair, seat in np.ndindex(4000, 2)
    ]
    scores = new.sum(axis=1), old.sum(axis=1)
    expected = (scores[0].var() + scores[1].var()) / (scores[0] - scores[1]).var()
    assert separate_games(twins_of(*rows)) == pytest.approx(expected, rel=0.01)
    assert expected == pytest.approx(10, rel=0.15)
    unplayed = FOUR.assign(played=FOUR["seat"] == 0)  # one forfeited game in each deal
    assert separate_games(unplayed) == 0.0


def test_equal_pairs_have_an_interval_and_may_be_counted_once() -> None:
    scores = [(pair, seat, float(pair % 3 == 0)) for pair in range(50) for seat in (0, 1)]
    same = twins_of(*(("a", pair, seat, score, score) for pair, seat, score in scores))
    table = make_differences(same, NONE)
    assert table.iloc[1][["difference", "elo"]].tolist() == [0.0, 0.0]
    assert table["low"].max() < 0 < table["high"].min()
    assert np.isfinite(table[["new", "old", "difference", "low", "high"]].to_numpy()).all()
    assert separate_games(same) > 10
    base = np.array([[[1, 2], [0, 1], [0, 0], [2, 2]]])
    other = np.array([[[0, 0], [1, 2], [0, 2], [0, 1]]])
    times = np.array([400, 30, 71, 250])
    every = base.repeat(times, axis=1), other.repeat(times, axis=1)
    once = np.ones(times.sum(), np.int64)
    assert compare_ratios(base, other, 2, times) == compare_ratios(*every, 2, once)
