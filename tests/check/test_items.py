"""Each item of a report says what is so: of an honest bot that all is well, of another what is not.

The bots are checked here, and not in a process of their own, so that this is quick.
"""

from __future__ import annotations

import os
import re
import resource
import sys
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from arena.check import traces, trial
from arena.check.inspector import Inspection
from arena.check.item import NAMES, Item, Order, fail, to_data
from arena.check.sparring import VARIANTS, Candidate, Climb
from arena.check.supervisor import _complete
from arena.check.traces import check_memory, check_time
from arena.entries.resolve import resolve
from arena.lanes.cleanup import children
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.tournament.timing import Timing
from engine.strategy import Spent
from tests.rogues import write
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
