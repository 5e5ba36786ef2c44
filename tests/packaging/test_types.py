"""Type checkers find the types of an installed arena from another folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
