"""What docs/course says can be done: its commands, its league, and its workflow."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT, markdown
from tests.conftest import Arena
from tests.rogues import FOLDER as ROGUES
from tests.runs.test_rogues import needs_jail

COURSE = ROOT / "docs" / "course"
WORKFLOW: dict[Any, Any] = yaml.safe_load((COURSE / "check-bots.yaml").read_text())
STEPS = WORKFLOW["jobs"]["check"]["steps"]
SCRIPTS = [step["run"] for step in STEPS if "run" in step]


@pytest.fixture
def course(arena: Arena, tmp_path: Path) -> Path:
    """Return a course's folder, with what two students have handed in."""
    folder = tmp_path / "course"
    (folder / "submissions").mkdir(parents=True)
    for name in ("ada", "ben"):
        assert arena("new", name).returncode == 0
        (tmp_path / f"{name}.py").rename(folder / "submissions" / f"{name}.py")
    return folder


def the_league_has_the_student(ran: markdown.Ran, _: Path) -> None:
    """At the end, and no bot was refused."""
    assert not any("refused:" in done.stdout for _, done in ran)
    shown = [done.stdout for command, done in ran if command == "arena league show course"]
    assert "ada 1" in shown[-1]


@pytest.mark.slow
def test_its_league_keeps_what_was_handed_in_in_the_jail(course: Path) -> None:
    """And its seed is not one that a student can guess."""
    seeds = set()
    for name in ("one", "two"):
        make = markdown.commands((COURSE / "README.md").read_text())[0].replace("course", name)
        done = markdown.run(make, course)
        if done.returncode and "jail" in done.stderr:
            pytest.skip("there is no jail on this machine")
        data = yaml.safe_load((course / name / "league.yaml").read_text())
        assert data["lane"] == "jail"
        seeds.add(data["seed"])
    assert len(seeds) == 2


def test_the_workflow_gives_strangers_code_no_rights() -> None:
    """It runs for a pull request, with read-only permissions and without credentials."""
    assert set(WORKFLOW[True]) == {"pull_request"}  # YAML reads `on` as true
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert STEPS[0]["with"]["persist-credentials"] is False


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_workflows_scripts_can_be_parsed(script: str) -> None:
    """By bash, and what comes from the pull request is in variables and not in the text."""
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert "${{" not in script


@pytest.mark.slow
@needs_jail
def test_the_workflow_refuses_a_bad_bot_and_accepts_a_good_one(course: Path) -> None:
    """Its scripts, in a repository: what was merged before is not checked again."""
    _git(course, "init", "--quiet", "--initial-branch", "main")
    _git(course, "add", ".")
    _git(course, "commit", "--quiet", "--message", "what was merged")
    (course / "submissions" / "good one.py").write_text((course / "submissions/ada.py").read_text())
    (course / "submissions" / "bad.py").write_text((ROGUES / "draws.py").read_text())
    _git(course, "add", ".")
    _git(course, "commit", "--quiet", "--message", "what was handed in")
    checked, told = (_script(course, SCRIPTS[-2]), _script(course, SCRIPTS[-1]))
    assert checked.returncode == 1, checked.stderr
    reports = {path.name: json.loads(path.read_text()) for path in (course / "reports").iterdir()}
    assert {name: report["ok"] for name, report in reports.items()} == {
        "good one.py.json": True,
        "bad.py.json": False,
    }
    assert all(report["jailed"] for report in reports.values())
    assert "good one.py: accepted" in told.stdout
    assert "bad.py: same seed: " in told.stdout
    (course / "submissions" / "bad.py").unlink()
    _git(course, "commit", "--quiet", "--all", "--message", "without the bad one")
    assert _script(course, SCRIPTS[-2]).returncode == 0


def _script(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the workflow in a course's repository, with this Python's arena."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, words in {"arena": ["-m", "arena"], "python": []}.items():
        command = shlex.join([sys.executable, *words])
        (tools / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (tools / name).chmod(0o755)
    quick = script.replace("--lane jail", "--lane jail --games 4")
    return subprocess.run(
        ["bash", "-e", "-c", quick],
        cwd=folder,
        env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "BASE": "main~1"},
        capture_output=True,
        text=True,
        check=False,
    )


def _git(folder: Path, *words: str) -> None:
    author = ["-c", "user.name=a teacher", "-c", "user.email=teacher@localhost"]
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)
