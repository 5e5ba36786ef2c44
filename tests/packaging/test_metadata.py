"""What the package says of itself agrees in every file; the workflows run what a person can."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena.tournament.versions import version_here
from tests import ROOT
from tests.conftest import Arena
from tests.packaging.__main__ import NAMED
from tests.packaging.wheel import PROJECT


def normal(name: str) -> str:
    """Return the name of a distribution as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_package_says_the_same_everywhere_and_pins_what_make_installs() -> None:
    """The same licence and authors; constraints.txt has one version of each requirement."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert PROJECT["authors"][0]["name"] in (ROOT / "LICENSE").read_text()
    notice = " ".join((ROOT / "NOTICE").read_text().split())
    assert "unofficial implementation" in notice
    assert "no art and no text" in notice
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines[0].startswith("#")
    pin = re.compile(r"([\w.-]+)==[\w.]+(; python_version (<|>=) \"3\.\d+\")?")
    pins = [pin.fullmatch(line) for line in lines[1:]]
    assert all(pins)
    pinned = {normal(one[1]) for one in pins if one}
    extras = PROJECT["optional-dependencies"]
    assert {"test", "docs"} <= extras.keys()
    wanted = [*PROJECT["dependencies"], *(need for extra in extras.values() for need in extra)]
    names = {normal(re.split(r"[<>=;]", need)[0]) for need in wanted}
    assert names <= pinned


@pytest.mark.slow
def test_the_command_works_where_the_working_folder_was_removed(tmp_path: Path) -> None:
    """`python -m arena` says what it says elsewhere."""
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'rmdir "{gone}"; exec "{sys.executable}" -m arena --version'
    done = subprocess.run(["sh", "-c", line], cwd=gone, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_checkout_without_an_installation_says_how_to_install_it(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, by whatever writes a version to a file; help and the doctor's report need none."""
    found = metadata.Distribution.from_name

    def find(name: str) -> metadata.Distribution:
        if name == "district-noir-arena":
            raise metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(metadata.Distribution, "from_name", find)
    version_here.cache_clear()  # which an earlier test of this process has filled
    said = f"error: the arena is not installed: run `pip install -e .` in {str(ROOT)!a}\n"
    for words in (("--version",), ("play", "greedy", "uniform", "--pairs", "1", "--out", "run")):
        done = arena(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert arena("--help").returncode == 0
    assert "with arena that is not installed" in arena("doctor").stdout


def test_a_python_without_its_libraries_says_so(tmp_path: Path) -> None:
    """As a new clone with the system's Python; `-S` leaves out what is installed."""
    words = [sys.executable, "-S", "-m", "arena", "--help"]
    done = subprocess.run(
        words,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"error: no library click: run `pip install -e .` in {str(ROOT)!a}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


GITHUB = ROOT / ".github"
FOLDER = GITHUB / "workflows"
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yml"))
}
STEPS = [
    (f"{name}.{job}", step)
    for name, workflow in WORKFLOWS.items()
    for job, body in workflow["jobs"].items()
    for step in body["steps"]
]
WRITES = {
    "docs.publish": {"pages": "write", "id-token": "write"},
    "release.publish": {"id-token": "write"},
    "release.attach": {"contents": "write"},
}
"""The jobs with more than the right to read, and what they may write."""


def test_the_workflows_run_only_targets_and_few_jobs_may_write() -> None:
    """Each script is one target of the Makefile; who publishes writes what it needs."""
    for name, workflow in WORKFLOWS.items():
        for job, body in workflow["jobs"].items():
            assert body.get("permissions") == WRITES.get(f"{name}.{job}"), (name, job)
            assert body["timeout-minutes"] <= 120
            assert "needs" in body or f"{name}.{job}" not in WRITES
    scripts = [(job, step["run"]) for job, step in STEPS if "run" in step]
    assert {"make test", "make test-all", "make docs", "make release-check", "make attach"} <= {
        script for _, script in scripts
    }
    for job, script in scripts:
        match = re.fullmatch(r"make ([a-z-]+)( SUDO=sudo)?", script)
        assert match, (job, script)
        assert match[1] in TARGETS, (job, script)
        subprocess.run(["make", "-n", match[1]], cwd=ROOT, check=True, capture_output=True)
    used = [(job, step) for job, step in STEPS if "uses" in step]
    assert len(used) > 8
    for job, step in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"]), (job, step)
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, job
    (test,) = (body for job, body in WORKFLOWS["tests"]["jobs"].items() if job == "test")
    assert test["strategy"]["matrix"]["python"] == NAMED
    (setup,) = (
        step["with"]["python-version"]
        for job, step in STEPS
        if job == "release.check" and step.get("uses", "").startswith("actions/setup-python@")
    )
    assert sorted(setup.split()) == NAMED


PROGRAM = """\
from arena.errors import InputError
from bots.greedy import bot
from engine import Action, Setup, View

def first(view: View) -> Action:
    return view.legall[0]

reveal_type(bot)
reveal_type(InputError)
"""


@pytest.mark.study
def test_mypy_finds_the_types_in_another_folder(tmp_path: Path) -> None:
    """It reports the misspelt attribute, and no module whose types are missing."""
    (tmp_path / "mine.py").write_text(PROGRAM)
    words = ["-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "mine.py"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1, done.stdout
    assert '"View" has no attribute "legall"' in errors[0]
    assert "bots.greedy.Greedy" in done.stdout
