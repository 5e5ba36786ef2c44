"""Bots told apart: by confidence sequences of their own pairs, or by the fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import pytest

from arena.statistics.counts import ScoreCounts
from arena.statistics.intervals import Z95
from arena.statistics.letters import give_letters
from arena.statistics.ratings import ELO, Fit, PairScores
from arena.statistics.two_bots import ALPHA, boundary, log_capital, pair_scores
from arena.statistics.verdicts import Verdicts
from bench.studies import sequences
from bench.studies.apart import PRICED, WIDTH, play_runs
from bench.studies.sequences import sequence_interval
from bench.studies.truths import CASES
from tests import ROOT
from tests.tiers import few

EVEN: ScoreCounts = (10, 20, 40, 20, 10)
AHEAD: ScoreCounts = (10, 40, 150, 150, 150)


def evidence(
    bots: int, met: Mapping[tuple[int, int], ScoreCounts], *, even: bool = False
) -> Verdicts:
    """Return what these pairs say where one looks again and again."""
    scores = [pair_scores(*two, by) for two, by in met.items()]
    return Verdicts(Fit(bots, scores, even=even), met, looks=True)


def test_the_price_is_as_the_page_says() -> None:
    """docs/results.md has the errors from which two bots are apart, at an error of 20 Elo."""
    text = (ROOT / "docs" / "results.md").read_text()
    information = (ELO / 20) ** 2

    def errors(level: float) -> str:
        return f"{math.sqrt(boundary(information, level)):.1f}"

    assert f"| 2 | {Z95:.2f} | {errors(ALPHA / 2)} |" in text
    for bots in (4, 12):
        scores = [PairScores(*two, 500, 500.0, 750.0) for two in combinations(range(bots), 2)]
        fixed = f"{Verdicts(Fit(bots, scores), {})._bounds[0]:.1f}"
        split, every = errors(2 * ALPHA / (bots - 1)), errors(ALPHA / math.comb(bots, 2))
        row = f"| {bots} | {fixed} | {split} where a gap splits the field there, else {every} |"
        assert row in text


def test_scores_add_up() -> None:
    """1, 2, 3, 4 and 5 pairs: 0.5 x 2 + 1 x 3 + 1.5 x 4 + 2 x 5 = 20; squares 0.25 x 2 + ..."""
    assert pair_scores(4, 7, (1, 2, 3, 4, 5)) == (4, 7, 15, 20.0, 0.5 + 3 + 9 + 20)


def test_the_boundary_is_where_the_mixture_reaches_one_over_alpha() -> None:
    """By numerical integration of the likelihood ratio over a normal prior of 0.2."""
    information, alpha = 250.0, 0.01
    score = math.sqrt(boundary(information, alpha) * information)
    step = 1e-4
    mixed = 0.0
    for number in range(-20_000, 20_001):
        strength = number * step
        ratio = math.exp(strength * score - strength**2 * information / 2)
        density = math.exp(-((strength / 0.2) ** 2) / 2) / (0.2 * math.sqrt(2 * math.pi))
        mixed += ratio * density * step
    assert mixed == pytest.approx(1 / alpha, rel=1e-6)


def test_a_clear_lead_tells_two_bots_apart_in_one_direction() -> None:
    """The stronger one is above; an even score tells nothing."""
    told = evidence(2, {(0, 1): AHEAD})
    assert told.apart[0, 1]
    assert not told.apart[1, 0]
    assert not evidence(2, {(0, 1): EVEN}).apart[0, 1]
    turned = evidence(2, {(1, 0): AHEAD[::-1]})
    assert turned.apart[0, 1]
    assert not turned.apart[1, 0]


def test_two_bots_that_never_met_are_told_apart_by_others() -> None:
    """Both met a third one, often, and one did far better."""
    better: ScoreCounts = (0, 50, 150, 400, 400)
    told = evidence(3, {(0, 2): better, (1, 2): better[::-1]})
    assert told.apart[0, 1]
    assert not told.apart[1, 0]


def test_their_own_pairs_alone_tell_only_two_bots_apart() -> None:
    """A cycle of three bots that beat each other: in a round robin they are equal."""
    told = evidence(3, {(0, 1): AHEAD, (1, 2): AHEAD, (0, 2): AHEAD[::-1]})
    assert max(abs(told.fit.strengths)) < 1e-9
    assert not told.apart.any()


def test_many_pairs_of_two_bots_do_not_outweigh_the_others() -> None:
    """0 beats 1 in 500 pairs and loses more to 2 than 1 does: an equal round robin has 1 above."""
    lost: ScoreCounts = (60, 20, 10, 6, 4)
    met: dict[tuple[int, int], ScoreCounts] = {
        (0, 1): (50, 90, 180, 100, 80),
        (0, 2): lost,
        (1, 2): lost[::-1],
    }
    scores = [pair_scores(*two, by) for two, by in met.items()]
    for times in (1, 1000):  # of the pairs that 0 and 1 have
        met[0, 1] = tuple(times * count for count in (50, 90, 180, 100, 80))
        scores = [pair_scores(*two, by) for two, by in met.items()]
        told = evidence(3, met, even=True)
        assert told.apart[1, 0]
        assert not told.apart[0, 1]
    assert Fit(3, scores).strengths[0] > Fit(3, scores).strengths[1]  # by all pairs alike


def test_what_was_not_played_is_a_part_of_the_error() -> None:
    """0 and 1 met others, and not the same ones: pairs without end do not tell them apart."""
    ahead: ScoreCounts = (0, 0, 4_000_000, 1_000_000, 0)
    even: ScoreCounts = (0, 0, 5_000_000, 0, 0)
    told = evidence(4, {(0, 2): ahead, (1, 3): even, (2, 3): even})
    assert told.fit.gap_errors[0, 1] < 0.01 < 0.1 < told.fit.full_errors[0, 1]
    assert not told.apart[0, 1]
    assert math.isinf(told.times(0, 1, float(told.leads[0, 1])))


def test_the_level_is_corrected_for_all_tests() -> None:
    """6 bots have 15 leads, 5 of them of neighbours; two have two tests, of which one suffices."""
    met = {(one, two): EVEN for one in range(6) for two in range(one)}
    assert evidence(6, met)._level == pytest.approx(0.05 / 15)
    assert evidence(6, met)._level_of_neighbours == pytest.approx(2 * 0.05 / 5)
    found = []
    for won in range(100, 260, 5):
        counts: ScoreCounts = (100, 0, 0, 0, won)
        told = evidence(2, {(0, 1): counts})
        assert told._level == pytest.approx(0.05 / 2)
        found.append(bool(told.apart[0, 1]))
        assert found[-1] >= (sequence_interval(counts, told._level)[0] > 0.5)
    assert {*found} == {False, True}


@pytest.mark.slow
def test_a_gap_between_neighbours_splits_the_field_at_a_lower_bound() -> None:
    """Of three bots 1 and 2 are level, and 0 is ahead of both by less than all leads would need."""
    for won in range(40):
        ahead: ScoreCounts = (10, 20, 40, 20 + won, 10)
        told = evidence(3, {(0, 1): ahead, (0, 2): ahead, (1, 2): EVEN})
        if told.apart[0, 1]:
            break
    assert told._roots[0, 1] < told.bounds_at_any_time(told._level)[0, 1]
    assert told.apart.tolist() == [[False, True, True], 3 * [False], 3 * [False]]


def test_groups_that_never_met_are_not_told_apart() -> None:
    """Nothing leads from 0 and 1 to 2 and 3."""
    told = evidence(4, {(0, 1): AHEAD, (2, 3): AHEAD})
    assert told.of(0, 2) is None
    assert told.forecast(0, 2) is None
    groups = [{*group} for group in give_letters(4, lambda *two: bool(told.apart[two]))]
    assert not groups[0] & groups[1]
    assert not groups[2] & groups[3]
    assert all(groups[one] & groups[two] for one in (0, 1) for two in (2, 3))


def test_the_estimate_of_further_pairs_is_about_right() -> None:
    """With so many times the same pairs again they are told apart, and not with far fewer."""
    few: ScoreCounts = (9, 20, 40, 24, 14)
    seen = evidence(2, {(0, 1): few})
    times = seen.times(0, 1, float(seen.leads[0, 1]))

    def told(part: float) -> bool:
        first, second, third, fourth, fifth = (round(times * part * count) for count in few)
        return bool(evidence(2, {(0, 1): (first, second, third, fourth, fifth)}).apart[0, 1])

    assert told(1.1)
    assert not told(0.8)
    assert math.isinf(seen.times(0, 1, 0.0))


@pytest.mark.parametrize("pairs", [0, 1, 10**6])
def test_one_bot_and_lopsided_pairs_are_no_trouble(pairs: int) -> None:
    """All won is told apart if there are enough pairs."""
    assert evidence(1, {}).apart.tolist() == [[False]]
    told = evidence(2, {(0, 1): (0, 0, 0, 0, pairs)} if pairs else {})
    assert told.apart[0, 1] == (pairs > 1)
    assert not told.apart[1, 0]


@pytest.mark.parametrize("name", few(["2 equal", "gauntlet, equal"], 0, 1))
def test_equal_bots_are_rarely_ever_told_apart(name: str) -> None:
    """In at most 5 % of runs; 30 short runs, in which 5 would be an accident of 1 in 60."""
    assert play_runs(name, "resolved", 30, most=60, workers=1).wrong < 0.15


@pytest.mark.study
@pytest.mark.parametrize("name", CASES)
def test_runs_that_stop_are_wrong_in_one_run_of_twenty_at_most(name: str) -> None:
    """200 runs each, and two errors of that share (bench/STUDIES.md has 100)."""
    assert play_runs(name, "resolved", 200).wrong <= 0.08
    assert play_runs(name, WIDTH, 200).missed <= 0.08


@pytest.mark.study
@pytest.mark.parametrize("name", PRICED)
def test_a_run_that_stops_costs_little_more_than_an_oracle_needs(name: str) -> None:
    """What it costs not to know how the scores of pairs vary."""
    _, most = PRICED[name]
    own, best = (
        play_runs(name, "resolved", 100, most=most, oracle=oracle) for oracle in (False, True)
    )
    assert own.pairs <= 1.3 * best.pairs


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


@pytest.mark.study
@pytest.mark.parametrize("shape", sequences.SHAPES.values(), ids=sequences.SHAPES)
def test_the_truth_is_ever_missed_in_one_run_of_twenty_at_most(shape: list[float]) -> None:
    """1,000 runs of 5,000 pairs, looked at after each (bench/STUDIES.md)."""
    assert sequences.ever_missed(shape, sequences.RUNS, sequences.PAIRS) <= 0.05
