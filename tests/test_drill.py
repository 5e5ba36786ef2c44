"""The drill can be run: every fault still fits the source that it is planted in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drill import FAULTS, ROOT, SUITES, Fault, copy_repository


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_has_one_place_to_be_planted(fault: Fault) -> None:
    """Its piece of source is there once, and what replaces it is another."""
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.right) == 1
    assert fault.right != fault.wrong


def test_every_fault_is_listed_in_contributing() -> None:
    """By the words that the drill prints."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [fault.what for fault in FAULTS if f"| {fault.what} |" not in text] == []


def test_the_copy_for_the_drill_holds_every_source_and_every_test(tmp_path: Path) -> None:
    """Also the room arena/results, whose name is that of the folder of finished runs."""
    copy = copy_repository(tmp_path)
    for room in ("engine", "bots", "arena", "tests"):
        for path in (ROOT / room).rglob("*.py"):
            assert (copy / path.relative_to(ROOT)).exists(), path
    assert all((copy / suite).exists() for suite in SUITES)
    assert not (copy / "results").exists()
