"""The headline of a run: its sentences, and how often each kind of them is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.insight.headline import Headline, Share, Top, find_headline, write_lead
from arena.statistics.apart import pair_scores
from arena.statistics.counts import PairTotals
from arena.statistics.field import Field, make_superiority
from arena.statistics.intervals import Estimate
from arena.tournament.schedule import Pairing
from bench.studies.headlines import CASES, KINDS, PLAIN, RUNS, Case, judge, play, simulate

Met = Mapping[tuple[str, str], tuple[int, int, int, int, int]]

UP = (10, 0, 30, 0, 59)
"""99 pairs and one of credit: 149 of 200 points. The gap is 400 log10(149 / 51) = 186.2 Elo.

The squares add up to 268, and about the mean to 268 - 4 x .745 x 149 + 4 x .745^2 x 100 = 45.99;
the information is 200 x .745 x .255 = 37.995, and so the error sqrt(45.99) / 37.995 x 173.72 = 31.0
Elo. Two bots have three ends, a level of 1 - .05 / 3, and so 2.128 errors: 66.0.
"""
EVEN = (25, 0, 50, 0, 24)
"""99 of 200 points: a gap of -3.5 Elo, with an error of 24.6, and 2.128 times that is 52.3."""


def field_of(met: Met) -> Field:
    """Return the field of bots that met in these pairs, by the score of the first of two."""
    labels = [*dict.fromkeys(label for two in met for label in two)]
    totals = [
        PairTotals(number, *pair_scores(0, 1, five)[2:], five)
        for number, five in enumerate(met.values())
    ]
    return Field([Pairing(*two) for two in met], totals, labels)


def headline_of(met: Met, challenger: str | None = None) -> Headline:
    field = field_of(met)
    return find_headline(field, make_superiority(field, field.labels), challenger=challenger)


def says(met: Met) -> str:
    return " ".join(headline_of(met).sentences())


def times(five: Sequence[int], factor: float) -> tuple[int, int, int, int, int]:
    a, b, c, d, e = (round(factor * one) for one in five)
    return a, b, c, d, e


def test_of_two_bots_the_stronger_one_is_named_with_its_lead() -> None:
    """As worked out above; the probability is never said to be 1."""
    expected = "a is stronger than b: +186 Elo (120..252), probability above 99.9 %."
    assert says({("a", "b"): UP}) == expected


def test_two_bots_that_are_not_told_apart_are_called_so() -> None:
    """With what would tell them apart."""
    first, second, third = headline_of({("a", "b"): EVEN}).sentences()
    assert first == "b and a are not told apart."
    assert second.startswith("The lead of b is +3 Elo (-49..56), probability ")
    assert third.endswith("times as many games tell these two apart.")


def test_the_growth_that_is_named_tells_two_bots_apart() -> None:
    """So many times the same pairs; nine tenths of that do not."""
    some = (20, 0, 50, 0, 40)
    top = headline_of({("a", "b"): some}).top
    assert top
    assert top.growth
    for part, is_apart in ((0.9, False), (1.1, True)):
        found = headline_of({("a", "b"): times(some, part * top.growth)})
        assert found.top
        assert (not found.top.rivals) == is_apart


def test_the_strongest_of_three_leads_all_others() -> None:
    """The lead is that over the next one, and the neighbours are counted."""
    met: Met = {("a", "b"): UP, ("a", "c"): UP, ("b", "c"): EVEN}
    found = headline_of(met)
    assert found.top
    assert (found.order[0], found.top.rivals, [*found.apart]) == ("a", [], [True, False])
    first, second = found.sentences()
    assert first.startswith(f"a is the strongest: {write_lead(found.top.lead)} over c, probab")
    assert second == "Surely told apart: 1 of 2 neighbours."


def test_a_first_bot_with_rivals_is_not_called_the_strongest() -> None:
    """Those that may be it are named, and those that are surely weaker are not."""
    met: Met = {("a", "b"): EVEN, ("a", "c"): UP, ("b", "c"): UP}
    found = headline_of(met)
    assert found.top
    assert (found.order[0], found.top.rivals) == ("b", ["a"])
    said = [*found.sentences()]
    assert said[0] == "b is first, but not surely the strongest: a may be, too."
    assert said[1].startswith("Its lead over a is +")
    assert said[-1] == "Surely told apart: 1 of 2 neighbours."


def test_a_field_in_which_nothing_is_sure_says_so() -> None:
    """Any may be the strongest."""
    met: Met = {("a", "b"): EVEN, ("a", "c"): EVEN, ("b", "c"): EVEN}
    said = says(met)
    assert "not surely the strongest: any of the 3 may be." in said
    assert said.endswith("Surely told apart: none of 2 neighbours.")


def test_an_unbeaten_bot_has_a_lead_without_an_upper_end() -> None:
    """And no probability, which would be that of a field whose spread nobody knows."""
    found = headline_of({("a", "b"): (0, 0, 0, 0, 300)})
    assert found.top
    assert found.top.lead.high == math.inf
    low = round(found.top.lead.low)
    assert [*found.sentences()] == [f"a is stronger than b: at least {low} Elo."]


@pytest.mark.parametrize(("lost", "is_open"), [(1, True), (2, True), (3, False)])
def test_a_bot_that_is_hardly_ever_beaten_has_no_upper_end_either(lost: int, is_open: bool) -> None:
    """Three points of 200 say how strong it is at most, and fewer do not; of 20 any do."""
    found = headline_of({("a", "b"): (0, 0, lost, 0, 100 - lost)}).top
    assert found
    assert math.isinf(found.lead.high) == is_open
    few = headline_of({("a", "b"): (0, 0, 2, 0, 8)}).top
    assert few
    assert math.isfinite(few.lead.high)


def test_groups_that_never_met_have_no_strongest_bot() -> None:
    """They are named by their first bots."""
    said = says({("a", "b"): UP, ("d", "c"): UP[::-1]})
    assert said == "2 groups of bots never met, those of a and c: nobody is the strongest of all."


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], "No bot can be judged, so nobody is called the stronger one."),
        (["a"], "Only a can be judged, so nobody is called the stronger one."),
    ],
)
def test_one_bot_and_none_are_not_compared(labels: list[str], said: str) -> None:
    """Nothing is said of who is stronger."""
    field = Field([], [], labels)
    assert [*find_headline(field, make_superiority(field, labels)).sentences()] == [said]


def test_the_only_challenger_of_a_gauntlet_has_its_score() -> None:
    """148 + 98 of 396 points; where not all pairings have as many pairs there is none."""
    met: Met = {("a", "b"): UP, ("a", "c"): EVEN}
    found = headline_of(met, "a").share
    assert found
    assert (found.bot, found.opponents, found.share.value) == ("a", 2, 246 / 396)
    turned = headline_of({("b", "a"): UP[::-1], ("c", "a"): EVEN[::-1]}, "a").share
    assert turned
    assert turned.share == found.share
    assert headline_of(met | {("a", "c"): times(EVEN, 2)}, "a").share is None


HEADLINE = Headline(
    ["a", "b", "c"], Top("a", "b", Estimate(77.0, 61.4, 92.6), 0.99994, [], 1.0), [True] * 2, 4, 6
)


def test_a_headline_reads_as_a_person_would_say_it() -> None:
    """All of its parts."""
    assert " ".join(HEADLINE.sentences()) == (
        "a is the strongest: +77 Elo (61..93) over b, probability above 99.9 %. "
        "Surely told apart: all neighbours. Not as Elo says: 4 of 6 pairings."
    )
    goal = ["not resolved after 9 pairs, with 5 at most in a pairing:", "  x", "  y"]
    share = Share("c", 2, Estimate(0.5, 0.4, 0.6))
    more = replace(HEADLINE, goal=goal, left_out=["d"], share=share, misfits=0)
    assert [*more.sentences()] == [
        "c scores 50.0 % (40.0..60.0) of the points against 2 opponents.",
        "a is the strongest: +77 Elo (61..93) over b, probability above 99.9 %.",
        "Surely told apart: all neighbours.",
        "Not resolved after 9 pairs, with 5 at most in a pairing: x; y.",
        "Left out, because of faults in its games: d.",
    ]


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.lists(st.floats(-900, 900), min_size=3, max_size=3))
def test_a_lead_as_it_is_shown_says_no_more_than_its_interval(numbers: list[float]) -> None:
    """Its ends are in their order, and 0 is left out only where it is."""
    low, value, high = sorted(numbers)
    shown = write_lead(Estimate(value, low, high)).replace("(", "").replace(")", "")
    number, _, ends = shown.split(" ")
    first, last = (float(end) for end in ends.split(".."))
    assert first <= float(number) <= last
    assert (first > 0) <= (low > 0)
    assert (low > 0.005) <= (first > 0)


@pytest.mark.parametrize("pairs", range(1, 40))
def test_a_bot_that_is_told_apart_has_a_lead_above_zero(pairs: int) -> None:
    """With the fewest pairs that tell two bots apart, and with more."""
    top = headline_of({("a", "b"): (0, 0, 0, 0, pairs)}).top
    assert top
    assert top.rivals or top.lead.low > 0
    assert bool(top.rivals) == (pairs < 11)


def leader(growth: float | None, likely: float = 0.9) -> list[str]:
    """Return what is said of a first bot with a rival."""
    top = Top("a", "b", Estimate(9.0, -5.0, 23.0), likely, ["b"], growth)
    return [*replace(HEADLINE, top=top).sentences()]


def test_the_cost_of_an_answer_is_said_in_round_numbers() -> None:
    """More than a thousand times as many games are not counted."""
    for growth, words in ((1.02, "about 1.1"), (14.7, "about 15"), (1e4, "more than 1,000")):
        assert f", {words} times as many games tell these two apart." in leader(growth)[2]
    assert leader(None)[2].startswith("No number of games would tell")
    top = HEADLINE.top
    assert top
    goal = replace(HEADLINE, top=top._replace(rivals=["b"]), goal=["not resolved: x"])
    assert not any("as many games" in text for text in goal.sentences())


def test_a_probability_is_that_of_the_table() -> None:
    """With as many digits; a bot that is first by its label only is not said to be likelier."""
    assert leader(2.0, 0.8457)[1].endswith("probability 84.6 %.")
    assert leader(2.0, 0.9981)[1].endswith("probability 99.8 %.")
    assert leader(2.0, 0.391)[1] == "Its lead over b is +9 Elo (-5..23)."
    assert leader(2.0, 0.999)[1].endswith("probability 99.9 %.")
    assert leader(2.0, 0.9991)[1].endswith("probability above 99.9 %.")
    assert leader(2.0, math.nan)[1] == "Its lead over b is +9 Elo (-5..23)."


def check(case: Case, runs: int, most: float) -> None:
    """See that each kind of sentence is wrong in so many runs at most."""
    found = simulate(case, runs)
    assert found.said["lead"] == runs
    for kind in KINDS:
        assert found.wrong[kind] <= most * runs, kind


@pytest.mark.parametrize("number", [6, 16])
def test_headlines_are_seldom_wrong(number: int) -> None:
    """Few runs, with the truth known."""
    check(CASES[number], 20, 0.2)


def test_a_wrong_headline_is_seen_to_be_wrong() -> None:
    """What is said of three bots that are 300 apart, if the truth were the other way around."""
    case = Case("far", [0, 300, 600], 100)
    run = play(case, 1)
    assert judge(case, run) == dict.fromkeys(("apart", "strongest", "lead", PLAIN), False)
    turned = run._replace(elos={label: -elo for label, elo in run.elos.items()})
    assert judge(case, turned) == dict.fromkeys(("apart", "strongest", "lead", PLAIN), True)


@pytest.mark.study
@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.name}, {case.pairs}, {case.spread}"
)
def test_each_kind_of_sentence_is_wrong_in_one_run_of_twenty_at_most(case: Case) -> None:
    """1,000 runs each (bench/STUDIES.md)."""
    check(case, RUNS, 0.05)
