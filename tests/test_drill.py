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


def test_the_copy_holds_the_sources_and_the_tests(tmp_path: Path) -> None:
    """Also those in a folder `results`; only that of the runs is left out."""
    copy_repository(tmp_path / "copy")
    for name in [*SUITES, *(fault.file for fault in FAULTS)]:
        assert (tmp_path / "copy" / name).exists(), name
    assert not (tmp_path / "copy" / "results").exists()


def test_every_fault_is_listed_in_contributing() -> None:
    """By the words that the drill prints."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [fault.what for fault in FAULTS if f"| {fault.what} |" not in text] == []
