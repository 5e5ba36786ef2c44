"""Confidence sequences: capital worked out by hand, and simulation of what they promise."""

from __future__ import annotations

import math

import pytest

from arena.statistics.two_bots import log_capital
from bench.studies import sequences
from bench.studies.sequences import sequence_interval

STAKES = [0.95 * 2 ** (-number / 2) for number in range(19)]


def test_the_capital_is_the_mean_of_nineteen_bets() -> None:
    """A bet of stake s on more than 0.4 grows by 1 + s (share - 0.4) / 0.4 with each pair."""
    grown = [
        (1 - s) ** 2 * (1 + s * (0.5 - 0.4) / 0.4) ** 3 * (1 + s * (1 - 0.4) / 0.4) for s in STAKES
    ]
    capital = math.exp(log_capital((2, 0, 3, 0, 1), 0.4))
    assert capital == pytest.approx(sum(grown) / 19, rel=1e-12)


def test_a_fair_bet_gains_nothing_on_average() -> None:
    """Over the five scores of the next pair the capital stays what it was: a martingale."""
    shares = [0.1, 0.2, 0.3, 0.25, 0.15]
    mean = sum(share * score / 4 for score, share in enumerate(shares))
    before = (3, 1, 4, 1, 5)
    after = 0.0
    for score, share in enumerate(shares):
        counts = [count + (number == score) for number, count in enumerate(before)]
        after += share * math.exp(log_capital(counts, mean))
    assert after == pytest.approx(math.exp(log_capital(before, mean)), rel=1e-12)


def test_the_interval_is_where_the_capital_reaches_two_over_alpha() -> None:
    """On either side; the other side is the opponent's interval."""
    counts = (5, 10, 40, 30, 15)
    low, high = sequence_interval(counts, 0.1)
    assert math.exp(log_capital(counts, low)) == pytest.approx(20, rel=1e-6)
    assert math.exp(log_capital(counts[::-1], 1 - high)) == pytest.approx(20, rel=1e-6)
    assert low < (10 / 4 + 40 / 2 + 30 * 3 / 4 + 15) / 100 < high
    theirs = sequence_interval((15, 30, 40, 10, 5), 0.1)
    assert theirs == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((0, 0, 0, 0, 0), 0.0, 1.0),
        ((0, 0, 0, 0, 10**6), 0.99997, 1.0),
        ((10**6, 0, 0, 0, 0), 0.0, 0.00003),
        ((0, 0, 10**6, 0, 0), 0.49, 0.51),
        ((10**8, 0, 0, 0, 10**8), 0.4995, 0.5005),
    ],
)
def test_odd_counts_have_intervals(
    counts: tuple[int, int, int, int, int], low: float, high: float
) -> None:
    """No pair, all won, all lost, all even, and hundreds of millions of pairs."""
    bounds = sequence_interval(counts)
    assert low <= bounds[0] <= bounds[1] <= high
    assert all(math.isfinite(bound) for bound in bounds)


@pytest.mark.parametrize("shape", sequences.SHAPES.values(), ids=sequences.SHAPES)
def test_the_truth_is_rarely_ever_missed(shape: list[float]) -> None:
    """At most 5 % of runs; 100 runs, in which 12 would be an accident of 1 in 400."""
    assert sequences.ever_missed(shape, runs=100, pairs=300) < 0.12


def test_an_interval_for_one_look_is_missed_far_more_often() -> None:
    """With a threshold of 2 in place of 40 the simulation does see runs that miss."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequences, "ALPHA", 1.0)
        assert sequences.ever_missed(sequences.SHAPES["even bots"], runs=100, pairs=300) > 0.3


@pytest.mark.study
@pytest.mark.parametrize("shape", sequences.SHAPES.values(), ids=sequences.SHAPES)
def test_the_truth_is_ever_missed_in_one_run_of_twenty_at_most(shape: list[float]) -> None:
    """1,000 runs of 5,000 pairs, looked at after each (bench/STUDIES.md)."""
    assert sequences.ever_missed(shape, sequences.RUNS, sequences.PAIRS) <= 0.05
