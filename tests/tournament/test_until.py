"""Rounds as functions of counts: those that stop by themselves, of comparisons, and Swiss."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
import pytest

import arena
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.library.rating import pairs_to_lead
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.two_bots import pair_scores
from arena.tournament.config_keys import Anchor
from arena.tournament.rounds import (
    Counts,
    SwissRounds,
    choose_bye,
    make_rounds,
    match,
    round_of_all,
)
from arena.tournament.schedule import Pairing, PairRange, gauntlet, round_robin
from arena.tournament.sprt_rounds import SprtRounds, as_comparison, weigh
from arena.tournament.stop import Halving, Sprt, Until
from arena.tournament.tournament import Tournament
from arena.tournament.until_rounds import Narrowing, Standings, UntilRounds
from bench.studies.fields import Simulated
from bench.studies.first import find, make_elos
from bench.studies.swiss import make_swiss
from engine import STANDARD

THREE = round_robin(["a", "b", "c"])  # a - b, a - c, b - c
EVEN: Counts = (10, 20, 40, 20, 10)
AHEAD: Counts = (2, 8, 20, 30, 40)
FAR: Counts = (0, 0, 0, 10, 90)
FOUR = round_robin(["a", "b", "c", "d"])  # a - b, a - c, a - d, b - c, b - d, c - d
ONE_AHEAD: dict[int, Counts] = {0: FAR, 1: FAR, 2: FAR, 3: EVEN, 4: FAR, 5: FAR}
"""Of FOUR: a is far ahead, d far behind, b and c are even."""


def resolved(pairings: list[Pairing], most: int = 1000, pairs: int = 100) -> UntilRounds:
    return UntilRounds(pairings, pairs, Until("resolved", most))


def test_pairs_go_to_all_pairings_of_neighbours_that_are_not_told_apart() -> None:
    """After the first round, which is the whole schedule."""
    assert resolved(THREE, pairs=7).next(0, {}, ()) == [PairRange(n, 0, 7) for n in range(3)]
    ranges = resolved(FOUR).next(1, ONE_AHEAD, ())
    assert {span.pairing for span in ranges} <= {0, 1, 3, 4, 5}  # one for every two, but a - d
    assert PairRange(3, 100, 150) in ranges
    for most in (120, 100):  # that would not suffice
        assert resolved(FOUR, most=most).next(1, ONE_AHEAD, ()) == []
    for last, asked in ((EVEN, [("b", "c")]), (AHEAD, [])):
        counts: dict[int, Counts] = {0: AHEAD, 1: AHEAD, 2: last}
        assert [one[:2] for one in resolved(THREE).find_open(counts, ())] == asked
        assert bool(resolved(THREE).next(1, counts, ())) is bool(asked)


@pytest.mark.parametrize(
    ("target", "asked", "end"),
    [
        ("first", [], "resolved after 600 pairs: a is the strongest"),
        ("top:2", [("b", "c")], ""),
        ("top:3", [], "resolved after 600 pairs: a, b and c are the 3 strongest"),
        ("against:a", [], "resolved after 600 pairs: a is told apart from every other bot"),
        ("against:c", [("b", "c")], ""),
    ],
)
def test_only_what_is_asked_for_is_found_out(
    target: str, asked: list[tuple[str, str]], end: str
) -> None:
    rounds = UntilRounds(FOUR, 100, Until(target, 1000))
    assert [one[:2] for one in rounds.find_open(ONE_AHEAD, ())] == asked
    assert bool(rounds.next(1, ONE_AHEAD, ())) is bool(asked)
    assert rounds.status(ONE_AHEAD).endswith(f"pairs of bots not told apart: {len(asked)}")
    said = rounds.describe_end(ONE_AHEAD, (), ())
    assert said == [end] if end else said[0].startswith("not resolved after 600 pairs")


def test_of_a_bot_that_is_out_nothing_is_said_to_be_known() -> None:
    rounds = UntilRounds(FOUR, 100, Until("against:c", 1000))
    lost = "nothing to find out: c"
    assert rounds.describe_end(ONE_AHEAD, ["c"], ()) == [f"{lost} had too many faults"]
    assert rounds.describe_end(ONE_AHEAD, ["d"], ["c"]) == [f"{lost} finished no game"]


def test_the_first_is_found_with_fewer_pairs() -> None:
    """Those of bots that cannot be first are not played to the end."""
    elos = {"a": 60.0, "b": 0.0, "c": 0.0, "d": -5.0}
    field = Simulated(elos, 7)
    spent = {}
    for target in "first", "resolved":
        *_, counts = field.rounds(UntilRounds(FOUR, 20, Until(target, 800)), FOUR)
        spent[target] = sum(map(sum, counts.values()))
        standings = Standings(FOUR, counts, ())
        assert standings.labels[standings.order[0]] == "a"
    assert spent["first"] < spent["resolved"] / 3


@pytest.mark.parametrize(("bots", "gap"), [(6, 50.0), (4, 40.0)])
def test_a_plan_says_the_price_of_the_first(bots: int, gap: float) -> None:
    """Within a third, on average over runs of a ladder."""
    costs = [find("first", make_elos(bots, -gap, run), run).pairs for run in range(8)]
    assert sum(costs) / 8 == pytest.approx(pairs_to_lead(bots, gap), rel=1 / 3)


def test_a_run_ends_early_where_only_equal_bots_are_left() -> None:
    """More pairs would not tell them apart; with more allowed, they go on."""
    elos = {"a": 200.0, "b": 0.0, "c": 0.0, "d": 0.0}
    rounds = UntilRounds(FOUR, 20, Until("resolved", 800))
    *_, counts = Simulated(elos, 7).rounds(rounds, FOUR)
    pairs = sum(map(sum, counts.values()))
    assert 1000 < pairs < 0.75 * 800 * len(FOUR)
    head, *rest = rounds.describe_end(counts, (), ())
    assert head == (
        f"not resolved after {pairs:,} pairs, ended early, as 800 in a pairing would hardly tell "
        "more:"
    )
    assert [line.split(" are ")[0].strip() for line in rest] == ["d and b", "b and c"]
    assert UntilRounds(FOUR, 20, Until("resolved", 8000)).next(9, counts, ())


@pytest.mark.parametrize(
    ("until", "why"),
    [
        ("top:3", "until: top:3: there are 3 bots in this run"),
        ("against:nobody", "until: no bot 'nobody' in this run; there are greedy, timing, uniform"),
        ("frist", "until: 'frist' is not one of resolved, first, top:K, against:BOT, a number"),
        ("top:0", "until: 'top:0' is not one of resolved"),
    ],
)
def test_a_target_that_no_run_can_reach_is_refused(until: str, why: str) -> None:
    with pytest.raises(InputError, match=re.escape(why)):
        arena.run(["greedy", "timing", "uniform"], pairs=2, until=until, progress=False)


def test_about_half_of_the_pairs_that_are_missing_are_played() -> None:
    counts: dict[int, Counts] = {0: AHEAD, 1: AHEAD, 2: (7, 14, 34, 27, 18)}
    [(_, _, further)] = resolved(THREE).find_open(counts, ())
    given = sum(span.end - span.first for span in resolved(THREE).next(1, counts, ()))
    assert 0.3 * further < given < 0.7 * further


def test_neighbours_that_cannot_meet_play_the_panel_unless_it_cannot_help() -> None:
    pairings = gauntlet(["a", "b"], ["p", "q", "r"])
    good: Counts = (0, 1, 5, 6, 8)
    counts: dict[int, Counts] = dict(enumerate([good] * 3 + [good[::-1]] * 3))
    ranges = resolved(pairings, pairs=20).next(1, counts, ())
    assert {span.first for span in ranges} == {20}
    even: dict[int, Counts] = dict.fromkeys(range(6), EVEN)
    assert resolved(pairings).next(1, even, ()) == []
    assert resolved(pairings).find_open(even, ())[0].further_pairs is None


def test_bots_that_are_out_are_left_out() -> None:
    """They get no pairs and nobody is compared with them; with one bot left the run is over."""
    counts: dict[int, Counts] = {0: EVEN, 1: EVEN, 2: EVEN}
    assert [span.pairing for span in resolved(THREE).next(1, counts, ["a"])] == [2]
    for out in (["a", "b"], ["a", "b", "c"]):
        assert resolved(THREE).next(1, counts, out) == []
        assert resolved(THREE).find_open(counts, out) == []


@pytest.mark.parametrize("target", ["resolved", 10.0])
@pytest.mark.parametrize("five", [(0, 0, 0, 0, 3), (0, 0, 3, 0, 0), (3, 0, 0, 0, 0)])
def test_where_all_pairs_end_alike_there_is_a_last_round_at_the_most(
    target: str | float, five: Counts
) -> None:
    rounds = UntilRounds(THREE, 3, Until(target, 40))
    counts, number = dict.fromkeys(range(3), five), 1
    while ranges := rounds.next(number, counts, ()):
        for pairing, first, end in ranges:
            assert sum(counts[pairing]) == first < end <= 40
            counts[pairing] = tuple(round(end * count / 3) for count in five)
        number += 1
        assert number < 100
    for one in rounds.find_open(counts, ()):
        assert one.further_pairs is None or one.further_pairs > 0


def test_a_narrowing_gives_what_the_fit_then_needs() -> None:
    counts: dict[int, Counts] = dict.fromkeys(range(3), (125, 0, 250, 0, 125))
    standings = Standings(THREE, counts, ())
    narrowing = Narrowing(standings, dict.fromkeys(range(3), 10_000))
    contrast = standings.contrast(0, 1)
    wanted = narrowing.count_wanted(contrast, range(3), 1.2)
    assert narrowing.narrow(contrast, range(3), 1.2) == wanted == narrowing.given.total()
    assert narrowing.given[0] > 2 * narrowing.given[1]  # their own pairs say twice as much
    assert narrowing.narrow(contrast, range(3), 1.2) == 0
    more = {n: 500 + narrowing.given[n] for n in range(3)}
    later = Standings(THREE, {n: (k / 4, 0, k / 2, 0, k / 4) for n, k in more.items()}, ())
    fell = (standings.fit.gap_errors[0, 1] / later.fit.gap_errors[0, 1]) ** 2
    assert fell == pytest.approx(1.2, rel=0.01)


def test_half_widths_are_those_of_the_standings() -> None:
    counts: dict[int, Counts] = {0: AHEAD, 1: EVEN, 2: EVEN}
    totals = [PairTotals(n, *pair_scores(0, 1, by)[2:], by) for n, by in counts.items()]
    for anchor in (None, "b"):
        standings = Standings(THREE, counts, (), anchor)
        anchors = {anchor: (1239.0, 0.0)} if anchor else {}
        ratings = Field(THREE, totals, ["a", "b", "c"], (), anchors, even=True).ratings
        halves = [(rating.high - rating.low) / 2 for rating in ratings.values()]
        assert (halves[1] == 0) == (anchor is not None)
        assert standings.half_widths() == pytest.approx(halves, rel=0.02)


def test_a_target_width_is_reached_and_hardly_passed() -> None:
    elos = {"a": 1700.0, "b": 1500.0, "c": 1450.0, "d": 1100.0}
    rounds = UntilRounds(FOUR, 20, Until(25.0, 5000))
    *_, counts = Simulated(elos, 2).rounds(rounds, FOUR)
    assert rounds.find_open(counts, ()) == []
    assert 22 < max(Standings(FOUR, counts, ()).half_widths()) <= 25
    after = f"after {sum(map(sum, counts.values())):,} pairs"
    said = rounds.describe_end(counts, (), ())
    assert said == [f"resolved {after}: all intervals are within 25 Elo points"]
    wider = UntilRounds(FOUR, 20, Until(12.0, 5000))
    wide = wider.find_open(counts, ())
    assert {(one.bot, one.opponent) for one in wide} == {(bot, None) for bot in elos}
    head, *rest = wider.describe_end(counts, (), ())
    assert head == f"not resolved {after}, with 5,000 at most in a pairing:"
    too_wide = (f"  the interval of {one.bot} is too wide: about " for one in wide)
    assert all(map(str.startswith, rest, too_wide))
    assert len(rest) == len(wide)


STOP = Sprt(0.0, 30.0, 0.05, 0.05, 400)


def compare(*specs: str, **keys: Any) -> Tournament:
    bots = [resolve(spec) for spec in ("new=greedy", "greedy", *specs)]
    return Tournament("compare", 0, 1, bots, STANDARD, stop=STOP, **keys)


DUEL, PAIRED = compare(), compare("uniform", "denier", panel=2, paired=True)


def test_a_run_that_stops_by_itself_has_the_scale_of_its_anchor() -> None:
    for anchor, label in ((None, None), (Anchor("greedy", 1200.0), "greedy")):
        cup = replace(DUEL, stop=Until("first", 9), pairs=7, anchor=anchor)
        made = make_rounds(cup)
        assert isinstance(made, UntilRounds)
        assert (made.anchor, made.pairs, made.max_pairs) == (label, 7, 9)
        assert cup.games == 2 * 9
    games = {Until("first", 9): 2 * 9 * 4, Halving(50, 9): 2 * 50, STOP: 2 * 400 * 2}
    assert {stop: replace(PAIRED, stop=stop).games for stop in games} == games


def differences(minus: int, none: int, plus: int) -> Counts:
    return (0, 0, minus, 0, none, 0, plus, 0, 0)


def test_a_test_ends_at_the_pair_that_decides() -> None:
    """Its first round has 32 pairs of each pairing."""
    assert make_rounds(PAIRED).next(0, {}, []) == [PairRange(n, 0, 32) for n in range(4)]
    stop, rng = Sprt(0.0, 60.0, 0.05, 0.05, 5000), np.random.default_rng(3)
    for _ in range(10):
        scores = rng.choice([0, 2, 4], 1000, p=[0.2, 0.55, 0.25])
        five = [tuple(np.bincount(scores[:n], minlength=5).tolist()) for n in range(1000)]
        rounds, pairs, number = SprtRounds(DUEL, stop), 0, 0
        while legs := rounds.next(number, {0: five[pairs]}, []):
            pairs, number = legs[0].end, number + 1
        undecided = (weigh(DUEL, stop, {0: one}).verdict == "undecided" for one in five[32:])
        assert pairs == 32 + [*undecided].index(False)
        assert number < 3 + pairs / 4


@pytest.mark.parametrize(
    ("counts", "ranges"),
    [
        ((36, 0, 238, 0, 46), [PairRange(0, 320, 326)]),
        ((45, 0, 292, 0, 59), [PairRange(0, 396, 400)]),
        ((45, 0, 296, 0, 59), []),
    ],
)
def test_rounds_go_on_from_what_was_played_up_to_the_most(
    counts: Counts, ranges: list[PairRange]
) -> None:
    assert SprtRounds(DUEL, STOP).next(9, {0: counts}, []) == ranges


@pytest.mark.parametrize("counts", [(10, 0, 80, 0, 40), (40, 0, 80, 0, 20)])
def test_a_verdict_ends_the_run_at_the_upper_and_at_the_lower_bound(counts: Counts) -> None:
    rounds = SprtRounds(DUEL, STOP)
    assert weigh(DUEL, STOP, {0: counts}).verdict != "undecided"
    assert rounds.next(5, {0: counts}, []) == []
    assert rounds.next(5, {0: tuple(n // 2 for n in counts)}, [])


@pytest.mark.parametrize("label", ["new", "greedy"])
def test_a_version_that_is_out_ends_the_run(label: str) -> None:
    assert SprtRounds(DUEL, STOP).next(1, {0: (16, 0, 0, 0, 0)}, [label]) == []
    assert SprtRounds(PAIRED, STOP).next(1, {}, [label]) == []


def test_all_opponents_have_as_many_deals() -> None:
    even = differences(minus=17, none=160, plus=22)
    seen = {0: even, 1: even, 2: (20, 0, 99, 0, 80), 3: (80, 0, 99, 0, 20)}
    assert SprtRounds(PAIRED, STOP).next(5, seen, []) == [PairRange(n, 199, 200) for n in range(4)]
    evidence = weigh(PAIRED, STOP, seen)
    assert (evidence.pairs, evidence.looks[:2], evidence.looks[-1]) == (398, [64, 68], 398)


def test_a_comparison_has_a_pair_for_each_opponent_at_least() -> None:
    assert as_comparison(PAIRED, Sprt(0.0, 30.0, 0.05, 0.05, 2)).pairs == 2
    with pytest.raises(InputError, match="max_pairs: 1 is too few for 2 opponents"):
        as_comparison(PAIRED, Sprt(0.0, 30.0, 0.05, 0.05, 1))


def test_an_opponent_that_is_out_counts_no_more() -> None:
    seen: Mapping[int, Counts] = {
        0: differences(minus=0, none=16, plus=0),
        1: differences(minus=3, none=26, plus=3),
        2: (0, 0, 0, 0, 16),
        3: (8, 0, 20, 0, 4),
    }
    ranges = SprtRounds(PAIRED, STOP).next(3, seen, ["uniform"])
    assert ranges == [PairRange(1, 32, 34), PairRange(3, 32, 34)]
    evidence = weigh(PAIRED, STOP, seen, ["uniform"])
    assert (evidence.pairs, evidence.looks) == (32, [32])
    assert evidence.shares == [(28 + 1) / (2 * 33)]
    everybody = weigh(PAIRED, STOP, seen, ["uniform", "denier"])
    assert (everybody.pairs, everybody.ratio, everybody.verdict) == (0, 0.0, "undecided")
    assert SprtRounds(PAIRED, STOP).next(3, seen, ["uniform", "denier"]) == []


def test_the_status_counts_pairs_once_there_are_any() -> None:
    assert SprtRounds(DUEL, STOP).status({}) == ""
    assert SprtRounds(DUEL, STOP).status({0: (10, 0, 80, 0, 20)}).startswith("110 pairs, Elo +31")
    twins = {0: differences(minus=1, none=9, plus=6), 1: (0,) * 9, 2: (0, 0, 16, 0, 0), 3: (0,) * 5}
    assert SprtRounds(PAIRED, STOP).status(twins).startswith("16 pairs, Elo +")


@pytest.mark.parametrize(
    ("rate", "is_one"), [(0.05, True), (0.499, True), (0.5, False), (0, False)]
)
def test_an_error_rate_of_a_stored_comparison_is_below_one_half(rate: float, is_one: bool) -> None:
    """As one that is asked for: a store may come from anywhere."""
    data = {"kind": "sprt", "elo0": 0, "elo1": 5, "alpha": rate, "beta": 0.05, "max_pairs": 9}
    with nullcontext() if is_one else pytest.raises(msgspec.ValidationError):
        msgspec.convert(data, Sprt)


Two = tuple[int, int]


def matchings(bots: Sequence[int]) -> Iterator[list[Two]]:
    if not bots:
        yield []
        return
    first, *rest = bots
    for opponent in rest:
        others = [bot for bot in rest if bot != opponent]
        for more in matchings(others):
            yield [(first, opponent), *more]


def cost(found: list[Two], order: list[int], met: dict[Two, int], groups: int) -> tuple[int, float]:
    """Return how many meet again, and how far from half a group's distance the others are."""
    again = sum(met.get((min(two), max(two)), 0) for two in found)
    distances = [abs(order.index(two[0]) - order.index(two[1])) for two in found]
    return again, sum((distance - 8 / groups / 2) ** 2 for distance in distances)


@pytest.mark.slow
def test_of_all_105_matchings_of_8_bots_none_is_cheaper() -> None:
    luck = random.Random(1)
    for _ in range(90):
        order = luck.sample(range(8), 8)
        chance = luck.choice([0.2, 0.6, 0.9, 1.0])
        met = {
            two: luck.choice([1, 1, 2, 3])
            for two in combinations(range(8), 2)
            if luck.random() < chance
        }
        groups = luck.choice([1, 2, 3, 4])
        found = match(order, met, groups)
        assert sorted(bot for two in found for bot in two) == [*range(8)]
        cheapest = min(cost(one, order, met, groups) for one in matchings(order))
        assert cost(found, order, met, groups) == pytest.approx(cheapest)
        assert found == sorted(found, key=lambda two: order.index(two[0]))


def test_in_a_group_the_upper_half_meets_the_lower_half_and_all_that_have_met_far_ones() -> None:
    order = [*range(60)]
    for groups, half in ((1, 30), (3, 10), (30, 1), (99, 1)):
        assert {lower - upper for upper, lower in match(order, {}, groups)} == {half}
    met = {two: 1 for two in combinations(range(40), 2) if (two[0] < 20) == (two[1] < 20)}
    found = match(range(40), met, 20)
    assert all(bot < 20 <= opponent for bot, opponent in found)
    assert len(found) == 20


def test_the_bye_goes_to_the_last_of_those_that_had_the_fewest() -> None:
    byes: Counter[int] = Counter()
    for bot in [2, 1, 4, 0, 3] * 2:
        assert choose_bye([3, 0, 4, 1, 2], byes) == bot
        byes[bot] += 1
    assert choose_bye([1, 2], {}) is None


def test_worth_is_own_share_and_that_of_the_opponents() -> None:
    rounds = SwissRounds(make_swiss(3, 2, 3))
    counts: dict[int, Counts] = {0: (0, 0, 1, 0, 1)}  # a beats b 3 : 1, and c has the bye
    assert rounds.worth(counts) == [Fraction(1, 2)] * 3
    counts[1] = (0, 0, 0, 0, 2)  # a - c ends 4 : 0: a has 7 of 8, b 1 of 4, c 0 of 4
    assert rounds.worth(counts) == [Fraction(1, 2), Fraction(9, 16), Fraction(7, 16)]


@pytest.mark.parametrize("bots", [2, 3, 7, 20])
def test_everybody_plays_every_round_or_has_the_bye(bots: int) -> None:
    cup, before = make_swiss(bots, 3, 5), {}
    elos = {label: 1500 + 20.0 * n for n, label in enumerate(cup.labels)}
    played: Counter[str] = Counter()
    rounds = [*Simulated(elos, 1).rounds(make_rounds(cup), cup.pairings)]
    assert len(rounds) == 5
    for counts in rounds:
        new = [n for n in counts if counts[n] != before.get(n)]
        labels = [label for n in new for label in cup.pairings[n]]
        assert len(labels) == len({*labels}) == bots - bots % 2
        assert all(sum(counts[n]) - sum(before.get(n, ())) == 3 for n in new)
        assert bots < 20 or not {*new} & before.keys()
        played.update(labels)
        before = counts
    assert max(played.values()) - min(played[label] for label in cup.labels) <= 1


FIELDS = [(6, 6), *((bots, 8) for bots in range(5, 10)), (11, 4), (12, 4), (20, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "seeds"), FIELDS)
def test_nobody_meets_again_while_that_can_be_avoided(bots: int, seeds: int) -> None:
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


@pytest.mark.parametrize(("bots", "wanted"), [(10, 8), (10, 7), (9, 8), (9, 7)])
def test_rounds_for_all_opponents_but_one_are_those_of_a_round_robin(
    bots: int, wanted: int
) -> None:
    cup = make_swiss(bots, 1, wanted)
    rounds = SwissRounds(cup)
    met = {frozenset(cup.pairings[leg.pairing]) for leg in rounds.next(0, {}, ())}
    of_all = {frozenset(rounds.labels[bot] for bot in two) for two in round_of_all(rounds.drawn, 0)}
    assert (met == of_all) == (wanted == 8)


def test_bots_that_are_out_get_no_more_games_and_one_that_is_left_ends_the_run() -> None:
    cup = make_swiss(4, 2, 5)
    rounds = SwissRounds(cup)
    even: Counts = (0, 0, 2, 0, 0)
    legs = rounds.next(1, {0: even, 5: even}, ["b000"])
    assert [(cup.pairings[leg.pairing], *leg[1:]) for leg in legs] == [(("b001", "b003"), 0, 2)]
    assert rounds.next(1, {0: even, 5: even}, ["b000", "b001", "b003"]) == []
    assert rounds.next(5, {}, []) == []
    rounds = SwissRounds(make_swiss(2, 4, 3))  # a rematch plays further pairs
    assert rounds.next(0, {}, ()) == [(0, 0, 4)]
    assert rounds.next(2, {0: (8, 0, 0, 0, 0)}, ()) == [(0, 8, 12)]


def test_the_first_opponents_are_drawn_from_the_seed_and_the_labels_not_their_order() -> None:
    cup = make_swiss(10, 2, 3)

    def first(seed: int, step: int) -> set[frozenset[str]]:
        turned = replace(cup, seed=seed, entries=cup.entries[::step])
        return {frozenset(turned.pairings[leg[0]]) for leg in SwissRounds(turned).next(0, {}, ())}

    assert first(0, 1) == first(0, -1) != first(1, 1)
