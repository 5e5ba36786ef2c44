"""The workflows run only what a person can run; type checkers find the types of the arena."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT
from tests.packaging.__main__ import NAMED

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


def test_only_the_jobs_that_publish_may_write() -> None:
    """Each what it needs, and after the job that has checked; every job ends in time."""
    for name, workflow in WORKFLOWS.items():
        for job, body in workflow["jobs"].items():
            assert body.get("permissions") == WRITES.get(f"{name}.{job}"), (name, job)
            assert body["timeout-minutes"] <= 120
            assert "needs" in body or f"{name}.{job}" not in WRITES


def test_every_script_is_one_target_of_the_makefile() -> None:
    """With nothing beside it but a variable, and no text of an event in it."""
    scripts = [(job, step["run"]) for job, step in STEPS if "run" in step]
    assert {"make test", "make test-all", "make docs", "make release-check", "make attach"} <= {
        script for _, script in scripts
    }
    for job, script in scripts:
        match = re.fullmatch(r"make ([a-z-]+)( SUDO=sudo)?", script)
        assert match, (job, script)
        assert match[1] in TARGETS, (job, script)
        subprocess.run(["make", "-n", match[1]], cwd=ROOT, check=True, capture_output=True)


def test_actions_are_named_by_their_major_version() -> None:
    """And a checkout leaves no credentials for what runs after it."""
    used = [(job, step) for job, step in STEPS if "uses" in step]
    assert len(used) > 8
    for job, step in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"]), (job, step)
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, job


def test_the_pythons_are_those_of_the_classifiers() -> None:
    """Of the tests and of the release; the classifiers name them in order."""
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
