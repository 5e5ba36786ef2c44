"""Benchmarks measure the game of the engine; mutants are tried; tests run in processes."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from math import comb
from pathlib import Path
from random import Random

import pytest

from bench import bare
from bench.__main__ import TABLES
from bench.last_round import Ending, endings
from bench.mutants.__main__ import Traced, choose
from bench.mutants.changes import Mutant, draw, find_mutants
from bench.saving import make, sections
from bench.studies.__main__ import STUDIES
from engine import STANDARD, State, pack_of, size
from engine.cards import cards_of
from engine.play import playout
from engine.scoring import outcome
from engine.state import random_deal
from engine.view import view
from engine.worlds import choices
from tests import ROOT
from tests.waiting import PATIENCE


@pytest.mark.slow
def test_the_bare_loop_scores_and_ends_its_games_as_the_engine_does() -> None:
    """Points of 3,000 pairs of piles are equal; win types and winners are as frequent."""
    rng = Random(2)
    for _ in range(3000):
        state = State(random_deal(rng))
        playout(state, rng)
        expected = outcome(state.piles)
        if expected.win_type != "city":
            piles = [list(cards_of(pile)) for pile in state.piles]
            assert bare.score(*piles) == expected
    games, rng = 6000, Random(3)
    theirs = Counter[object](kind for _ in range(games) for kind in bare.play(rng)[:2])
    ours = Counter[object]()
    for _ in range(games):
        playout(state := State(random_deal(rng)), rng)
        ours.update(outcome(state.piles)[:2])
    for what in ("city", "points", 0, 1):
        error = (2 * ours[what] * (games - ours[what]) / games) ** 0.5
        assert theirs[what] == pytest.approx(ours[what], abs=4 * error)


def test_a_table_that_fails_leaves_the_others_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line says which."""

    def lines(title: str, *more: str) -> Callable[[], Iterator[str]]:
        return lambda: (line for line in (f"\n## {title}\n", *more))

    def broken() -> Iterator[str]:
        yield "\n## B\n"
        raise ZeroDivisionError

    path = tmp_path / "RESULTS.md"
    monkeypatch.setattr("sys.argv", ["bench", "--save"])
    parts = {name: (name.upper(), lines(name.upper(), "old")) for name in "abcd"}
    make(path, "# Head", parts, parts)
    parts |= {"a": ("A", lines("A", "new")), "b": ("B", broken), "c": ("C", lines("C", "new"))}
    with pytest.raises(SystemExit, match=r"error: failed: b$"):
        make(path, "# Head", parts, ["a", "b", "c"])
    assert "ZeroDivisionError" in capsys.readouterr().err
    found = sections(path.read_text(encoding="utf-8"))
    assert {title: text.split()[-1] for title, text in found.items()} == {
        "A": "new",
        "B": "old",
        "C": "new",
        "D": "old",
    }


def test_every_benchmark_that_a_page_or_a_docstring_names_is_there() -> None:
    """By the name of its module, of its table, or of its study."""
    command = re.compile(r"(?:python -m |make )bench(\.\w+)?(?: (?:BENCH=)?([a-z]\w+))?\b")
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")]
    modules = [path for room in ("arena", "bots", "bench") for path in ROOT.glob(f"{room}/**/*.py")]
    texts = [path.read_text(encoding="utf-8") for path in (*pages, *modules)]
    named = {found for text in texts for found in command.findall(text)}
    assert len(named) > 40
    known = {"": {*TABLES}, ".studies": {*STUDIES}}
    for module, word in named:
        assert module in known or [*ROOT.glob(f"bench/{module[1:]}*")], module
        assert not word or word in known.get(module, {word}), word


def test_endings_are_worth_the_same_to_every_hand_together_as_the_game() -> None:
    """The best first actions of all hands, weighed by their deals, make the value of the ending."""
    for state in islice(endings(1, 4), 2):
        ending, seat = Ending(state), state.to_act
        hidden = STANDARD.pack - sum(state.piles) - pack_of(state.row)
        total = 0.0
        for hand, ways in choices(hidden, size(state.hands[seat])):
            state.hands[seat] = hand
            total += ways * (2 * max(ending.worths(view(state, seat)).values()) - 1)
        whole = comb(size(hidden), size(state.hands[seat]))
        others = comb(size(hidden) - size(state.hands[seat]), size(state.hands[1 - seat]))
        value = ending.value / others
        assert total / whole == pytest.approx((value if seat == 0 else -value) / whole, abs=1e-6)


SOURCE = b"""A = 1
class B:
    def f(self, x: int = 2) -> int | None:
        if x <= 3 and not self.g(f"{x + 1}"):
            raise ValueError(4)
        return [y for y in (x,) if y is not None][0]
"""


def test_a_module_has_the_changes_of_its_source() -> None:
    """Neither types nor messages; each names its function, and leaves a module."""
    found = find_mutants("arena/x.py", SOURCE)
    assert [one.describe(SOURCE).partition(": ")[2] for one in found] == [
        "1 -> 2",
        "2 -> 3",
        'x <= 3 and not self.g(f"{x + 1}") -> not (x <= 3 and not self.g(f"{x + 1}"))',
        "and -> or",
        "<= -> <",
        "3 -> 4",
        "return [y for y in (x,) if y is not None][0] -> return None",
        "is not -> is",
        "0 -> 1",
    ]
    assert [one.function for one in found] == ["", *["B.f"] * 8]
    for one in found:
        ast.parse(one.change(SOURCE))


def test_a_sample_has_as_many_of_each_room_and_goes_on(tmp_path: Path) -> None:
    """Each of another line; those of a smaller sample come first, and a seed draws its own."""
    for module in ("engine/a.py", "arena/b.py", "arena/rl/c.py", "arena/addons/rl/d.py"):
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_bytes(SOURCE)
    drawn = draw(tmp_path, 8, 1)
    rooms = ["engine", "arena", "arena/rl", "arena/addons/rl"]
    assert {*rooms} == {one.room for one in drawn[:4]} == {one.room for one in drawn[4:]}
    assert len({(one.module, one.line) for one in drawn}) == 8
    assert draw(tmp_path, 5, 1) == drawn[:5] != draw(tmp_path, 5, 2)
    assert {one.room for one in draw(tmp_path, 8, 1, "arena/rl")} == {"arena/rl"}


def test_a_mutant_is_tried_by_the_nearest_and_quickest_tests() -> None:
    """Those that call its function, then of its module and its room, as long as there is time."""
    mutant = Mutant("arena/store/x.py", "B.f", 4, 0, 0, "")
    calling, other = frozenset({"arena/store/x.py:B.f"}), frozenset({"arena/store/x.py:B.g"})
    tests = [
        Traced("tests/cli/test_a.py::test_elsewhere", 0.1, frozenset()),
        Traced("tests/store/test_a.py::test_of_the_room", 0.1, frozenset()),
        Traced("tests/cli/test_a.py::test_of_the_module", 0.1, other),
        Traced("tests/cli/test_a.py::test_far", 0.1, calling),
        Traced("tests/store/test_a.py::test_slower", 2.0, calling),
        Traced("tests/store/test_a.py::test_near", 1.0, calling),
    ]
    names = [test.name for test in tests]
    assert [*choose(tests, mutant, 9)] == names[:0:-1]
    assert [*choose(tests, mutant, 3.15)] == names[:2:-1]


BEGIN = """
import os, signal, subprocess, sys, threading, time, warnings
from pathlib import Path
import pytest

with open("collected", "a") as file:
    file.write("1")
warnings.warn("said at collection")
OPENED = []

@pytest.fixture(scope="module", autouse=True)
def opened(tmp_path_factory):
    place = tmp_path_factory.getbasetemp() / f"{__name__}-open"
    place.touch(exist_ok=False)
    OPENED.append(place)
    yield place
    place.unlink()
    (place.parent / f"{__name__}-ended").touch()
"""
FINE = """
@pytest.mark.parametrize("number", range(12))
def test_fine(number, opened, tmp_path):
    print("unseen")
    Path(f"{__name__}-{number}").touch()
    while __name__ == "test_one" and number == 0 and not Path(f"{__name__}-11").exists():
        time.sleep(0.01)
    assert opened.exists() and not [*tmp_path.iterdir()]

def test_skipped():
    class Own(UserWarning): pass
    warnings.warn(Own("mind this"))
    pytest.skip("not today")
"""
WRONG = """
def test_wrong():
    print("what it printed")
    assert [1, 2] == [1, 3]

def test_after_wrong(opened):
    assert [opened] == OPENED
"""
DEAD = """
def test_ends():
    os._exit(0)

def test_is_killed():
    if not os.fork():
        time.sleep(600)  # with all that it has inherited
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)

def test_after_dead(opened):
    assert opened.exists()
"""


def start(folder: Path, *options: str, **files: str) -> subprocess.Popen[bytes]:
    """Write modules of tests and start pytest with two processes; it prints to a file."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text if name == "conftest" else BEGIN + text)
    forks = ["-p", "tests.forkrun", "--forks", "2", f"--basetemp={folder / 'base'}"]
    with (folder / "printed").open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *forks, *options],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"},
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def run(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    """Run modules of tests, and return the exit status of pytest and what it printed."""
    process = start(folder, *options, **files)
    try:
        status = process.wait(PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what tests have left
    return status, (folder / "printed").read_text()


def test_tests_are_collected_once_and_reported_as_by_pytest(tmp_path: Path) -> None:
    """Also skips and warnings; one process takes over tests of a file that another has begun."""
    status, printed = run(tmp_path, "-rs", test_one=FINE, test_two=FINE)
    assert (status, (tmp_path / "collected").read_text()) == (0, "11"), printed
    assert "24 passed, 2 skipped, 4 warnings in" in printed
    assert printed.count("not today") == 2
    assert printed.count("Own: mind this") == 2
    assert "unseen" not in printed
    assert [*(tmp_path / "base").glob("gw?/*-ended")]
    assert not [*(tmp_path / "base").glob("gw?/*-open")]


def test_failures_and_deaths_are_reported_and_the_others_go_on(tmp_path: Path) -> None:
    """A process that ends in a test has failed it, whatever its exit status."""
    status, printed = run(tmp_path, test_dead=DEAD, test_wrong=WRONG)
    assert status == 1, printed
    assert "3 failed, 2 passed, 2 warnings in" in printed
    assert "At index 1 diff: 2 != 3" in printed
    assert "what it printed" in printed
    assert "FAILED test_wrong.py::test_wrong" in printed
    ended = "ended the process of this test"
    assert f"FAILED test_dead.py::test_ends - exit status 0 {ended}" in printed
    assert f"FAILED test_dead.py::test_is_killed - SIGKILL {ended}" in printed
    named = [line for line in printed.splitlines() if line.startswith("failed: ")]
    wrong = {"test_dead.py::test_ends", "test_dead.py::test_is_killed", "test_wrong.py::test_wrong"}
    assert {line.removeprefix("failed: ") for line in named} == wrong


LOSES = """
from tests.forkrun import Workers

def _take(self, take=Workers._take):
    return self.waiting and self.waiting.popleft() and take(self) or take(self)

Workers._take = _take
"""
BEGINS = """
import threading

threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conftest", "status", "reason"),
    [(LOSES, 1, " tests were not run"), (BEGINS, 4, "--forks: threads since collection")],
    ids=["lost", "threads"],
)
def test_what_cannot_be_trusted_is_no_success(
    tmp_path: Path, conftest: str, status: int, reason: str
) -> None:
    """A test that was not run, and threads that a process would lack."""
    ended, printed = run(tmp_path, conftest=conftest, test_one=FINE, test_two=FINE)
    assert ended == status, printed
    assert reason in printed
