"""Letters: two bots share one if they were not told apart, and only then."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.statistics.letters import give_letters, name_letter, shorten, split_letters


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
    """Whoever was told apart, also where that is in no order; every bot has a letter."""
    check(*table)


def test_no_letter_can_get_another_bot() -> None:
    """It is a largest set: a bot that has not the letter was told apart from one that has it."""
    rng = np.random.default_rng(2004)
    for _ in range(50):
        apart = {two for two in combinations(range(9), 2) if rng.random() < 0.4}
        groups = [{*split_letters(group)} for group in check(9, apart)]
        for letter in set().union(*groups):
            have = [bot for bot in range(9) if letter in groups[bot]]
            for bot in {*range(9)} - {*have}:
                assert any((min(bot, one), max(bot, one)) in apart for one in have)


def test_bots_on_a_line_have_letters_in_a_row() -> None:
    """Those within reach of each other: the display that insertion and absorption makes."""
    places = [0, 1, 2, 3, 9, 10, 30]
    found = check(
        7, {two for two in combinations(range(7), 2) if places[two[1]] - places[two[0]] > 2}
    )
    assert found == ["a", "ab", "ab", "b", "c", "c", "d"]
    assert give_letters(5, lambda *_: False) == ["a"] * 5
    assert give_letters(3, lambda *_: True) == ["a", "b", "c"]
    assert give_letters(0, lambda *_: True) == []


def test_pairs_that_met_nobody_else_need_few_letters() -> None:
    """20 pairings of which each was told apart: insertion and absorption has 2^20 letters."""
    groups = check(40, {(bot, bot + 1) for bot in range(0, 40, 2)})
    assert max(map(max, map(split_letters, groups))) < 40


@pytest.mark.parametrize("number", [0, 25, 26, 700])
def test_a_letter_can_be_read_again(number: int) -> None:
    """Also among others."""
    text = "".join(map(name_letter, (number, number + 1, number + 27)))
    assert split_letters(text) == [number, number + 1, number + 27]
    assert len(shorten(text, 5)) <= 5
