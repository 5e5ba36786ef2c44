"""The drill can be run: every fault fits its source file, and its test exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ROOT
from tests.drill import FAULTS, Fault, copy_repository
from tests.drill.__main__ import choose


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_has_one_place_to_be_planted_and_a_test(fault: Fault) -> None:
    """Its piece of source occurs once, and the replacement differs from it."""
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.right) == 1
    assert fault.right != fault.wrong
    file, test = fault.test.partition("[")[0].split("::")
    assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_copy_holds_every_source_and_every_test(tmp_path: Path) -> None:
    """Also those in folders that are named like one at the top."""
    copy = copy_repository(tmp_path)
    for room in ("engine", "bots", "arena", "tests"):
        for path in (ROOT / room).rglob("*.py"):
            assert (copy / path.relative_to(ROOT)).exists(), path
    assert not (copy / "results").exists()


def test_the_commit_chooses_the_faults_of_a_sample() -> None:
    """The same ones each time, others after another commit; without git there is a choice, too."""
    samples = [choose(FAULTS, 12, name) for name in ("c0ffee", "c0ffee", "decade", "")]
    assert samples[0] == samples[1] != samples[2]
    for sample in samples:
        assert len({*sample}) == 12
        assert sorted(sample, key=FAULTS.index) == sample
    assert {fault for n in range(200) for fault in choose(FAULTS, 12, str(n))} == {*FAULTS}
    assert choose(FAULTS, 10**6, "") == FAULTS
