"""On Windows and macOS nothing ends with a traceback: it works, or one line says what it needs.

This is Linux, where what those systems lack is hidden (`without.py`). docs/platforms.md says what
is known of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.cli import PLAIN, SECTIONS
from tests import ROOT
from tests.waiting import PATIENCE

REFUSED = "Linux or macOS is needed: on win32 no process can be forked"

BEGIN = """
import subprocess
from tests.systems.without import hide
subprocess.Popen.kill = subprocess.Popen.terminate  # as on Windows
hide({system!r})
"""
COMMANDS = """
from tests.answering import answer
answer({commands!r}, {record!r})
"""
IMPORTS = """
import importlib, pkgutil
import arena, bots, engine
for package in (engine, bots, arena):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        name = module.name
        skipped = name.endswith(".__main__") or ".template" in name
        if skipped or ({system!r} == "win32" and name.startswith("arena.addons.table.")):
            continue
        try:
            importlib.import_module(name)
        except arena.InputError as error:  # a library is not installed
            assert "is not installed" in str(error), (name, error)
"""
RECORD = '{"deal": "555556666667777777888888882222334xxxyyyyzzCCC", "actions": "56T"}\n'


def run_on(system: str, code: str, folder: Path, **values: Any) -> str:
    """Run code where a system's lacks are hidden, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", (BEGIN + code).format(system=system, **values)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": os.defpath, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_every_module_is_imported_on_other_systems(tmp_path: Path, system: str) -> None:
    """On Windows all but those of the table, which its command imports when it is not refused."""
    run_on(system, IMPORTS, tmp_path)


@pytest.mark.slow
def test_every_command_answers_on_windows(tmp_path: Path, arena: Any) -> None:
    """None has a traceback: it works, or its status is 2 and its one line says why."""
    run = tmp_path / "run"
    arena("play", "greedy", "uniform", "--pairs", "2", "--out", "run")
    reading = {
        "report": ["report", "run"],
        "show": ["show", "run"],
        "rate": ["rate", "run"],
        "plan": ["plan", "4", "--gap", "20"],
        "view": ["view", "run"],
        "export": ["export", "run"],
        "replay": ["replay", "-"],
        "bots": ["bots"],
        "new": ["new", "my_bot"],
        "docs": ["docs", "--path"],
        "doctor": ["doctor"],
    }
    names = [name for names in SECTIONS.values() for name in names]
    assert PLAIN == {*reading} < {*names}
    commands = [reading.get(name, [name]) for name in names]
    printed = run_on("win32", COMMANDS, run.parent, commands=commands, record=RECORD)
    for words, line in zip(commands, printed.splitlines(), strict=True):
        (status, message), name = json.loads(line), words[0]
        assert name != "doctor" or "cannot be forked" in message
        if name in PLAIN:
            assert status == (name == "doctor"), (words, status, message)
        else:
            assert (status, message.count("\n")) == (2, 1), message
            assert message.startswith(f"error: arena {name}: {REFUSED}")
