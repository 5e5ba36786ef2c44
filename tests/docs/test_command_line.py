"""What docs/command-line.md says is true: its commands, and the keys of the documents."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests import ROOT, markdown
from tests.conftest import Arena

PAGE = (ROOT / "docs" / "command-line.md").read_text()


def keys(command: str) -> set[str]:
    """Return the keys that the table names for the document of a command."""
    table = PAGE.split("| command | keys |")[1].split("\n\n")[0]
    (row,) = re.findall(rf"^\| .*`{command}`.*? \| (.+) \|$", table, re.MULTILINE)
    row = row.partition(": a list of")[0]
    return {*re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row))}


def one_shows_the_game_that_another_one_has_played(ran: markdown.Ran, _: Path) -> None:
    """The last one does."""
    assert "ply 0: " in ran[-1][1].stdout or "seat " in ran[-1][1].stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        *("play", "bots", "compare", "plan", "verify", "doctor", "ablate", "analyse"),
        "probe",
        *(pytest.param(name, marks=pytest.mark.study) for name in ("tune", "check")),
    ],
)
def test_the_documents_have_the_keys_of_the_table(arena: Arena, command: str) -> None:
    """All of them, and no others."""
    arena("play", "greedy", "uniform", "--pairs", "1", "--out", "out")
    words = {
        "play": ["greedy", "uniform", "--pairs", "1"],
        "compare": ["greedy", "uniform", "--max-pairs", "1"],
        "plan": ["3", "--gap", "100"],
        "ablate": ["quickstart", "--rule", "set_bonus=0", "--pairs", "1"],
        "tune": ["greedy", "--param", "patience=3,9", "--against", "uniform", "--budget", "112"],
        "probe": ["greedy", "--pairs", "1"],
        "analyse": ["out", "--by", "greedy", "--worst", "0"],
        "verify": ["out"],
        "check": ["greedy", "--games", "4", "--lane", "process"],
    }
    done = arena(command, *words.get(command, []), "--json")
    names = {*json.loads(done.stdout)}
    assert names - {"findings"} == keys(command) - {"findings"}


@pytest.mark.slow
def test_an_export_has_the_keys_of_the_table(arena: Arena) -> None:
    """With a fault where there is one, and rules where they are changed."""
    rows = re.findall(r"^\| (`.+?) \|", PAGE.split("| key | what |")[1], re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    arena("play", "greedy", "uniform", "--pairs", "1", "--out", "out")
    game = {*json.loads(arena("export", "out").stdout.splitlines()[0])}
    assert game < named
    assert {"rules", "fault"} <= named - game
