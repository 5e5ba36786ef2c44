"""Each item of a report says what is so: also what a bot keeps, and the rating that ends it."""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from arena.check import traces, trial
from arena.check.inspector import Inspection
from arena.check.item import NAMES, Growth, Item, Order, check_growth, fail, to_data
from arena.check.sparring import VARIANTS, Candidate, Climb, Sparring
from arena.check.supervisor import _complete
from arena.check.traces import check_memory, check_time
from arena.entries.catalogue import ELO
from arena.entries.resolve import resolve
from arena.lanes.cleanup import children
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.lanes.meter import Held
from arena.tournament.timing import Timing
from bench.studies import guess
from engine.strategy import Spent
from tests.rogues import FOLDER, rogue, write
from tests.runs.test_rogues import NO_JAIL

FIRST = "    def choose(self, view, /):\n        return view.legal[0]"
DOUBTFUL = """    def choose(self, view, /):
        import random, sys
        open("litter", "w").close()
        random.random()
        frame = sys._getframe()
        while frame is not None:
            for value in frame.f_locals.values():
                if type(value).__name__ == "State":
                    return view.legal[value.hands[view.opponent] % 997 % len(view.legal)]
            frame = frame.f_back
        return view.legal[0]"""
"""It plays by the hidden hand where it finds it, draws from a shared generator and litters."""


def inspect(folder: Path, body: str) -> dict[str, Item]:
    """Return the report of a bot with this method, by the names of the items."""
    path = write(folder, "checked", body)
    entry = resolve(str(path), lane="process")
    candidate = Candidate(entry, Limits(), 0, folder, lambda: None)
    inspection = Inspection(candidate, Order(str(path), "process", games=4), lambda _: None)
    others = set(children())  # which other tests have left here, such as those of a browser
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces, "children", lambda: [*(set(children()) - others)])
        found = {item.name: item for item in inspection.items()}
    assert not any(found[name].command for name in found if found[name].status == "ok")
    return found


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Item]:
    """Return the report of a bot that takes the first legal action."""
    return inspect(tmp_path_factory.mktemp("honest"), FIRST)


def test_an_honest_bot_has_no_fault_in_any_item(honest: dict[str, Item]) -> None:
    """All are tried but the growth, which needs more games; the order is that of the report."""
    order = [name for name in honest if not name.startswith("lane ")]
    assert order == [name for name in NAMES if not name.startswith("lane ")]
    assert set(honest) == set(NAMES)
    untried = {"growth", "lane jail"} if NO_JAIL else {"growth"}
    assert {name for name, item in honest.items() if item.status != "ok"} == untried
    assert {honest[name].status for name in untried} == {"none"}


def test_each_item_says_what_was_tried(honest: dict[str, Item]) -> None:
    """Its number stands in the line and in the figures."""
    lanes = "inproc, process" if NO_JAIL else "inproc, jail, process"
    lines = {
        "binds bot": "to something that can be called",
        "parameters": "needs none",
        "lane inproc": "4 games: no fault",
        "lane process": "4 games: no fault",
        "lanes agree": f"the same 4 games in {lanes}",
        "same seed": "the same moves in 4 games, played twice, in another order",
        "rules variants": f"all {len(VARIANTS)}: no fault",
        "hidden cards": "8 decisions asked again: the same answers",
        "global random": "not touched",
        "leaves nothing": "no process, no file, no output",
        "size": "8 lines, 131 bytes",
    }
    assert {name: honest[name].message for name in lines} == lines
    assert honest["lane process"].figures == honest["lane inproc"].figures == {"games": 4}
    assert honest["leaves nothing"].figures == {"processes": 0, "files": 0, "output_bytes": 0}
    assert honest["size"].figures == {"lines": 8, "bytes": 131}
    rating = honest["rating"].figures
    assert sum(one["games"] for one in rating["against"].values()) == rating["games"] == 8
    assert rating["low"] < rating["elo"] < rating["high"]
    assert 1 < honest["memory"].figures["peak_mb"] < 200
    assert honest["time"].figures["decisions"] > 50


@pytest.mark.slow
def test_what_is_not_so_is_a_failure_with_its_kind(tmp_path: Path) -> None:
    """Four items have failed, the others not, and there is no rating of such a bot."""
    found = inspect(tmp_path, DOUBTFUL)
    failed = {name: item for name, item in found.items() if item.status == "fail"}
    kinds = {name: item.kind for name, item in failed.items()}
    assert kinds == {
        "lanes agree": "differs",
        "hidden cards": "hidden",
        "global random": "random",
        "leaves nothing": "",
    }
    assert failed["lanes agree"].message.startswith("other moves in the lane inproc from ply ")
    hidden = r"plays . at ply \d+ where it played .: only cards it cannot see were different"
    assert re.fullmatch(hidden, failed["hidden cards"].message)
    for name in ("lanes agree", "hidden cards"):
        assert failed[name].command.startswith("arena game ")
    assert failed["global random"].message.startswith("the generator of random is seeded or drawn")
    assert failed["leaves nothing"].message == "leaves files: litter"
    assert found["same seed"].status == "ok"
    assert "rating" not in found


@pytest.mark.parametrize(
    ("longest", "status", "message"),
    [
        (0.0004, "ok", "median 0.0001 ms, 99 % 0.4 ms, longest 0.4 ms per decision"),
        (0.9, "ok", "median 0.0001 ms, 99 % 0.9 s, longest 0.9 s per decision"),
        (1.1, "warn", "median 0.0001 ms, 99 % 1.1 s, longest 1.1 s per decision; the limit is 2 s"),
    ],
)
def test_a_decision_of_more_than_half_the_limit_is_a_warning(
    tmp_path: Path, longest: float, status: str, message: str
) -> None:
    """Of 50 decisions one is long: it is the longest, and with the 99 % the slowest."""
    timing = Timing()
    for seconds in (*[1e-7] * 49, longest):
        timing.add(Spent(wall=9.0, cpu=seconds, before=0.0))
    candidate = Candidate(resolve("greedy"), Limits(decision=2.0), 0, tmp_path, lambda: None)
    item = check_time(SimpleNamespace(timing=timing, candidate=candidate))  # type: ignore[arg-type]
    assert (item.name, item.status, item.message) == ("time", status, message)
    assert item.figures["decisions"] == 50
    assert item.figures["max"] == longest


@pytest.mark.parametrize(("limit", "status"), [(4, "warn"), (1 << 20, "ok")])
def test_memory_is_the_peak_of_a_bots_processes(tmp_path: Path, limit: int, status: str) -> None:
    """Here of this process; a bot that has ended is not asked, and no limit is half used."""
    candidate = Candidate(resolve("greedy"), Limits(memory=limit), 0, tmp_path, lambda: None)
    bots = [SimpleNamespace(pid=None), SimpleNamespace(pid=os.getpid())]
    sparring: Any = SimpleNamespace(bots=bots, candidate=candidate)
    item = check_memory(sparring)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert (item.name, item.status) == ("memory", status)
    assert item.figures["peak_mb"] == pytest.approx(peak, rel=0.2)
    assert item.message == f"{item.figures['peak_mb']:.0f} MB at most, of {limit} MB"
    sparring.bots.pop()
    assert check_memory(sparring).status == "none"


def test_a_failure_shows_the_end_of_its_traceback_and_output() -> None:
    """Three lines of each, without those that the message has; no message is no answer in time."""
    fault = Fault("exception", "ValueError: no", "1\n2\n3\n4\nValueError: no", "a\nb\nc\nd\n")
    item = fail("lane process", fault, "at ply 3 against greedy", "arena game x greedy")
    assert to_data(item) == {
        "name": "lane process",
        "status": "fail",
        "message": "exception at ply 3 against greedy: ValueError: no",
        "kind": "exception",
        "evidence": ("3", "4", "b", "c", "d"),
        "command": "arena game x greedy",
    }
    assert fail("time", Fault("timeout", "")).message == "timeout: no answer in time"


def test_items_that_were_not_reached_are_not_tried() -> None:
    """Also those between two that were; the order is that of the report."""
    found = [Item("imports", "ok", ""), Item("parameters", "fail", "no")]
    items = list(_complete(iter(found)))
    assert tuple(item.name for item in items) == NAMES
    assert [items[0], items[2]] == found
    others = [items[1], *items[3:]]
    assert {(item.status, item.message) for item in others} == {("none", "not tried")}


@pytest.mark.parametrize(
    ("score", "beginning", "end"),
    [(2.0, "at least ", ": won all of 8 games"), (0.0, "at most ", ": won none of 8 games")],
)
def test_a_bot_that_wins_all_or_none_has_one_bound(score: float, beginning: str, end: str) -> None:
    """The figures say how many games against whom."""
    climb = Climb({"weak": 1400.0, "strong": 1500.0}, lambda _: score)
    climb.play(4)
    item = climb.to_item()
    assert item.message.startswith(beginning)
    assert item.message.endswith(end)
    games = {name: one["games"] for name, one in item.figures["against"].items()}
    assert sum(games.values()) == item.figures["games"] == 8
    scores = {name: one["score"] for name, one in item.figures["against"].items()}
    assert scores == {name: number / 2 * score for name, number in games.items()}


@pytest.mark.parametrize("order", [1, -1])
def test_a_shared_generator_is_touched_whatever_its_state_is_then(
    monkeypatch: pytest.MonkeyPatch, order: int
) -> None:
    """Where that was first is kept; standard output that was replaced is caught again."""
    first, second = sorted(Random(seed).getstate() for seed in (1, 2))[::order]
    states = iter([first, first, second, first])
    monkeypatch.setattr(trial, "generator_states", lambda: {"random": next(states)})
    output: Any = Mock(closed=False)
    watched = trial.Trial(output)
    monkeypatch.setattr(sys, "stdout", output)
    watched.look("in its import")
    assert watched.touched == {}
    watched.look("at ply 3")
    monkeypatch.setattr(sys, "stdout", None)
    watched.look("at ply 4")
    assert watched.touched == {"global random": "random, at ply 3", "standard output": "at ply 4"}
    output.capture.assert_called_once()


MOST = Held(1024, 32, 33, 128)


def check(kept: Callable[[int], Held], games: int = 20, step: int = 1) -> Item:
    """Return the item of a bot that has so much after each game."""
    growth = Growth()
    for number in range(step, games + 1, step):
        growth.add(1, step, kept(number))
    return check_growth([Growth(), growth], MOST)


@pytest.mark.parametrize("step", [1, 4])
def test_what_is_used_up_first_is_said(step: int) -> None:
    """2 MB of 1,004 are for 502 games; a thread a game is for 32."""
    item = check(lambda games: Held(20 + 2.0 * games, 1, 1, 8), step=step)
    assert item.status == "warn"
    assert "keeps 2 MB a game: out of memory after about 500 games" in item.message
    item = check(lambda games: Held(20 + 2.0 * games, 1, 1 + games, 8), step=step)
    assert "keeps 1 thread a game: out of threads after about 32 games" in item.message
    assert item.figures == {"kept": "threads", "a_game": 1.0, "games": 32}


@pytest.mark.parametrize(
    "kept",
    [
        lambda games: Held(20 + 9 * min(games, 13), 1, 2, 8),  # a cache that is full
        lambda games: Held(20 + 5 * (games % 3), 1, 2, 8 + games % 2),  # noise
        lambda games: Held(20 + 300 * (games > 15), 1, 9 * (games > 15), 8),  # once
        lambda games: Held(20 + 0.4 * games, 1, 2, 8),  # it may end some day
        lambda games: Held(90 - games, 1, 2, 8),
    ],
)
def test_what_an_honest_bot_has_is_no_growth(kept: Callable[[int], Held]) -> None:
    """Nothing that grows in one part of the games only, or very slowly."""
    assert check(kept).status == "ok"


def test_few_games_say_nothing_and_a_new_process_begins_again() -> None:
    """A process that was replaced has nothing of the games before."""
    assert check(lambda games: Held(20.0 * games), games=8).status == "none"
    growth = Growth()
    for number in range(20):
        growth.add(number // 10, 1, Held(2.0 * number))
    assert growth.rates() is None


def played(name: str, folder: Path, games: int = 16) -> Item:
    """Return the item of a bot that has played some games in one process."""
    entry = rogue(name, "process") if name.startswith("keeps") else resolve(name, lane="process")
    sparring = Sparring(Candidate(entry, Limits(), 0, folder, lambda: None), mixed=True)
    try:
        sparring.play_series(games)
        return check_growth(sparring.growths, sparring.bots[0].most_held)
    finally:
        sparring.close()


@pytest.mark.parametrize(
    ("name", "kept", "a_game"),
    [
        ("keeps_memory", "memory", 2),
        ("keeps_children", "processes", 1),
        ("keeps_files", "files", 1),
        ("keeps_threads", "memory", 16),  # their stacks: no jail counts them
    ],
)
def test_rogues_that_keep_something_are_told_how_long_that_lasts(
    tmp_path: Path, name: str, kept: str, a_game: float
) -> None:
    """Looked at from outside, in the lane process: within a quarter, as a look may miss a page."""
    item = played(name, tmp_path)
    assert (item.status, item.figures["kept"]) == ("warn", kept)
    assert item.figures["a_game"] == pytest.approx(a_game, rel=0.25)


@pytest.mark.parametrize("name", ["greedy", str(FOLDER / "first.py")])
def test_bots_that_keep_nothing(tmp_path: Path, name: str) -> None:
    """Also one of ours."""
    assert played(name, tmp_path).message == "nothing is kept of a game"


def climb(elo: float, deviates: float = 0.0) -> Climb:
    """Return the climb of a bot of this Elo after 40 pairs without luck.

    Against one anchor it leads by so much more than its Elo says, and by as much less against the
    next one.
    """

    def meet(anchor: int) -> float:
        lead = elo - [*ELO.values()][anchor] + deviates * (-1) ** anchor
        return float(2 / (1 + 10 ** (-lead / 400)))

    played = Climb(ELO, meet)
    played.play(40)
    return played


@pytest.mark.parametrize("elo", [1100, 1400, 1500, 1650, 1800])
def test_pairs_are_spread_evenly_over_the_nearest_anchors(elo: int) -> None:
    """Each of those in reach has as many as the next one, and only the way there cost others."""
    played = climb(elo)
    pairs = [len(own) for own in played.scores]
    near = [pairs[anchor] for anchor in played.in_reach()]
    assert sum(pairs) == 40
    assert len(near) == 5
    assert max(near) - min(near) <= 2
    assert sum(near) >= 30


def test_anchors_that_win_nearly_all_are_out_of_reach() -> None:
    """Of a bot 150 below the weakest one only this one is met, after the first ones."""
    played = climb(ELO["uniform"] - 150)
    assert played.in_reach() == [0]
    assert len(played.scores[0]) >= 30


@pytest.mark.parametrize("score", [0.0, 2.0])
def test_a_bot_that_loses_or_wins_all_still_meets_several(score: float) -> None:
    """Where no anchor is in reach, the nearest five count as such; the rating is finite."""
    played = Climb(ELO, lambda _: score)
    played.play(40)
    assert len(played.in_reach()) in (1, 5)
    assert -1000 < played.rating().low < played.rating().high < 4000
    assert played.to_item().message.startswith("at least " if score else "at most ")


@pytest.mark.parametrize("pairs", range(8))
def test_so_many_pairs_are_played(pairs: int) -> None:
    """Also fewer than there are anchors in reach."""
    played = Climb(ELO, lambda _: 1.0)
    played.play(pairs)
    assert sum(map(len, played.scores)) == pairs


def test_a_guess_says_what_it_is() -> None:
    """A number, its interval, its place on the ladder, and from how many games."""
    played = climb(1500)
    message, rated = played.to_item().message, played.rating().value
    assert rated == pytest.approx(1500, abs=1)
    assert message.startswith(f"about {rated:.0f} (")
    assert message.endswith("), between timing and ismcts: a first guess from 80 games")


def test_the_interval_contains_how_pairings_deviate() -> None:
    """250 to each side of the Elo: the pairs have luck alone where results are as it says."""
    as_elo, deviating = (climb(1400, by).rating() for by in (0.0, 250.0))
    assert deviating.high - deviating.low > 1.5 * (as_elo.high - as_elo.low)


@pytest.mark.slow
def test_an_interval_holds_the_rating_of_endless_pairs() -> None:
    """Of 60 simulated checks 57 are expected; fewer than 52 have a probability of 1 %."""
    assert guess.guess_often(1400, 38.0, 60).held >= 52 / 60


@pytest.mark.slow
def test_twenty_seeds_of_five_real_bots_agree_within_their_intervals() -> None:
    """Of 100 checks 95; their pairs are drawn of the ladder's own, and deviate as these do."""
    bots = ("uniform", "city_hunter", "greedy", "timing", "grandmaster")
    held = [guess.guess_real(bot, run).held for bot in bots for run in range(20)]
    assert sum(held) >= 95


@pytest.mark.study
@pytest.mark.parametrize("spread", [0.0, 20.0, 38.0, 60.0])
@pytest.mark.parametrize("elo", guess.ELOS)
def test_intervals_hold_the_rating_of_endless_pairs(elo: int, spread: float) -> None:
    """Of 1,000 simulated checks 950 are expected; fewer than 930 have a probability of 0.3 %."""
    assert guess.guess_often(elo, spread, 1000, workers=2).held >= 0.93
