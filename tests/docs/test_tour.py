"""The notebook docs/tour.ipynb runs, and what docs/course says can be done."""

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
from tests.rogues import write
from tests.runs.test_rogues import needs_jail
from tests.waiting import PATIENCE

TOUR = ROOT / "docs" / "tour.ipynb"


def read_tour() -> Any:
    """Return the notebook; its libraries are loaded only here."""
    import nbformat

    return nbformat.read(TOUR, 4)


def run_notebook(notebook: Any, folder: Path) -> list[Any]:
    """Run a notebook in a folder, and return its cells of code with their outputs."""
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook, timeout=PATIENCE, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=os.environ | {"PYTHONPATH": str(ROOT)})
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The tour's cells of code, after they have run."""
    return run_notebook(read_tour(), tmp_path_factory.mktemp("tour"))


def outputs_of(cell: Any) -> str:
    return str([output.get("data", output.get("text")) for output in cell.outputs])


@pytest.mark.slow
def test_the_tour_runs_from_the_first_game_to_a_plot_with_a_class_of_a_cell(
    cells: list[Any],
) -> None:
    """It is kept without outputs."""
    assert "greedy wins on points" in outputs_of(cells[1])
    assert all("class=&quot;chart" in outputs_of(cell) for cell in cells[-2:])
    (table,) = [cell for cell in cells if "patient" in cell.source and "arena.run" in cell.source]
    html = next(
        out["data"]["text/html"] for out in table.outputs if "text/html" in out.get("data", "")
    )
    assert html.count("patient") == 3
    assert html.count("<td>0</td>") == 5


@pytest.mark.slow
def test_the_tour_is_kept_without_outputs() -> None:
    """So a change of it is a change of its text."""
    assert not any(cell.get("outputs") for cell in read_tour().cells)


def measure(folder: Path, *words: str) -> str:
    """Return what a script of the repository prints, whose files are in a folder."""
    return subprocess.run(
        [sys.executable, "-m", *words, "--workers", "1", "--out", "out"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.slow
def test_facts_has_the_rows_of_the_page(tmp_path: Path) -> None:
    """A bot without luck has what the deal fixes from games against another one."""
    page = (ROOT / "docs" / "facts.md").read_text(encoding="utf-8")
    table = measure(tmp_path, "bench.facts", "greedy", "timing", "--percent", "0").splitlines()
    texts = [line.split(" | ")[0] for line in table[2:]]
    assert len(texts) > 12
    assert {text for text in texts if "drawn," not in text and "4 " not in text} <= {
        line.split(" | ")[0] for line in page.splitlines()
    }


@pytest.mark.slow
def test_a_data_set_has_the_loss_of_each_decision(tmp_path: Path) -> None:
    """With the chance after the action that was played."""
    words = ("greedy", "uniform", "--games", "2", "--worlds", "4")
    assert measure(tmp_path, "bench.dataset", *words).endswith(" decisions: out/games.jsonl\n")
    for line in (tmp_path / "out" / "games.jsonl").read_text().splitlines():
        game = json.loads(line)
        assert {*game["bots"]} == {"greedy", "uniform"}
        for one in game["decisions"]:
            assert 0 <= one["chances"][one["action"]] <= 1
            assert one["ply"] < len(game["actions"])


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


DRAWS = """
    def choose(self, view, /):
        import random
        return random.choice(view.legal)
"""


@pytest.mark.slow
@needs_jail
def test_the_workflow_refuses_a_bad_bot_and_accepts_a_good_one(course: Path) -> None:
    """Its scripts, in a repository: what was merged before is not checked again."""
    _git(course, "init", "--quiet", "--initial-branch", "main")
    _git(course, "add", ".")
    _git(course, "commit", "--quiet", "--message", "what was merged")
    (course / "submissions" / "good one.py").write_text((course / "submissions/ada.py").read_text())
    write(course / "submissions", "bad", DRAWS)
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
