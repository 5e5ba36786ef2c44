"""Rounds that stop by themselves, as a function of counts."""

from __future__ import annotations

import pytest

from arena.statistics.counts import PairTotals
from arena.statistics.cycles import Field
from arena.statistics.two_bots import pair_scores
from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing, PairRange, gauntlet, round_robin
from arena.tournament.stop import Until
from arena.tournament.until_rounds import Narrowing, Standings, UntilRounds
from bench.studies.fields import Simulated
from bench.studies.newcomer import find_place

THREE = round_robin(["a", "b", "c"])  # a - b, a - c, b - c
EVEN: Counts = (10, 20, 40, 20, 10)
AHEAD: Counts = (2, 8, 20, 30, 40)


def resolved(pairings: list[Pairing], most: int = 1000, pairs: int = 100) -> UntilRounds:
    """Return rounds that go on until all neighbours are told apart."""
    return UntilRounds(pairings, pairs, Until("resolved", most))


def test_the_first_round_is_the_whole_schedule() -> None:
    """Whatever bots are strong."""
    assert resolved(THREE, pairs=7).next(0, {}, ()) == [PairRange(n, 0, 7) for n in range(3)]


FOUR = round_robin(["a", "b", "c", "d"])  # a - b, a - c, a - d, b - c, b - d, c - d


def test_pairs_go_to_all_pairings_of_neighbours_that_are_not_told_apart() -> None:
    """a and d are far from b and c, which are even: one pair for every two, but for a - d."""
    far: Counts = (0, 0, 0, 10, 90)
    counts: dict[int, Counts] = {0: far, 1: far, 2: far, 3: EVEN, 4: far, 5: far}
    ranges = resolved(FOUR).next(1, counts, ())
    assert {span.pairing for span in ranges} <= {0, 1, 3, 4, 5}
    assert PairRange(3, 100, 150) in ranges
    assert max(span.end for span in resolved(FOUR, most=120).next(1, counts, ())) == 120
    assert resolved(FOUR, most=100).next(1, counts, ()) == []
    counts = {0: AHEAD, 1: AHEAD, 2: EVEN}
    found = resolved(THREE).find_open(counts, ())
    assert [one[:2] for one in found] == [("b", "c")]


def test_nothing_is_played_when_all_are_told_apart() -> None:
    """The run is over, and nothing is open."""
    counts: dict[int, Counts] = {0: AHEAD, 1: AHEAD, 2: AHEAD}
    assert resolved(THREE).next(1, counts, ()) == []
    assert resolved(THREE).find_open(counts, ()) == []


def test_few_pairs_are_played_where_few_are_missing() -> None:
    """About half of the estimate."""
    counts: dict[int, Counts] = {0: AHEAD, 1: AHEAD, 2: (7, 14, 34, 27, 18)}
    [(_, _, further)] = resolved(THREE).find_open(counts, ())
    assert further is not None
    given = sum(span.end - span.first for span in resolved(THREE).next(1, counts, ()))
    assert 0.3 * further < given < 0.7 * further


def test_neighbours_that_cannot_meet_play_the_panel() -> None:
    """In a gauntlet of a and b against p, q and r: both play, unless it cannot help."""
    pairings = gauntlet(["a", "b"], ["p", "q", "r"])
    good: Counts = (0, 1, 5, 6, 8)
    counts: dict[int, Counts] = dict(enumerate([good] * 3 + [good[::-1]] * 3))
    ranges = resolved(pairings, pairs=20).next(1, counts, ())
    assert ranges
    assert all(span.first == 20 for span in ranges)
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
def test_one_sided_pairs_stop_at_the_most(target: str | float, five: Counts) -> None:
    """All won, all even, all lost: every round has pairs, and there is a last one."""
    rounds = UntilRounds(THREE, 3, Until(target, 40))  # type: ignore[arg-type]
    counts = dict.fromkeys(range(3), five)
    for number in range(1, 100):
        ranges = rounds.next(number, counts, ())
        if not ranges:
            break
        for pairing, first, end in ranges:
            assert sum(counts[pairing]) == first < end <= 40
            first_, second, third, fourth, fifth = (round(end * c / 3) for c in five)
            counts[pairing] = first_, second, third, fourth, fifth
    else:
        raise AssertionError("no end")
    for one in rounds.find_open(counts, ()):
        assert one.further_pairs is None or one.further_pairs > 0


def test_a_narrowing_gives_what_the_fit_then_needs() -> None:
    """With the pairs that it gives, a variance is that part of before; and with no fewer.

    The scores are even, so that the fit stays where it is.
    """
    counts: dict[int, Counts] = dict.fromkeys(range(3), (125, 0, 250, 0, 125))
    standings = Standings(THREE, counts, ())
    narrowing = Narrowing(standings, dict.fromkeys(range(3), 10_000))
    contrast = standings.contrast(0, 1)
    wanted = narrowing.count_wanted(contrast, range(3), 1.2)
    assert narrowing.narrow(contrast, range(3), 1.2) == wanted == narrowing.given.total()
    assert narrowing.given[0] > 2 * narrowing.given[1]  # their own pairs say twice as much
    assert narrowing.narrow(contrast, range(3), 1.2) == 0
    more = {n: 500 + narrowing.given[n] for n in range(3)}
    later = Standings(THREE, {n: (k / 4, 0, k / 2, 0, k / 4) for n, k in more.items()}, ())  # type: ignore[misc]
    fell = (standings.fit.gap_errors[0, 1] / later.fit.gap_errors[0, 1]) ** 2
    assert fell == pytest.approx(1.2, rel=0.01)


def test_half_widths_are_those_of_the_standings() -> None:
    """But for what the likelihood ratio adds on one side and takes off on the other."""
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
    """All half widths are at most 25 Elo, and the widest is not far below."""
    elos = {"a": 1700.0, "b": 1500.0, "c": 1450.0, "d": 1100.0}
    pairings = round_robin([*elos])
    rounds = UntilRounds(pairings, 20, Until(25.0, 5000))
    *_, counts = Simulated(elos, 2).rounds(rounds, pairings)
    assert rounds.find_open(counts, ()) == []
    standings = Standings(pairings, counts, ())
    widths = standings.half_widths()
    assert 22 < max(widths) <= 25
    wide = UntilRounds(pairings, 20, Until(12.0, 5000)).find_open(counts, ())
    assert {one.bot for one in wide} == {*elos}
    assert all(one.opponent is None for one in wide)


@pytest.mark.slow
def test_a_newcomer_finds_its_place_with_fewer_pairs() -> None:
    """Than it could cost: three ladders; bench/STUDIES.md has all its pairings in turn."""
    costs = [find_place(1300.0, run) for run in range(3)]
    assert all(cost.right for two in costs for cost in two)
    assert sum(cost.pairs for cost, _ in costs) < 3 * 1000


@pytest.mark.study
@pytest.mark.parametrize("elo", [1300.0, 1400.0])
def test_a_newcomer_finds_its_place_with_fewer_pairs_in_many_ladders(elo: float) -> None:
    """40 simulated ladders."""
    costs = [find_place(elo, run) for run in range(40)]
    assert sum(not cost.right for two in costs for cost in two) <= 4
    assert sum(cost.pairs for cost, _ in costs) < 0.9 * sum(cost.pairs for _, cost in costs)
