"""bench/MUTANTS.md is about the source as it is, and a run of the mutants goes on where it was."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bench.mutants.ledger import Ledger, Trial
from bench.mutants.lines import together
from bench.mutants.mutant import Mutant, shuffle_places
from bench.mutants.output import killer
from bench.mutants.steps import STEPS, steps
from bench.mutants.table import table
from bench.mutants.traces import TracedTest, Traces, merge, read
from tests import ROOT

PAGE = (ROOT / "bench" / "MUTANTS.md").read_text(encoding="utf-8")
KEPT = re.findall(r"^- `([^`]+\.py)`: .*?\n  `(.+) -> .*`$", PAGE, re.MULTILINE)
ROOMS = re.findall(r"^\| ((?:engine|bots|arena)[\w/.]*) \|", PAGE, re.MULTILINE)
HERE = Mutant("arena/store/store.py", "core/AddNot", 0, 1, 0)
TRIAL = Trial("a -> b", "room", "", 1.0, "c0ffee")


def rooms() -> set[str]:
    """Return the rooms of the source that have a module."""
    files = [path for top in ("engine", "bots", "arena") for path in (ROOT / top).rglob("*.py")]
    return {Mutant(str(path.relative_to(ROOT)), "", 0, 1, 0).room for path in files}


def test_the_table_has_every_room_and_the_commit() -> None:
    """A room that has gone, or is new, needs another run; the commit says which source it was."""
    assert set(ROOMS) == rooms()
    assert re.search(r"\bcommit `?[0-9a-f]{40}\b", PAGE)


@pytest.mark.parametrize(("module", "before"), KEPT, ids=[module for module, _ in KEPT])
def test_a_survivor_that_is_kept_is_still_in_its_module(module: str, before: str) -> None:
    """Its line, or lines, as they stand there; otherwise its reason is about nothing."""
    lines = (ROOT / module).read_text(encoding="utf-8").splitlines()
    assert before in " ".join(line.strip() for line in lines)


def test_every_survivor_of_the_page_has_its_module_and_its_change() -> None:
    """None is written in another form, which nobody would find."""
    assert len(KEPT) == len(re.findall("^- `", PAGE, re.MULTILINE))
    assert KEPT


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_has_tests_of_its_own(room: str) -> None:
    """A step tries them, also where no test runs the line in its own process."""
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    traces = Traces([TracedTest(f"{file}::test_x", 0.1) for file in files], {})
    line, own = steps(Mutant(f"{room}/absent.py", "", 0, 1, 0), "", traces, ROOT)
    assert not line.tests
    assert own.tests


def test_a_sample_begins_with_each_room() -> None:
    """Four of a small room and of a large one; after them the places of the large one are left."""
    large = [HERE._replace(line=line, operator=name) for line in range(90) for name in "ab"]
    small = [Mutant("bots/greedy.py", "a", 0, line, 0) for line in range(5)]
    drawn = [mutants for _, mutants in shuffle_places([*large, *small], 1)]
    rooms = ["/".join(sorted({one.room for one in mutants})) for mutants in drawn]
    assert sorted(rooms[:8]) == ["arena/store"] * 4 + ["bots"] * 4
    assert len(drawn) == 95
    again = shuffle_places([*large[2:], *small], 1)
    assert [one for one in drawn if one[0].line] == [one for _, one in again if one[0].line]
    assert drawn != [mutants for _, mutants in shuffle_places([*large, *small], 2)]


SOURCE = """A = 1
def f(x, y=2):
    if (x
            > y):
        return x
    try:
        g()
    except ValueError:
        return 0
    return [
        x,
        y]
"""


@pytest.mark.parametrize(
    ("line", "lines"),
    [(1, set()), (2, set()), (3, {3, 4}), (4, {3, 4}), (5, {5}), (8, {8}), (11, {10, 11, 12})],
)
def test_the_lines_of_a_statement_run_together(line: int, lines: set[int]) -> None:
    """Those before a body are without it, and what an import runs has none."""
    assert together(SOURCE, line) == lines


def traced(tmp_path: Path) -> Traces:
    """Return the traces of two processes with five tests, of which one fails."""
    row = {"passed": True, "seconds": 1.0}
    name = "tests/store/test_store.py::test_{}".format
    first = {name("a"): row, name("b"): row | {"passed": False}, name("c"): row}
    second = {
        "tests/cli/test_x.py::test_d": row,
        "tests/cli/test_x.py::test_e": row | {"processes": True},
    }
    module = "arena/store/store.py"
    lines = {"3": [name("a"), name("b"), name("c")], "5": ["tests/cli/test_x.py"]}
    parts = [{"tests": first, "lines": {module: lines}}, {"tests": second, "lines": {module: {}}}]
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.json").write_text(json.dumps(part), encoding="utf-8")
    (tmp_path / module).parent.mkdir(parents=True)
    (tmp_path / module).write_text(SOURCE, encoding="utf-8")
    merge(tmp_path, tmp_path, tmp_path / "traces.json.gz")
    return read(tmp_path / "traces.json.gz")


def test_the_tests_of_a_line_are_those_that_run_its_statement(tmp_path: Path) -> None:
    """One that fails is none; what a fixture of a file runs counts for each of its tests."""
    traces = traced(tmp_path)

    def names(line: int, text: str = SOURCE) -> str:
        running = traces.running("arena/store/store.py", text, line)
        return "".join(test.name[-1] for test in running)

    assert names(4) == "ac"
    assert names(5) == "de"
    assert names(8) == ""
    assert sorted(names(1)) == ["a", "c", "d", "e"]  # at import: those of all lines
    assert traces.failed == {"tests/store/test_store.py::test_b"}
    assert sorted(names(4, SOURCE + "# another")) == ["a", "c", "d", "e"]


def test_a_mutant_is_tried_from_the_nearest_tests_on(tmp_path: Path) -> None:
    """First those that run its line, then those of its room."""
    traces = traced(tmp_path)

    def letters(line: int) -> list[str]:
        found = steps(HERE._replace(line=line), SOURCE, traces, ROOT)
        assert [step.name for step in found] == [*STEPS[:2]]
        return ["".join(test.name[-1] for test in step.tests) for step in found]

    assert letters(4) == ["ac", ""]
    assert letters(5) == ["de", "ac"]
    assert letters(8) == ["", "ac"]


@pytest.mark.parametrize(
    ("status", "output", "name"),
    [
        (0, "2 passed", None),
        (5, "no tests ran", None),
        (1, "FAILED tests/a.py::test_x[1 - 2] - AssertionError", "tests/a.py::test_x[1 - 2]"),
        (2, "ERROR tests/b.py - ImportError: no name", "tests/b.py::test_y"),
        (1, "tests/a.py::test_x PASSED [1%]\ntests/b.py::test_y \nTimeout!", "tests/b.py::test_y"),
        (4, "ImportError while loading conftest", "tests/a.py::test_x"),
    ],
)
def test_the_test_that_noticed_is_named(status: int, output: str, name: str | None) -> None:
    """Also by a file that cannot be imported, and by a test that did not end."""
    names = ["tests/a.py::test_x", "tests/a.py::test_x[1 - 2]", "tests/b.py::test_y"]
    found = killer(status, output, [TracedTest(one, 0.1) for one in names])
    assert (found and found.name) == name


def test_a_mutant_is_known_by_the_text_of_its_module(tmp_path: Path) -> None:
    """What another process reads from the file is the last trial of each."""
    ledger = Ledger(tmp_path / "cache" / "mutants.jsonl")
    caught = TRIAL._replace(killer="tests/x.py::test_y")
    ledger.add(HERE, "text", TRIAL)
    ledger.add(HERE, "text", caught)
    again = Ledger(ledger.path)
    assert again.find(HERE, "text") == caught
    assert again.find(HERE, "another text") is None
    assert again.find(HERE._replace(occurrence=1), "text") is None


@pytest.mark.parametrize(
    ("trial", "depth", "commit", "done"),
    [
        (TRIAL, "line", "c0ffee", True),
        (TRIAL, "room", "c0ffee", True),
        (TRIAL, "test", "c0ffee", False),
        (TRIAL, "room", "decade", False),
        (TRIAL, "room", "", True),
        (TRIAL, "test", "", False),
        (TRIAL._replace(killer="tests/x.py::test_y"), "test-all", "decade", True),
    ],
)
def test_what_survived_is_tried_again_with_other_tests(
    trial: Trial, depth: str, commit: str, done: bool
) -> None:
    """What was caught is not, and nothing takes a step twice."""
    assert trial.is_done(depth, commit) is done


def test_the_table_counts_what_each_step_catches_with_the_steps_before_it() -> None:
    """A survivor of the last step is a gap, one of an earlier step is open."""
    caught = [TRIAL._replace(reached=step, killer="tests/x.py::test_y") for step in STEPS]
    survived = [TRIAL, TRIAL._replace(reached=STEPS[-1])]
    mutants = [HERE._replace(line=number) for number in range(7)]
    lines, new = table(mutants, list(zip(mutants, [*caught, *survived, None], strict=True)))
    assert [line for line in lines if line.startswith("| ")][1:] == [
        "| arena/store | 7 | 6 | 2 | 3 | 4 | 1 | 0 | 1 |",
        "| all | 7 | 6 | 2 | 3 | 4 | 1 | 0 | 1 |",
    ]
    assert [mutant.line for mutant, _ in new] == [5]
