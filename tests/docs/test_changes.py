"""The diffs of docs/changes.md apply to the tree as it is, and do what the page says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import ROOT, markdown
from tests.tiers import few

NAMES = ("stopping rule", "option")
PAGE = (ROOT / "docs" / "changes.md").read_text(encoding="utf-8")
DIFFS = dict(zip(NAMES, markdown.blocks(PAGE, "diff"), strict=True))
TOPS = ("arena", "engine", "bots", "configs")
RUN = ("run", "cup.yaml", "--workers", "1", "--out", "out")
CONFIG = "bots: [greedy, uniform, {bot: uniform, label: other}]\nlane: inproc\npairs: 10\n"
TIRED = """import os

class Tired:
    def __init__(self, setup):
        pass

    def choose(self, view):
        raise RuntimeError(f"niceness {os.nice(0)}")

bot = Tired
"""
COMMANDS = """
import json, arena
from click import Context
from arena.cli import cli

def walk(command, name):
    if hasattr(command, "commands"):
        for one in command.list_commands(Context(command)):
            yield from walk(command.get_command(Context(command), one), f"{name} {one}")
    else:
        yield name, [option.name for option in command.params]

arena.play("greedy", "uniform", nice=0)
print(json.dumps(dict(walk(cli, ""))))
"""


def run(folder: Path, *words: str) -> str:
    """Run Python on the changed copy in a folder, and return its output."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_of(name: str) -> list[str]:
    """Return the files that a change adds or changes."""
    return re.findall(r"^\+\+\+ b/(.+)$", DIFFS[name], re.MULTILINE)


def apply(name: str, folder: Path) -> None:
    """Apply a change to the copy in a folder."""
    # without a repository around it, git takes the folder for the tree
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", "apply", "-C1", "-"],
        cwd=folder,
        env=own | {"GIT_CEILING_DIRECTORIES": str(folder.parent)},
        input=DIFFS[name],
        capture_output=True,
        text=True,
        check=False,
    )
    again = f"the change {name!r} of docs/changes.md no longer applies: make it again"
    assert done.returncode == 0, f"{again}\n{done.stderr}"


def ends_with_the_last(folder: Path) -> None:
    """Two bots that are the same one are never told apart, so `resolved` would go on."""
    bots = "[uniform, greedy, {bot: greedy, label: other}]"
    (folder / "cup.yaml").write_text(f"bots: {bots}\nlane: inproc\npairs: 10\n")
    said = run(folder, "-m", "arena", *RUN, "--until", "last")
    assert re.search("resolved after [0-9,]+ pairs: uniform is the weakest", said)


def lowers_the_priority_everywhere(folder: Path) -> None:
    """A bot sees it in a worker; every command that has workers has the option."""
    (folder / "tired.py").write_text(TIRED)
    (folder / "cup.yaml").write_text(CONFIG.replace("greedy", "./tired.py"))
    run(folder, "-m", "arena", *RUN, "--nice", "2")
    said = {*re.findall(r"niceness (\d+)", (folder / "out" / "report.md").read_text())}
    assert said == {str(min(19, os.nice(0) + 2))}
    options = json.loads(run(folder, "-c", COMMANDS))
    playing = {name for name, own in options.items() if {"workers", "executor"} & {*own}}
    assert len(playing) > 10
    assert not {name for name in playing if "nice" not in options[name]}


EFFECTS: dict[str, Callable[[Path], None]] = {
    "stopping rule": ends_with_the_last,
    "option": lowers_the_priority_everywhere,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_change_applies_and_touches_at_most_three_files(name: str, tmp_path: Path) -> None:
    """All of them in `arena/`; what else a change needs is said once, on the page."""
    files = files_of(name)
    assert 1 <= len({*files}) <= 3
    assert all(file.startswith("arena/") for file in files)
    there = [file for file in files if (ROOT / file).exists()]
    for file in there:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    apply(name, tmp_path)
    for file in files:
        changed = (tmp_path / file).read_text(encoding="utf-8")
        assert file not in there or changed != (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", few(NAMES, 0))
def test_a_change_does_what_the_page_says(name: str, tmp_path: Path) -> None:
    """In a copy of the tree."""
    for top in TOPS:
        shutil.copytree(ROOT / top, tmp_path / top, symlinks=True)
    (tmp_path / "cup.yaml").write_text(CONFIG)
    apply(name, tmp_path)
    EFFECTS[name](tmp_path)
