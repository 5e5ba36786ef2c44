"""bench/MUTANTS.md is about the source as it is, and a run of the mutants goes on where it was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.mutants.ledger import Ledger, Trial
from bench.mutants.mutant import Mutant
from bench.mutants.steps import STEPS, steps
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
    """They are tried before all others, and every path of a step exists."""
    module = f"{room}/__init__.py"
    own = steps(Mutant(module, "", 0, 1, 0), ROOT)
    assert [step.name for step in own] == [*STEPS]
    paths = [word for step in own for word in step.words if not word.startswith("--")]
    assert all((ROOT / path).exists() for path in paths if path != module)
    assert any(path.startswith("tests/") for path in own[1].words)


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
        (TRIAL, "module", "c0ffee", True),
        (TRIAL, "room", "c0ffee", True),
        (TRIAL, "test", "c0ffee", False),
        (TRIAL, "room", "decade", False),
        (TRIAL._replace(killer="tests/x.py::test_y"), "test-all", "decade", True),
    ],
)
def test_what_survived_is_tried_again_with_other_tests(
    trial: Trial, depth: str, commit: str, done: bool
) -> None:
    """What was caught is not, and nothing takes a step twice."""
    assert trial.is_done(depth, commit) is done
