"""What the README prints is true: its commands, its bot, its config, its session."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

import engine
from arena.tournament import config
from engine import State
from engine.state import random_deal
from engine.view import view
from tests import ROOT, markdown
from tests.conftest import Arena

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return markdown.blocks(README, language)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder like a reader's clone, with the README's bot in it."""
    for folder in ("configs", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "my_bot.py").write_text(blocks("python")[0])
    return tmp_path


def test_the_two_commands_come_first() -> None:
    """The first console block is make tournament and make test."""
    assert README.split("```console\n")[1].split("```")[0] == "make tournament\nmake test\n"


def test_the_commands_run(clone: Path) -> None:
    """Every console line except make's, with this Python's arena."""
    commands = [line for line in markdown.commands(README) if not line.startswith("make ")]
    assert len(commands) >= 3
    for command in commands:
        done = markdown.run(command, clone)
        assert done.returncode == 0, done.stderr
        assert done.stdout
        assert "forfeits" not in done.stdout


def test_the_bot_plays_without_a_fault(arena: Arena, clone: Path) -> None:
    """The README's bot never forfeits, with and without its parameter."""
    specs = ["my_bot.py", "my_bot.py(patient=True)"]
    done = arena("play", *specs, "uniform", "--pairs", "50", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert len((clone / "out" / "faults.csv").read_text().splitlines()) == 1


def test_the_search_snippet_draws_a_world_and_plays_it_on() -> None:
    """It turns a view of a game in progress into the points of both seats."""
    names: dict[str, Any] = {"engine": engine}
    exec(blocks("python")[1], names)
    state = State(random_deal(Random(0)))
    for _ in range(10):
        state.apply(state.legal()[0])
    points = names["points_after_a_random_game"](view(state, state.to_act), Random(1))
    assert len(points) == 2


def test_the_config_can_be_read(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its three bots load, and its rules are valid."""
    (clone / "openings").mkdir()
    (clone / "friday.yaml").write_text(blocks("yaml")[0])
    monkeypatch.chdir(clone)
    friday = config.read(Path("friday.yaml"))
    assert len(config.resolve_bots(friday)) == 3
    assert friday.game_rules().tiebreak == "supports"


def test_the_session_is_what_python_prints() -> None:
    """Every >>> of the README."""
    assert markdown.failures("README", blocks("pycon")) == 0


def test_the_files_are_those_of_a_run(arena: Arena, clone: Path) -> None:
    """The table names exactly what a run leaves."""
    arena("play", "greedy", "uniform", "--pairs", "1", "--out", "out")
    named = set(re.findall(r"^\| `(\w+\.\w+)` \|", README, re.MULTILINE))
    assert named == {path.name for path in (clone / "out").iterdir()}
