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
