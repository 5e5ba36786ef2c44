"""Chunks cover every pair of every pairing once, and grow with the speed of the games."""

from __future__ import annotations

from arena.tournament.chunk import Chunk, Played
from arena.tournament.plan import Plan
from arena.tournament.schedule import round_robin
from arena.tournament.strikes import Strikes

PAIRINGS = round_robin("abc")
PAIRS = 1000


def chunks(seconds_per_pair: float) -> list[Chunk]:
    plan = Plan([[range(PAIRS)]] * 3, Strikes(PAIRINGS, PAIRS, most=10))
    planned = []
    while chunk := plan.next():
        planned.append(chunk)
        plan.learn(Played(chunk, [], {}, seconds_per_pair * chunk.pairs))
    return planned


def test_every_pair_is_in_one_chunk() -> None:
    """At any speed, from a microsecond to a minute for a pair."""
    for seconds in (1e-6, 1e-3, 0.1, 60.0):
        pairs = [
            (chunk.pairing, pair)
            for chunk in chunks(seconds)
            for pair in range(chunk.first, chunk.first + chunk.pairs)
        ]
        assert pairs == [(pairing, pair) for pairing in range(3) for pair in range(1000)]


def test_a_chunk_takes_a_fraction_of_a_second() -> None:
    """After the first chunk has shown the speed; a slow pair is a chunk of its own."""
    for seconds in (0.001, 0.01):
        sizes = [chunk.pairs for chunk in chunks(seconds) if chunk.first]
        assert 0.2 <= max(sizes) * seconds <= 1
    assert {chunk.pairs for chunk in chunks(5.0) if chunk.first} == {1}


def test_the_speed_of_a_pairing_is_that_of_one_pair() -> None:
    """At 1/16 s for a pair, a chunk of 0.3 s has four whole pairs, and so have all that follow."""
    assert [chunk.pairs for chunk in chunks(1 / 16)[:4]] == [1, 4, 4, 4]


def test_chunks_that_are_taken_back_come_first_in_the_schedules_order() -> None:
    """In whatever order they are taken back."""
    plan = Plan([[range(PAIRS)]] * 3, Strikes(PAIRINGS, PAIRS, most=10))
    first, second, third = plan.next(), plan.next(), plan.next()
    assert first
    assert second
    assert third
    plan.take_back([third, first])
    plan.take_back([second])
    assert [plan.next() for _ in range(3)] == [first, second, third]
    fourth = plan.next()
    assert fourth
    assert fourth.first == third.first + third.pairs


def test_a_round_of_one_pairing_has_work_for_many_workers() -> None:
    """It is cut into eight parts, but not into chunks of fewer than four pairs."""
    for pairs, sizes in ((80, [10] * 8), (10, [4, 4, 2])):
        plan = Plan([], Strikes(PAIRINGS, PAIRS, most=10))
        plan.learn(Played(Chunk(1, 0, 1), [], {}, 1e-6))  # they are fast
        plan.add([(1, range(100, 100 + pairs))], spread=True)
        planned = list(iter(plan.next, None))
        assert [chunk.pairs for chunk in planned] == sizes
        assert [chunk.first for chunk in planned] == [100 + n * sizes[0] for n in range(len(sizes))]


def test_a_plan_is_finished_when_all_that_was_given_out_has_been_played() -> None:
    """Not while a chunk is being played, or has come back unplayed."""
    plan = Plan([], Strikes(PAIRINGS, PAIRS, most=10))
    assert plan.is_finished
    plan.add([(0, range(4))], spread=True)
    assert not plan.is_finished
    first, second, *rest = iter(plan.next, None)
    plan.take_back([second])
    for chunk in [first, *rest]:
        plan.learn(Played(chunk, [], {}, 1.0))
    assert not plan.is_finished
    assert plan.next() == second
    assert not plan.is_finished
    plan.learn(Played(second, [], {}, 1.0))
    assert plan.is_finished


def test_only_wanted_pairings_are_given_out() -> None:
    """The others keep their place, also those that came back."""
    plan = Plan([[range(2)]] * 3, Strikes(PAIRINGS, PAIRS, most=10))
    odd = plan.next(lambda pairing: pairing == 1)
    assert odd is not None
    assert odd.pairing == 1
    plan.take_back([odd])
    assert [chunk.pairing for chunk in iter(lambda: plan.next(lambda n: n != 1), None)] == [
        0,
        0,
        2,
        2,
    ]
    assert [chunk.pairing for chunk in iter(plan.next, None)] == [1, 1]
