"""Swiss: against every matching of a small field, and the rounds, worth and byes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from arena.tournament.rounds import Counts, make_rounds
from arena.tournament.swiss_rounds import SwissRounds, choose_bye, default_rounds, match, pair_up
from bench.studies.fields import Simulated
from bench.studies.swiss import make_swiss

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


def test_worth_is_own_share_and_that_of_the_opponents() -> None:
    """3 bots: a beat b 3 : 1 in two pairs; c had the bye and is worth a half."""
    rounds = SwissRounds(make_swiss(3, 2, 3))
    counts: dict[int, Counts] = {0: (0, 0, 1, 0, 1)}
    assert rounds.worth(counts) == [Fraction(1, 2)] * 3
    # then a - c ends 4 : 0. a has 7 of 8, b 1 of 4, c 0 of 4; a met b and c, both met a
    counts[1] = (0, 0, 0, 0, 2)
    assert rounds.worth(counts) == [
        (Fraction(7, 8) + Fraction(1, 8)) / 2,
        (Fraction(1, 4) + Fraction(7, 8)) / 2,
        (Fraction(0) + Fraction(7, 8)) / 2,
    ]


@pytest.mark.parametrize("bots", [2, 3, 7, 20])
def test_everybody_plays_every_round_or_has_the_bye(bots: int) -> None:
    """No rematch while there are others, and byes are spread evenly."""
    cup = make_swiss(bots, 3, 5)
    elos = {label: 1500 + 20.0 * n for n, label in enumerate(cup.labels)}
    before: dict[int, Counts] = {}
    played: Counter[str] = Counter()
    rounds = [*Simulated(elos, 1).rounds(make_rounds(cup), cup.pairings)]
    assert len(rounds) == 5
    for counts in rounds:
        new = [n for n in counts if counts[n] != before.get(n)]
        labels = [label for n in new for label in cup.pairings[n]]
        assert len(labels) == len({*labels}) == bots - bots % 2
        assert all(sum(counts[n]) - sum(before.get(n, ())) == 3 for n in new)
        if bots == 20:
            assert not {*new} & before.keys()
        played.update(labels)
        before = counts
    assert max(played.values()) - min(played[label] for label in cup.labels) <= 1


FIELDS = [(6, 6), *((bots, 8) for bots in range(5, 10)), (11, 4), (12, 4), (20, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "seeds"), FIELDS)
def test_nobody_meets_again_while_that_can_be_avoided(bots: int, seeds: int) -> None:
    """All numbers of rounds up to a round robin, and in small fields up to two of them."""
    opponents = bots - 1 + bots % 2  # with a bye for each where their number is odd
    for wanted in range(1, opponents * (1 + (bots < 10)) + 1):
        for seed in range(seeds):
            cup = replace(make_swiss(bots, 1, wanted), seed=seed)
            elos = {label: 1500 + 40.0 * n for n, label in enumerate(cup.labels)}
            *_, counts = Simulated(elos, seed).rounds(make_rounds(cup), cup.pairings)
            played = Counter(label for n in counts for label in cup.pairings[n] * sum(counts[n]))
            laps = -(-wanted // opponents)
            assert max(map(sum, counts.values())) <= laps, (wanted, seed)
            assert all(0 <= wanted - played[label] <= laps * (bots % 2) for label in cup.labels)


def test_bots_that_are_out_get_no_more_games() -> None:
    """The others go on, with a bye; one alone ends the run."""
    cup = make_swiss(4, 2, 5)
    rounds = SwissRounds(cup)
    even: Counts = (0, 0, 2, 0, 0)
    legs = rounds.next(1, {0: even, 5: even}, ["b000"])
    assert [(cup.pairings[leg.pairing], *leg[1:]) for leg in legs] == [(("b001", "b003"), 0, 2)]
    assert rounds.next(1, {0: even, 5: even}, ["b000", "b001", "b003"]) == []
    assert rounds.next(5, {}, []) == []


def test_a_rematch_plays_further_pairs() -> None:
    """Two bots meet again and again, on other deals each time."""
    rounds = SwissRounds(make_swiss(2, 4, 3))
    assert rounds.next(0, {}, ()) == [(0, 0, 4)]
    assert rounds.next(2, {0: (8, 0, 0, 0, 0)}, ()) == [(0, 8, 12)]


def test_the_order_of_the_names_does_not_matter() -> None:
    """The first round's opponents are drawn from the seed and the labels."""
    cup = make_swiss(10, 2, 3)

    def first(seed: int, step: int) -> set[frozenset[str]]:
        turned = replace(cup, seed=seed, entries=cup.entries[::step])
        return {frozenset(turned.pairings[leg[0]]) for leg in SwissRounds(turned).next(0, {}, ())}

    assert first(0, 1) == first(0, -1) != first(1, 1)
