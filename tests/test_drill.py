"""The drill can be run: every fault fits its source file, and its test exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ROOT
from tests.drill import FAULTS, Fault, copy_repository


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_has_one_place_to_be_planted_and_a_test(fault: Fault) -> None:
    """Its piece of source occurs once, and the replacement differs from it."""
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.right) == 1
    assert fault.right != fault.wrong
    file, test = fault.test.partition("[")[0].split("::")
    assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8")


def test_the_copy_holds_every_source_and_every_test(tmp_path: Path) -> None:
    """Also those in folders that are named like one at the top."""
    copy = copy_repository(tmp_path)
    for room in ("engine", "bots", "arena", "tests"):
        for path in (ROOT / room).rglob("*.py"):
            assert (copy / path.relative_to(ROOT)).exists(), path
    assert not (copy / "results").exists()
