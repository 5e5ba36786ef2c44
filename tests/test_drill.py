"""The drill can be run: every fault fits its source file, and its test exists."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.drill import FAULTS, Fault, copy_repository
from tests.drill.__main__ import choose
from tests.drill.fault import commit
from tests.waiting import PATIENCE


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_has_one_place_to_be_planted_and_a_test(fault: Fault) -> None:
    """Its piece of source occurs once, and the replacement differs from it."""
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.right) == 1
    assert fault.right != fault.wrong
    file, test = fault.test.partition("[")[0].split("::")
    assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_test_of_a_fault_is_none_of_the_study() -> None:
    """The drill does not run those; a case of a test can be one, too."""
    tests = sorted({fault.test for fault in FAULTS})
    words = ["-m", "pytest", "--collect-only", "-q", "-m", "not study", *tests]
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout
    found = done.stdout.splitlines()
    assert not [test for test in tests if not any(line.startswith(test) for line in found)]


@pytest.mark.slow
def test_the_copy_holds_every_source_and_every_test(tmp_path: Path) -> None:
    """Also those in folders that are named like one at the top."""
    copy = copy_repository(tmp_path)
    for room in ("engine", "bots", "arena", "tests"):
        for path in (ROOT / room).rglob("*.py"):
            assert (copy / path.relative_to(ROOT)).exists(), path
    assert not (copy / "results").exists()


@pytest.mark.slow
@pytest.mark.skipif(
    not (ROOT / "arena" / "configs").is_symlink(), reason="an sdist has files in place of the link"
)
def test_a_link_is_a_link_in_the_copy(tmp_path: Path) -> None:
    """The folder of configs is there once, as in the repository, and leads into the copy."""
    copy = copy_repository(tmp_path)
    assert (copy / "arena" / "configs").readlink() == Path("../configs")
    assert (copy / "arena" / "configs").resolve() == copy / "configs"


def test_the_commit_chooses_the_faults_of_a_sample() -> None:
    """The same ones each time, others after another commit; without git there is a choice, too."""
    samples = [choose(FAULTS, 12, name) for name in ("c0ffee", "c0ffee", "decade", "")]
    assert samples[0] == samples[1] != samples[2]
    for sample in samples:
        assert len({*sample}) == 12
        assert sorted(sample, key=FAULTS.index) == sample
    assert {fault for n in range(200) for fault in choose(FAULTS, 12, str(n))} == {*FAULTS}
    assert choose(FAULTS, 10**6, "") == FAULTS


def test_a_folder_without_git_has_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an unpacked archive; where there is no program git, too."""
    monkeypatch.setattr("tests.drill.fault.ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit() == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() == ""
