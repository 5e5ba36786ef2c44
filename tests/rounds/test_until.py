"""Rounds that stop by themselves, as a function of counts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from arena.rounds.base import Counts
from arena.rounds.narrowing import Narrowing
from arena.rounds.standings import Standings
from arena.rounds.until import UntilRounds
from arena.statistics.ratings import Fit, PairScores
from arena.tournament.leg import Leg
from arena.tournament.schedule import Pairing, gauntlet, round_robin
from arena.tournament.stop import Until
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
    assert resolved(THREE, pairs=7).next(0, {}, ()) == [Leg(n, 0, 7) for n in range(3)]


def test_pairs_go_to_neighbours_that_are_not_told_apart() -> None:
    """a is far ahead of b and c, which are even: at most one pair for every two."""
    counts: dict[int, Counts] = {0: AHEAD, 1: AHEAD, 2: EVEN}
    assert resolved(THREE).next(1, counts, ()) == [Leg(2, 100, 150)]
    assert resolved(THREE, most=120).next(1, counts, ()) == [Leg(2, 100, 120)]
    assert resolved(THREE, most=100).next(1, counts, ()) == []
    found = resolved(THREE).find_open(counts, ())
    assert [one[:2] for one in found] == [("b", "c")]


def test_nothing_is_played_when_all_are_told_apart() -> None:
    """The run is over, and nothing is open."""
    counts: dict[int, Counts] = {0: AHEAD, 1: AHEAD, 2: AHEAD}
    assert resolved(THREE).next(1, counts, ()) == []
    assert resolved(THREE).find_open(counts, ()) == []


def test_few_pairs_are_played_where_few_are_missing() -> None:
    """Half of the estimate, and a quarter of the first round at least."""
    counts: dict[int, Counts] = {0: AHEAD, 1: AHEAD, 2: (6, 16, 38, 25, 15)}
    [(_, _, further)] = resolved(THREE).find_open(counts, ())
    assert further is not None
    [leg] = resolved(THREE).next(1, counts, ())
    assert leg.end - leg.first == min(50, max(25, further // 2))


def test_neighbours_that_cannot_meet_play_the_panel() -> None:
    """In a gauntlet of a and b against p and q: both play, most of all the even p."""
    pairings = gauntlet(["a", "b"], ["p", "q"])
    rounds = resolved(pairings)
    counts: dict[int, Counts] = {0: EVEN, 1: (0, 0, 0, 0, 100), 2: EVEN, 3: (0, 0, 0, 0, 100)}
    first = rounds.next(1, counts, ())
    assert {leg.pairing for leg in first} >= {0, 2}
    assert all(leg.first == 100 for leg in first)
    played = {leg.pairing: leg.end - leg.first for leg in first}
    assert played[0] > played.get(1, 0)


def test_bots_that_are_out_are_left_out() -> None:
    """They get no pairs and nobody is compared with them; with one bot left the run is over."""
    counts: dict[int, Counts] = {0: EVEN, 1: EVEN, 2: EVEN}
    assert [leg.pairing for leg in resolved(THREE).next(1, counts, ["a"])] == [2]
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
        legs = rounds.next(number, counts, ())
        if not legs:
            break
        for pairing, first, end in legs:
            assert sum(counts[pairing]) == first < end <= 40
            first_, second, third, fourth, fifth = (round(end * c / 3) for c in five)
            counts[pairing] = first_, second, third, fourth, fifth
    else:
        raise AssertionError("no end")
    for one in rounds.find_open(counts, ()):
        assert one.further_pairs is None or one.further_pairs > 0


def test_a_narrowing_knows_what_the_fit_will_know() -> None:
    """After the pairs that it gives, the covariance is that of a fit with those pairs.

    The scores are even, so that the fit stays where it is.
    """
    counts: dict[int, Counts] = {0: (0, 0, 5000, 0, 0), 1: (0, 0, 3000, 0, 0)}
    standings = Standings(THREE, counts, ())
    narrowing = Narrowing(standings, {0: 900, 1: 0, 2: 2000})
    assert narrowing.spend(standings.contrast(2), [0, 1, 2], 1500, 100) == 1500
    assert narrowing.given == {2: 1500}
    later = Standings(THREE, counts | {2: (0, 0, 1500, 0, 0)}, ())
    assert narrowing.single == pytest.approx(later.single, rel=1e-3, abs=1e-9)


def test_half_widths_are_those_of_the_standings() -> None:
    """1.96 standard errors of the fit, in Elo points."""
    counts: dict[int, Counts] = {0: AHEAD, 1: EVEN, 2: EVEN}
    standings = Standings(THREE, counts, ())
    ratings = Fit(3, _scores(counts)).ratings()
    halves = [(rating.high - rating.low) / 2 for rating in ratings]
    assert standings.half_widths(standings.single) == pytest.approx(halves)
    anchored = Standings(THREE, counts, (), "b")
    ratings = Fit(3, _scores(counts)).ratings((1, 1239.0))
    halves = [(rating.high - rating.low) / 2 for rating in ratings]
    assert halves[1] == 0
    assert anchored.half_widths(anchored.single) == pytest.approx(halves)


def _scores(counts: Mapping[int, Counts]) -> list[PairScores]:
    """Return the sums, added up score by score."""
    numbers = {"a": 0, "b": 1, "c": 2}
    rows = []
    for number, five in counts.items():
        bot, opponent = (numbers[label] for label in THREE[number])
        total = sum(score / 2 * count for score, count in enumerate(five))
        squares = sum((score / 2) ** 2 * count for score, count in enumerate(five))
        rows.append(PairScores(bot, opponent, sum(five), total, squares))
    return rows


def test_a_target_width_is_reached_and_hardly_passed() -> None:
    """All half widths are at most 25 Elo, and the widest is not far below."""
    elos = {"a": 1700.0, "b": 1500.0, "c": 1450.0, "d": 1100.0}
    pairings = round_robin([*elos])
    rounds = UntilRounds(pairings, 20, Until(25.0, 5000))
    *_, counts = Simulated(elos, 2).rounds(rounds, pairings)
    assert rounds.find_open(counts, ()) == []
    standings = Standings(pairings, counts, ())
    widths = standings.half_widths(standings.single)
    assert 22 < max(widths) <= 25
    wide = UntilRounds(pairings, 20, Until(12.0, 5000)).find_open(counts, ())
    assert {one.bot for one in wide} == {*elos}
    assert all(one.opponent is None for one in wide)


def test_a_newcomer_finds_its_place_with_fewer_pairs() -> None:
    """Than with all its pairings in turn: five simulated ladders, as in bench/STUDIES.md."""
    costs = [find_place(1300.0, run) for run in range(3)]
    assert all(cost.right for two in costs for cost in two)
    assert sum(cost.pairs for cost, _ in costs) < 0.75 * sum(cost.pairs for _, cost in costs)


@pytest.mark.study
@pytest.mark.parametrize("elo", [1300.0, 1400.0])
def test_a_newcomer_finds_its_place_with_two_thirds_of_the_pairs(elo: float) -> None:
    """40 simulated ladders."""
    costs = [find_place(elo, run) for run in range(40)]
    assert sum(not cost.right for two in costs for cost in two) <= 4
    assert sum(cost.pairs for cost, _ in costs) < 0.69 * sum(cost.pairs for _, cost in costs)
