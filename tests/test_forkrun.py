"""The plugin that runs tests in processes: what it reports of tests that pass, fail and die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests import ROOT
from tests.waiting import PATIENCE

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

@pytest.fixture(scope="session", autouse=True)
def session(tmp_path_factory):
    yield
    (tmp_path_factory.getbasetemp() / f"{__name__}-ended").touch(exist_ok=False)
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
    pytest.skip("not today")

def test_warning():
    class Own(UserWarning): pass
    warnings.warn(Own("mind this"))
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
    assert "26 passed, 2 skipped, 4 warnings in" in printed
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


LOSES = """
from tests.forkrun import Workers

def _begin(self, worker, begin=Workers._begin):
    if self.files:
        self.files[0].popleft()
    return begin(self, worker)

Workers._begin = _begin
"""
BEGINS = """
import threading

threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conftest", "status", "reason"),
    [(LOSES, 1, "2 tests were not run"), (BEGINS, 4, "--forks: threads since collection")],
    ids=["lost", "threads"],
)
def test_what_cannot_be_trusted_is_no_success(
    tmp_path: Path, conftest: str, status: int, reason: str
) -> None:
    """A test that was not run, and threads that a process would lack."""
    ended, printed = run(tmp_path, conftest=conftest, test_one=FINE, test_two=FINE)
    assert ended == status, printed
    assert reason in printed
