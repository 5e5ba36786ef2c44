"""`make mutants` changes what it says it does, and tries each change by the nearest tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bench.mutants.__main__ import Traced, choose, copy_repository, report
from bench.mutants.changes import Mutant, draw, find_mutants
from tests import ROOT


@pytest.mark.slow
def test_the_copy_holds_every_source_and_every_test(tmp_path: Path) -> None:
    """Also those in folders that are named like one at the top."""
    copy = copy_repository(tmp_path)
    for room in ("engine", "bots", "arena", "tests"):
        for path in (ROOT / room).rglob("*.py"):
            assert (copy / path.relative_to(ROOT)).exists(), path
    assert not (copy / "results").exists()


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


def test_the_score_is_by_room() -> None:
    """Below the survivors, each with its place and its change."""
    rules = Mutant("engine/rules.py", "", 1, 0, 3, "pass")
    mutants = [rules, rules, rules, Mutant("arena/store/store.py", "", 1, 0, 3, "pass")]
    lines = [*report(mutants, [True, True, False, True])]
    assert lines[1] == 'engine/rules.py:1: """ -> pass'
    assert lines[-3:] == ["| arena/store | 1 | 1 |", "| engine | 2 | 3 |", "| all | 3 | 4 |"]
