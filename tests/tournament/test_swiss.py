"""Swiss pairing: against every matching of a small field, and what a field of fifty needs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import pytest

from arena.tournament.swiss_rounds import choose_bye, default_rounds, match, pair_up

Two = tuple[int, int]


def matchings(bots: Sequence[int]) -> Iterator[list[Two]]:
    """Yield every way in which the bots can meet two by two."""
    if not bots:
        yield []
        return
    first, *rest = bots
    for opponent in rest:
        others = [bot for bot in rest if bot != opponent]
        for more in matchings(others):
            yield [(first, opponent), *more]


def cost(
    found: Sequence[Two], order: Sequence[int], met: Mapping[Two, int], groups: int
) -> tuple[int, float]:
    """Return how many meet again, and how far from half a group's distance the others are."""
    again = sum(met.get((min(two), max(two)), 0) for two in found)
    distances = [abs(order.index(two[0]) - order.index(two[1])) for two in found]
    return again, sum((distance - 8 / groups / 2) ** 2 for distance in distances)


@pytest.mark.slow
def test_no_other_matching_is_cheaper() -> None:
    """Against all 105 matchings of 8 bots, some of which have met, most of all or even often."""
    luck = random.Random(1)
    for _ in range(90):
        order = luck.sample(range(8), 8)
        chance = luck.choice([0.2, 0.6, 0.9, 1.0])
        met = {
            (bot, opponent): luck.choice([1, 1, 2, 3])
            for bot in range(8)
            for opponent in range(bot + 1, 8)
            if luck.random() < chance
        }
        groups = luck.choice([1, 2, 3, 4])
        found = match(order, met, groups)
        assert sorted(bot for two in found for bot in two) == [*range(8)]
        cheapest = min(cost(one, order, met, groups) for one in matchings(order))
        assert cost(found, order, met, groups) == pytest.approx(cheapest)
        assert found == sorted(found, key=lambda two: order.index(two[0]))


def test_in_a_group_the_upper_half_meets_the_lower_half() -> None:
    """60 bots in 1, 3 and 30 groups; more groups than two bots each are as many as can be."""
    order = [*range(60)]
    for groups, half in ((1, 30), (3, 10), (30, 1), (99, 1)):
        assert {lower - upper for upper, lower in match(order, {}, groups)} == {half}


def test_a_field_that_needs_far_opponents_finds_them() -> None:
    """Of 40 bots the upper 20 have all met each other, and so have the lower ones."""
    met = {
        (bot, opponent): 1
        for bot in range(40)
        for opponent in range(bot + 1, 40)
        if (bot < 20) == (opponent < 20)
    }
    found = match(range(40), met, 20)
    assert all(bot < 20 <= opponent for bot, opponent in found)
    assert len(found) == 20


def can_avoid(order: Sequence[int], met: Mapping[Two, int], left: int) -> bool:
    """Return whether so many rounds can be played in which all meet at most once."""
    if not left:
        return True
    for found in matchings(sorted(order)):
        if not any(map(met.get, found)) and can_avoid(
            order, {**met, **dict.fromkeys(found, 1)}, left - 1
        ):
            return True
    return False


def test_a_round_leaves_a_plan_of_the_others_if_there_is_one() -> None:
    """6 bots that have met in any way, as where others are out, against all plans."""
    luck = random.Random(4)
    seen = set()
    for _ in range(120):
        order, left = luck.sample(range(6), 6), luck.randint(1, 4)
        met = {two: 1 for two in combinations(range(6), 2) if luck.random() < 0.3}
        found = [(min(two), max(two)) for two in pair_up(order, met, {}, luck.choice([1, 3]), left)]
        assert sorted(bot for two in found for bot in two) == [*range(6)]
        avoids = not any(map(met.get, found))
        avoids &= can_avoid(order, {**met, **dict.fromkeys(found, 1)}, left - 1)
        assert avoids == can_avoid(order, met, left)
        seen.add(avoids)
    assert seen == {True, False}


def test_the_bye_goes_to_the_last_of_those_that_had_the_fewest() -> None:
    """Nobody has a second one before all have had one."""
    order = [3, 0, 4, 1, 2]
    byes: dict[int, int] = {}
    given = []
    for _ in range(10):
        bot = choose_bye(order, byes)
        assert bot is not None
        byes[bot] = byes.get(bot, 0) + 1
        given.append(bot)
    assert given == [2, 1, 4, 0, 3] * 2
    assert choose_bye([1, 2], {}) is None


@pytest.mark.parametrize(
    ("bots", "rounds"), [(2, 1), (3, 3), (4, 3), (5, 5), (6, 5), (16, 8), (17, 10), (50, 12)]
)
def test_rounds_by_default(bots: int, rounds: int) -> None:
    """Twice log2 of the bots, and at most as many as a bot has opponents, and byes."""
    assert default_rounds(bots) == rounds
