"""The clock: the time left of a decision and of a game, with a time that the test sets."""

from __future__ import annotations

import pytest

from engine.strategy import UNLIMITED, Clock


class Time:
    """Stands for the computer's clock; `now` is in seconds."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """Return the time that every clock reads."""
    time = Time()
    monkeypatch.setattr("engine.strategy.perf_counter", time)
    return time


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


def test_a_clock_without_limits_still_counts_the_time() -> None:
    """Every decision is in time."""
    clock = Clock()
    assert clock.spend(1e9)
    assert clock.spend(0.5)
    assert clock.used == 1e9 + 0.5
    assert clock.left() is None


def test_the_time_left_runs_down_during_a_decision(time: Time) -> None:
    """Of two seconds, 1.5 are left half a second after the start, and -1 after three."""
    clock = Clock(decision=2.0)
    clock.start()
    assert clock.left() == 2.0
    time.now += 0.5
    assert clock.left() == 1.5
    time.now += 2.5
    assert clock.left() == -1.0
    assert clock.limit() == 2.0


def test_the_time_left_of_a_game_runs_down_from_decision_to_decision(time: Time) -> None:
    """Of eight seconds, three and four are used: one is left, though a decision may take five."""
    clock = Clock(decision=5.0, game=8.0)
    for seconds in (3.0, 4.0):
        clock.start()
        time.now += seconds
        assert clock.stop() == (seconds, True)
        time.now += 100.0  # between decisions no time is counted
    assert clock.used == 7.0
    assert clock.limit() == clock.left() == 1.0


def test_a_decision_that_takes_exactly_its_limit_is_in_time(time: Time) -> None:
    """A longer one is late."""
    clock = Clock(decision=2.0)
    clock.start()
    time.now += 2.0
    assert clock.stop() == (2.0, True)
    clock.start()
    time.now += 2.25
    assert clock.stop() == (2.25, False)


def test_a_late_decision_is_not_counted() -> None:
    """The time left of the game is the same before and after it."""
    clock = Clock(game=3.0)
    assert clock.spend(1.0)
    assert not clock.spend(2.5)
    assert clock.used == 1.0
    assert clock.spend(2.0)
    assert clock.limit() == 0.0
    assert clock.spend(0.0)
    assert not clock.spend(0.001)


def test_a_clock_that_was_not_started_has_measured_nothing(time: Time) -> None:
    """Nor has one that was stopped before."""
    clock = Clock(decision=2.0)
    assert clock.stop() == (0.0, True)
    clock.start()
    time.now += 1.0
    assert clock.stop() == (1.0, True)
    time.now += 5.0
    assert clock.left() == 2.0
    assert clock.stop() == (0.0, True)


def test_the_clock_of_a_setup_has_no_limit_unless_it_is_given_one() -> None:
    """A bot that asks it for a limit gets None."""
    assert (UNLIMITED.decision, UNLIMITED.game, UNLIMITED.left()) == (None, None, None)
