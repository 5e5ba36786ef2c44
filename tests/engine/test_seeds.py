"""Randomness has an address; the clock says what is left of a decision and of a game."""

from __future__ import annotations

import copy
import random
from itertools import combinations
from random import Random

import pytest

from engine.seeds import Step, address, digest, generator, noise, stream
from engine.state import random_deal
from engine.strategy import UNLIMITED, Clock, Spent

ADDRESSES: list[tuple[Step, ...]] = [
    *((), ("",), (0,), ("0",), (1,), ("1",), (-1,), (11,), (1, 1), ("1", 1), (1, "1")),
    *(((1, 1),), ((1,), 1), (1, (1,)), ("1, 1",), ("(1, 1)",), ("deal",), ("deal", 1)),
    *(("deal", "1"), ("deal1",), ("d", "eal1"), ("a", "b", 1), ("b", "a", 1), ("a'", "b")),
    *(("a", "'b"), ("é",), ("\\xe9",)),
]


def test_an_address_has_one_stream() -> None:
    """Whatever was drawn before; a word is not a number, and the order and the master count."""
    first = stream(7, "deal", "a", 3)
    drawn = [first.random() for _ in range(5)]
    stream(7, "deal", "a", 4).random()
    again = stream(7, "deal", "a", 3)
    assert [again.random() for _ in range(5)] == drawn
    for one, other in combinations(ADDRESSES, 2):
        first, second = address(7, *one), address(7, *other)
        assert digest(first) != digest(second), (one, other)
        assert noise(first, 8) != noise(second, 8), (one, other)
        assert stream(7, *one).random() != stream(7, *other).random(), (one, other)
    masters = [0, 1, -1, 7, 10, 2**64, 10**63]
    assert len({digest(address(master, "deal")) for master in masters}) == len(masters)
    assert len({digest(address(master)) for master in masters}) == len(masters)


def test_a_generator_equals_random_with_the_same_seed() -> None:
    """It has the same numbers, state and copies; gauss begins without a stored number."""
    for seed in (0, 1, 2**32, 2**128 - 1):
        ours, theirs = generator(seed), Random(seed)
        assert ours.getstate() == theirs.getstate()
        assert [ours.gauss(0, 1) for _ in range(3)] == [theirs.gauss(0, 1) for _ in range(3)]
        twin = copy.deepcopy(ours)
        assert ours.sample(range(99), 9) == theirs.sample(range(99), 9)
        assert twin.random() != ours.random()


def test_streams_do_not_touch_the_module_level_generator() -> None:
    """Drawing from one leaves `random` as it was, and seeding `random` changes no stream."""
    before = random.getstate()
    drawn = stream(0, "a").random()
    assert random.getstate() == before
    random.seed(5)
    assert stream(0, "a").random() == drawn
    random.setstate(before)


def test_a_shuffled_deal_holds_all_the_cards_each_anywhere() -> None:
    """In 3,000 deals a city is the first card 200 times on average; 5 sigma are 69."""
    first = sum(random_deal(stream(0, "deal", number))[0] == 10 for number in range(3000))
    assert abs(first - 200) < 69
    one, other = random_deal(Random(0)), random_deal(Random(1))
    assert sorted(one) == sorted(other)
    assert len(one) == 45
    assert one != other
    assert one == random_deal(Random(0))


class Time:
    """Stands for the computer's two clocks, in seconds: of the wall, and of the processor."""

    wall = 1000.0
    cpu = 50.0

    def work(self, seconds: float) -> None:
        """Let so much time pass in which the processor works."""
        self.wall += seconds
        self.cpu += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """Return the time that every clock reads."""
    time = Time()
    monkeypatch.setattr("engine.strategy.perf_counter", lambda: time.wall)
    monkeypatch.setattr("engine.strategy.process_time", lambda: time.cpu)
    return time


def worked(seconds: float) -> Spent:
    """Return the time of a decision in which the processor worked all the time."""
    return Spent(seconds, seconds)


@pytest.mark.parametrize(
    ("decision", "game", "limit"),
    [(None, None, None), (2.0, None, 2.0), (None, 8.0, 8.0), (2.0, 8.0, 2.0), (8.0, 2.0, 2.0)],
)
def test_the_first_decision_has_the_smaller_of_both_limits(
    decision: float | None, game: float | None, limit: float | None
) -> None:
    """None is no limit; before the decision has begun, all of its time is left."""
    clock = Clock(decision, game)
    assert (clock.limit(), clock.left()) == (limit, limit)


def test_a_clock_without_limits_counts_the_time_and_a_late_decision_is_not_counted() -> None:
    """Every decision is in time; a bot that asks for a limit gets None."""
    clock = Clock()
    assert clock.spend(worked(1e9))
    assert clock.spend(worked(0.5))
    assert clock.used == 1e9 + 0.5
    assert clock.left() is None
    clock = Clock(game=3.0)
    assert clock.spend(worked(1.0))
    assert not clock.spend(worked(2.5))
    assert clock.used == 1.0
    assert clock.spend(worked(2.0))
    assert clock.limit() == 0.0
    assert clock.spend(worked(0.0))
    assert not clock.spend(worked(0.001))
    assert (UNLIMITED.decision, UNLIMITED.game, UNLIMITED.left()) == (None, None, None)


def test_the_time_left_runs_down_in_a_decision_and_in_a_game(time: Time) -> None:
    """Half a second after the start 1.5 of 2 are left; of 8 in a game 1 after 3 and 4."""
    clock = Clock(decision=2.0)
    clock.start()
    assert clock.left() == 2.0
    time.work(0.5)
    assert clock.left() == 1.5
    time.work(2.5)
    assert clock.left() == -1.0
    assert clock.limit() == 2.0
    clock = Clock(decision=5.0, game=8.0)
    for seconds in (3.0, 4.0):
        clock.start()
        time.work(seconds)
        assert clock.stop() == (worked(seconds), True)
        time.work(100.0)  # between decisions no time is counted
    assert clock.used == 7.0
    assert clock.limit() == clock.left() == 1.0


def test_a_decision_that_takes_exactly_its_limit_is_in_time(time: Time) -> None:
    """A longer one is late; a clock that was not started has measured nothing."""
    clock = Clock(decision=2.0)
    clock.start()
    time.work(2.0)
    assert clock.stop() == (worked(2.0), True)
    clock.start()
    time.work(2.25)
    assert clock.stop() == (worked(2.25), False)
    clock = Clock(decision=2.0)
    assert clock.stop() == (worked(0.0), True)
    clock.start()
    time.work(1.0)
    assert clock.stop() == (worked(1.0), True)
    time.work(5.0)
    assert clock.left() == 2.0
    assert clock.stop() == (worked(0.0), True)


def test_the_processors_time_counts_and_the_walls_only_for_the_backstop(time: Time) -> None:
    """With threads, one second for three; work before a decision is charged to it."""
    clock = Clock(decision=2.0)
    clock.start()
    time.wall += 10.0
    time.cpu += 1.0
    assert clock.left() == 1.0
    assert clock.stop() == (Spent(10.0, 1.0), True)
    clock.start()
    time.wall += 1.0
    time.cpu += 3.0
    assert clock.left() == 1.0
    assert clock.stop() == (Spent(1.0, 3.0), True)
    assert clock.used == 2.0
    clock = Clock(2.0, 8.0, backstop=20.0, game_backstop=30.0)
    for seconds, left in ((20.0, 10.0), (9.0, 1.0)):
        clock.start()
        time.wall += seconds
        assert clock.stop()[1]
        assert clock.wall_limit() == left
    assert clock.used == 0.0
    assert not clock.spend(Spent(wall=1.5, cpu=0.0))
    assert not Clock(backstop=20.0).spend(Spent(wall=20.5, cpu=0.0))
    clock = Clock(decision=2.0)
    clock.start(limit=1.5)
    time.work(0.25)
    assert clock.left() == 1.25
    assert clock.spend(Spent(wall=0.25, cpu=0.25, before=1.75))
    assert not clock.spend(Spent(wall=0.25, cpu=0.25, before=2.0))
