"""Timings: decisions are counted in buckets, timings are merged, and have quantiles."""

from __future__ import annotations

import pytest

from arena.lanes.limits import Limits
from arena.tournament.timing import Clocks, Distribution, Pace, Timing
from engine.strategy import Spent


def timing_of(*decisions: float) -> Distribution:
    """Return the times of decisions that took these seconds."""
    timing = Distribution()
    for seconds in decisions:
        timing.add(seconds)
    return timing


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1.0, 60.0])
@pytest.mark.parametrize(("share", "rank"), [(0.5, 50), (0.9, 90), (0.99, 99)])
def test_a_quantile_is_at_most_4_5_percent_too_high(unit: float, share: float, rank: int) -> None:
    """Of 1, 2, ... 100 units, rank 50 is 50 units; the answer is that or up to 4.5 % more.

    The upper end of a bucket is 2 ** (1/16) = 1.0443 times the lower one.
    """
    timing = timing_of(*(number * unit for number in range(100, 0, -1)))
    exact = rank * unit
    assert exact <= timing.quantile(share) <= exact * 1.045


def test_a_quantile_is_not_exceeded_by_its_share_of_the_decisions() -> None:
    """Two of four decisions took a quarter of a second, the other two took 4 s."""
    timing = timing_of(0.25, 0.25, 4.0, 4.0)
    assert 0.25 <= timing.quantile(0.5) <= 0.25 * 1.045
    assert timing.quantile(0.51) == 4.0


def test_no_quantile_is_above_the_longest_decision() -> None:
    """The upper end of its bucket is, but is not returned."""
    assert timing_of(0.1, 0.3).quantile(0.99) == 0.3


def test_a_timing_without_time_or_decisions_has_zeros() -> None:
    """A clock can be too coarse for a decision, and a bot may never be asked."""
    for timing in (timing_of(), timing_of(0.0)):
        assert (timing.mean, timing.longest, timing.quantile(0.99)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ([0.5, 0.25], [2.0, 0.125, 0.125]),
        ([2.0, 0.125], [0.5, 0.25, 0.125]),  # the longest is our own
        ([], [2.0, 0.5, 0.25, 0.125, 0.125]),
        ([2.0, 0.5, 0.25, 0.125, 0.125], []),
    ],
)
def test_merged_timings_are_those_of_all_decisions(mine: list[float], theirs: list[float]) -> None:
    """Decisions, total, longest and quantiles; what was merged stays as it was."""
    timing, other = timing_of(*mine), timing_of(*theirs)
    timing.merge(other)
    assert timing.count == 5
    assert timing.total == 3.0
    assert timing.mean == 0.6
    assert timing.longest == 2.0
    for share, exact in ((0.3, 0.125), (0.5, 0.25), (0.7, 0.5), (0.9, 2.0)):
        assert exact <= timing.quantile(share) <= exact * 1.045
    assert (other.count, other.total) == (len(theirs), sum(theirs))


def test_a_timing_keeps_both_clocks_apart() -> None:
    """What the processor did before the decision counts as its time too."""
    timing, other = Timing(), Timing()
    timing.add(Spent(wall=2.0, cpu=0.5))
    other.add(Spent(wall=1.0, cpu=0.25, before=0.25))
    timing.merge(other)
    assert timing.decisions == 2
    assert (timing.wall.total, timing.wall.longest) == (3.0, 2.0)
    assert (timing.cpu.total, timing.cpu.longest) == (1.0, 0.5)


def pace_of(count: int, seconds: float) -> Pace:
    """Return what is known of a bot that has made so many decisions, each in so long."""
    timing = Timing()
    for _ in range(count):
        timing.add(Spent(seconds, seconds))
    pace = Pace(["bot", "new"], (), Limits(), 52)
    pace.learn({"bot": timing})
    return pace


@pytest.mark.parametrize(
    ("count", "seconds", "timed"),
    [(200, 1e-5, False), (50, 1e-5, True), (200, 1e-3, True), (0, 0.0, True)],
)
def test_only_the_decisions_of_a_cheap_bot_that_is_known_are_not_timed(
    count: int, seconds: float, timed: bool
) -> None:
    """Those of one game in 64 are, whatever the bot; of two bots both must be cheap and known."""
    pace = pace_of(count, seconds)
    assert [pace.needs_no_clock(["bot"]) for _ in range(128)] == ([not timed] * 63 + [False]) * 2
    assert not pace.needs_no_clock(["bot", "new"])


def test_after_a_game_that_took_long_only_some_are_timed() -> None:
    """A machine that stalls does not slow the rest of a run; each time they are four times more."""
    pace = pace_of(200, 1e-5)
    for timed in (64, 256, 1024):
        assert pace.needs_no_clock(["bot"])
        pace.watch(["bot"])
        assert not any(pace.needs_no_clock(["bot"]) for _ in range(timed))


def test_the_time_of_a_slow_bot_is_that_of_its_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """It had a clock in all its games; a program has none in ours."""
    children = iter((0.0, 1.0, 1.0))
    monkeypatch.setattr("os.times", lambda: (0.0, 0.0, next(children), 0.0, 0.0))
    clocks, timings = Clocks(), {"slow": Timing(), "program": Timing()}
    timings["slow"].add(Spent(wall=2e-3, cpu=2e-3))
    timings["program"].add(Spent(wall=1e-3, cpu=1e-3, before=1e-3))
    clocks.add(timings, 200)
    clocks.end_play()
    assert clocks.read(timings).bots == pytest.approx(100 * 2e-3 + 100 * 2e-3)
