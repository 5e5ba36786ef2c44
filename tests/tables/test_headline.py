"""The headline of a run: its sentences, and how often each kind of them is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.differences.run_files import RunTables
from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.intervals import Estimate
from arena.statistics.two_bots import pair_scores
from arena.statistics.verdicts import Verdict
from arena.tables import headline
from arena.tables.headline import Headline, Share, Top, find_headline, write_lead
from arena.tournament.schedule import Pairing
from tests.reports.runs import cup, make_store

Met = Mapping[tuple[str, str], tuple[int, int, int, int, int]]

UP = (10, 0, 30, 0, 59)
"""99 pairs and one of credit: 149 of 200 points. The gap is 400 log10(149 / 51) = 186.2 Elo."""
EVEN = (25, 0, 50, 0, 24)
"""99 of 200 points: a gap of -3.5 Elo."""


def field_of(met: Met) -> Field:
    """Return the field of bots that met in these pairs, by the score of the first of two."""
    labels = [*dict.fromkeys(label for two in met for label in two)]
    totals = [
        PairTotals(number, *pair_scores(0, 1, five)[2:], five)
        for number, five in enumerate(met.values())
    ]
    return Field([Pairing(*two) for two in met], totals, labels)


def headline_of(met: Met, challenger: str | None = None) -> Headline:
    return find_headline(field_of(met), challenger=challenger)


def sentences(met: Met) -> list[str]:
    return [*headline_of(met).sentences()]


def test_the_stronger_one_is_named_with_its_lead() -> None:
    """As it is apart, probable or open; the probability is never said to be 1."""
    said, lead = sentences({("a", "b"): UP})
    assert said == "a is stronger than b."
    assert lead.startswith("a leads b by +186 Elo (")
    assert lead.endswith("..246), probability above 99.9 %.")
    said, lead = sentences({("a", "b"): (2, 0, 20, 0, 9)})
    assert said == "a is probably stronger than b, but not surely."
    assert lead.startswith("a leads b by +77 Elo (")
    said, lead = sentences({("a", "b"): EVEN})
    assert said == "b and a are not told apart."
    assert lead.startswith("b leads a by +4 Elo (-")
    met: Met = {("a", "b"): UP, ("a", "c"): UP, ("b", "c"): EVEN}
    found = headline_of(met)
    assert (found.order[0], found.top.apart, [*found.apart]) == ("a", True, [True, False])
    first, second, third = found.sentences()
    lead = write_lead(Estimate(*found.top.verdict[:3]))
    assert first == "a is the strongest, told apart from both others."
    assert second == f"a leads c by {lead}, probability above 99.9 %."
    assert third == "Apart: 1 of 2 neighbours."


def test_a_first_bot_with_rivals_is_not_called_the_strongest() -> None:
    met: Met = {("a", "b"): EVEN, ("a", "c"): UP, ("b", "c"): UP}
    found = headline_of(met)
    assert (found.order[0], found.top.rivals) == ("b", ["a"])
    said = [*found.sentences()]
    chance = f"{100 * round(found.top.chance, 3):.1f} %"
    assert 0.5 < found.top.chance < 0.6
    assert said[0] == "b is first, but not told apart from a; the top two are told apart from c."
    assert said[1] == f"b is the strongest with a probability of {chance}: a may be, too."
    assert said[2].startswith("b leads a by +")
    assert said[-1] == "Apart: 1 of 2 neighbours."
    close = (20, 0, 50, 0, 29)  # of a field in which two lead, the third leans behind them
    met = {("a", "b"): EVEN, ("a", "c"): close, ("b", "c"): close}
    rivals = headline_of(met | {("d", other): UP[::-1] for other in "abc"}).top.rivals
    assert (rivals[0], "d" in rivals) == ("a", False)
    met = {("a", "b"): (10, 0, 20, 0, 10), ("a", "c"): UP, ("b", "c"): UP}  # a lead of 0
    shared = " share the first rank; the top two are told apart from c."
    assert headline_of(met).sentence().endswith(shared)


def test_the_bot_with_the_highest_rating_need_not_be_the_likeliest_first() -> None:
    """It has played a twentieth of the pairs, in a second list: both are named, with the reason."""
    known = {("a", "b"): (65, 0, 109, 0, 26), ("a", "c"): (37, 0, 117, 0, 46)}
    known |= {("b", "c"): (18, 0, 107, 0, 75)}
    joined = {("c", "d"): (4, 0, 5, 0, 1), ("c", "e"): (4, 0, 4, 0, 2), ("d", "e"): (4, 0, 4, 0, 2)}
    found = headline_of(known | joined)
    assert found.order[:2] == ["e", "b"]
    said = [*found.sentences()][1]
    assert said == (
        "b is the strongest with a probability of 47.5 %, e with one of 35.2 %: the rating of e is "
        "less precise."
    )


def test_an_unbeaten_bot_has_a_lead_without_an_upper_end() -> None:
    """It is apart after six pairs; of two with the same results none is rated less precisely."""
    # Their chances to be the strongest are drawn, and differ in the last digit.
    met: Met = {("a", "b"): (0, 0, 0, 0, 1), ("b", "c"): (1, 0, 0, 0, 0)}
    shared, said, *_ = headline_of(met).sentences()
    assert shared == "a and c share the first rank."
    assert said == "a is the strongest with a probability of 37.0 %: c and b may be, too."
    probable, sure = "a is probably stronger than b, but not surely.", "a is stronger than b."
    for pairs, said in ((4, probable), (6, sure)):
        found = headline_of({("a", "b"): (0, 0, 0, 0, pairs)})
        assert found.top.verdict.high == math.inf
        assert " ".join(found.sentences()).startswith(f"{said} a leads b by at least")


def test_groups_that_never_met_one_bot_and_none_have_no_strongest_bot() -> None:
    """Groups are named by their first ones."""
    assert sentences({("a", "b"): UP, ("d", "c"): UP[::-1]}) == [
        "2 groups of bots never met, those of a and c: nobody is the strongest of all."
    ]
    for labels, who in ([], "No bot"), (["a"], "Only a"):
        said = f"{who} can be judged, so nobody is called the stronger one."
        assert [*find_headline(Field([], [], labels)).sentences()] == [said]


def test_the_only_challenger_of_a_gauntlet_has_its_score() -> None:
    """148 + 98 of 396 points; where not all pairings have as many pairs there is none."""
    met: Met = {("a", "b"): UP, ("a", "c"): EVEN}
    found = headline_of(met, "a").share
    assert (found.bot, found.opponents, found.share.value) == ("a", 2, 246 / 396)
    turned = headline_of({("b", "a"): UP[::-1], ("c", "a"): EVEN[::-1]}, "a").share
    assert turned.share == found.share
    twice = tuple(round(2 * number) for number in EVEN)
    assert headline_of(met | {("a", "c"): twice}, "a").share is None
    for panel, challenger in ((2, "x"), (0, "")):
        run = cup(["x", "y", "z"], 3, panel=panel)
        share = headline.headline_of(run, RunTables(run, make_store(run)), finished=True).share
        assert (share.bot if share else "") == challenger


LEAD = Verdict(77.0, 61.4, 92.6, 0.99994, "apart")
TOP = Top("a", "b", LEAD, 0.9999, [], True)
HEADLINE = Headline(["a", "b", "c"], TOP, [True] * 2, 4, 6, ahead=1)


def test_a_headline_reads_as_a_person_would_say_it() -> None:
    lead = "a leads b by +77 Elo (61..93), probability above 99.9 %."
    strongest = "a is the strongest, told apart from both others."
    assert " ".join(HEADLINE.sentences()) == (
        f"{strongest} {lead} Apart: all neighbours. Elo does not explain 4 of 6 pairings."
    )
    goal = ["not resolved after 9 pairs, with 5 at most in a pairing:", "  x", "  y"]
    share = Share("c", 2, Estimate(0.5, 0.4, 0.6))
    more = replace(HEADLINE, goal=goal, left_out=["d"], share=share, misfits=0)
    assert [*more.sentences()] == [
        "c scores 50.0 % (40.0..60.0) of the points against 2 opponents.",
        strongest,
        lead,
        "Apart: all neighbours.",
        "Not resolved after 9 pairs, with 5 at most in a pairing: x; y.",
        "Left out, because of faults in its games: d.",
    ]
    open_still = [*replace(HEADLINE, goal=[*goal, "  z", "  v", "  w"]).sentences()][3]
    assert open_still.endswith(" in a pairing: x; y; z; and 2 more.")


@pytest.mark.slow
@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.lists(st.floats(-900, 900), min_size=3, max_size=3))
def test_a_lead_as_it_is_shown_says_no_more_than_its_interval(numbers: list[float]) -> None:
    """Its ends are in their order, and 0 is left out only where it is."""
    low, value, high = sorted(numbers)
    number, _, ends = write_lead(Estimate(value, low, high)).split(" ")
    first, last = map(float, ends.strip("()").split(".."))
    assert first <= float(number) <= last
    assert (first > 0) <= (low > 0)
    assert (low > 0.005) <= (first > 0)
