"""Bots told apart where one looks again and again, and the letters that say so."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.statistics.counts import ScoreCounts
from arena.statistics.letters import give_letters, name_letter, split_letters
from arena.statistics.two_bots import boundary, log_capital
from bench.studies import sequences
from bench.studies.apart import play_runs
from bench.studies.sequences import sequence_interval
from tests.statistics.test_verdicts import AHEAD, EVEN, Met, judge
from tests.tiers import few

evidence = partial(judge, looks=True)


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


@pytest.mark.parametrize(
    ("bots", "met"),
    [
        (2, {(0, 1): AHEAD}),
        (2, {(1, 0): AHEAD[::-1]}),
        # both met a third one, often, and one did far better
        (3, {(0, 2): (0, 50, 150, 400, 400), (1, 2): (400, 400, 150, 50, 0)}),
    ],
)
def test_a_clear_lead_tells_two_bots_apart_in_one_direction(bots: int, met: Met) -> None:
    told = evidence(bots, met)
    assert told.apart[0, 1]
    assert not told.apart[1, 0]


def test_a_cycle_of_three_and_an_even_score_tell_nobody_apart() -> None:
    """A cycle of three bots that beat each other: in a round robin they are equal."""
    told = evidence(3, {(0, 1): AHEAD, (1, 2): AHEAD, (0, 2): AHEAD[::-1]})
    assert max(abs(told.fit.strengths)) < 1e-9
    assert not told.apart.any()
    assert not evidence(2, {(0, 1): EVEN}).apart.any()


def test_many_pairs_of_two_bots_do_not_outweigh_the_others() -> None:
    """0 beats 1 in 500 pairs and loses more to 2 than 1 does: an equal round robin has 1 above."""
    lost: ScoreCounts = (60, 20, 10, 6, 4)
    for times in (1, 1000):  # of the pairs that 0 and 1 have
        own = tuple(times * count for count in (50, 90, 180, 100, 80))
        met = {(0, 1): own, (0, 2): lost, (1, 2): lost[::-1]}
        told = evidence(3, met, even=True)
        assert told.apart[1, 0]
        assert not told.apart[0, 1]
    plain = evidence(3, met).fit.strengths
    assert plain[0] > plain[1]  # by all pairs alike


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


def test_groups_that_never_met_are_not_told_apart_and_share_no_letter() -> None:
    told = evidence(4, {(0, 1): AHEAD, (2, 3): AHEAD})
    assert told.on(0, [2]) == [None]
    first, second, *others = ({*one} for one in give_letters(4, lambda *two: told.apart[two]))
    assert not first & second
    assert not others[0] & others[1]
    assert all(one & other for one in (first, second) for other in others)


def test_the_estimate_of_further_pairs_is_about_right() -> None:
    """With so many times the same pairs again they are told apart, and not with far fewer."""
    few: ScoreCounts = (9, 20, 40, 24, 14)
    seen = evidence(2, {(0, 1): few})
    times = seen.times(0, 1, float(seen.leads[0, 1]))
    for part, is_apart in ((1.1, True), (0.8, False)):
        more = tuple(round(times * part * count) for count in few)
        assert evidence(2, {(0, 1): more}).apart[0, 1] == is_apart
    assert math.isinf(seen.times(0, 1, 0.0))


@pytest.mark.parametrize("pairs", [0, 1, 10**6])
def test_one_bot_and_lopsided_pairs_are_no_trouble(pairs: int) -> None:
    assert evidence(1, {}).apart.tolist() == [[False]]
    told = evidence(2, {(0, 1): (0, 0, 0, 0, pairs)} if pairs else {})
    assert told.apart[0, 1] == (pairs > 1)
    assert not told.apart[1, 0]


@pytest.mark.parametrize("name", few(["2 equal", "gauntlet, equal"], 0, 1))
def test_equal_bots_are_rarely_ever_told_apart(name: str) -> None:
    """In at most 5 % of runs; 30 short runs, in which 5 would be an accident of 1 in 60."""
    assert play_runs(name, "resolved", 30, most=60, workers=1).wrong < 0.15


def test_the_capital_is_the_mean_of_nineteen_bets() -> None:
    """A bet of stake s on more than 0.4 grows by 1 + s (share - 0.4) / 0.4 with each pair."""
    stakes = [0.95 * 2 ** (-number / 2) for number in range(19)]
    grown = [(1 - s) ** 2 * (1 + s * 0.1 / 0.4) ** 3 * (1 + s * 0.6 / 0.4) for s in stakes]
    capital = math.exp(log_capital((2, 0, 3, 0, 1), 0.4))
    assert capital == pytest.approx(sum(grown) / 19, rel=1e-12)


@pytest.mark.parametrize("shape", sequences.SHAPES.values(), ids=sequences.SHAPES)
def test_the_truth_is_rarely_ever_missed(shape: list[float]) -> None:
    """At most 5 % of runs; 100 runs, in which 12 would be an accident of 1 in 400."""
    assert sequences.ever_missed(shape, runs=100, pairs=300) < 0.12


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, set[tuple[int, int]]]:
    """Return a number of bots, and which two of them were told apart: any at all."""
    bots = draw(st.integers(0, 12))
    every = [*combinations(range(bots), 2)]
    return bots, set(draw(st.lists(st.sampled_from(every), unique=True))) if every else set()


def check(bots: int, apart: set[tuple[int, int]]) -> list[str]:
    """Return the letters, and see that they say who was told apart."""
    groups = give_letters(bots, lambda upper, lower: (upper, lower) in apart)
    letters = [{*split_letters(group)} for group in groups]
    assert all(letters)
    for upper, lower in combinations(range(bots), 2):
        assert bool(letters[upper] & letters[lower]) == ((upper, lower) not in apart)
    used = sorted(set().union(*letters))
    assert used == [*range(len(used))]
    firsts = [min(bot for bot in range(bots) if letter in letters[bot]) for letter in used]
    assert firsts == sorted(firsts)
    return groups


@pytest.mark.slow
@given(tables())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_two_bots_share_a_letter_if_they_were_not_told_apart_and_only_then(
    table: tuple[int, set[tuple[int, int]]],
) -> None:
    check(*table)


def test_letters_are_few_and_those_of_bots_on_a_line_in_a_row() -> None:
    """No letter can get another bot: who has it not was told apart from one that has it."""
    rng = np.random.default_rng(2004)
    for _ in range(50):
        apart = {two for two in combinations(range(9), 2) if rng.random() < 0.4}
        groups = [{*split_letters(group)} for group in check(9, apart)]
        for letter in set().union(*groups):
            have = [bot for bot in range(9) if letter in groups[bot]]
            for bot in {*range(9)} - {*have}:
                assert any((min(bot, one), max(bot, one)) in apart for one in have)
    places = [0, 1, 2, 3, 9, 10, 30]
    apart = {(one, two) for one, two in combinations(range(7), 2) if places[two] - places[one] > 2}
    assert check(7, apart) == ["a", "ab", "ab", "b", "c", "c", "d"]
    assert give_letters(5, lambda *_: False) == ["a"] * 5
    assert give_letters(3, lambda *_: True) == ["a", "b", "c"]
    assert give_letters(0, lambda *_: True) == []
    assert split_letters(name_letter(700) + name_letter(26)) == [700, 26]
    # 20 pairings of which each was told apart: insertion and absorption has 2^20 letters.
    groups = check(40, {(bot, bot + 1) for bot in range(0, 40, 2)})
    assert max(map(max, map(split_letters, groups))) < 40
