"""The bots in docs/examples/ stay short, and play whole runs as programs of their own."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arena.entries.resolve import resolve
from bots import timing
from engine import Rules, play_game
from tests import ROOT, markdown
from tests.conftest import Arena
from tests.kit import csv_rows
from tests.waiting import PATIENCE

EXAMPLES = ROOT / "docs" / "examples"
NODE = shutil.which("node")
COMPILER = shutil.which("cc") or shutil.which("gcc")
PROGRAMS = ("bot.py", "learn.py")
NAMES = ("greedy.js", "language_model.py", "plain.py", "rollouts.py")
BUILT = ("careful/careful.c", "steady/Steady.java", "thrifty/thrifty.rs")
MASKABLE = ("maskable_ppo.py", "maskable_bot.py")
NO_NODE = pytest.mark.skipif(NODE is None, reason="greedy.js needs node")
NO_COMPILER = pytest.mark.skipif(COMPILER is None, reason="careful.c needs cc or gcc")


def runnable(*slow: str) -> pytest.MarkDecorator:
    """Return the mark of a test of each example, of which some are slow."""
    needs = {"greedy.js": [NO_NODE], "careful.c": [NO_COMPILER], "plain.py": []}
    params = [
        pytest.param(name, marks=[*marks, *[pytest.mark.slow] * (name in slow)])
        for name, marks in needs.items()
    ]
    return pytest.mark.parametrize("name", params)


def spec(name: str, folder: Path) -> str:
    """Return the spec of an example; a program in C is built in the folder first."""
    source = str(EXAMPLES / ("careful/careful.c" if name == "careful.c" else name))
    if name == "greedy.js":
        return f"cmd:{shlex.join([str(NODE), source])}"
    if name == "plain.py":
        return f"cmd:{shlex.join([sys.executable, source])}"
    program = str(folder / "careful")
    done = subprocess.run(
        [str(COMPILER), "-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", program, source],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return f"cmd:{shlex.quote(program)}"


def test_each_is_one_short_file() -> None:
    """The author of a bot can read one in a few minutes; a language model takes a few more."""
    files = [path for path in EXAMPLES.iterdir() if path.is_file()]
    sources = {path.name: path.read_text().splitlines() for path in files}
    assert set(sources) == {*NAMES, *MASKABLE}
    sources |= {name: (EXAMPLES / name).read_text().splitlines() for name in BUILT}
    for name, lines in sources.items():
        assert len(lines) < (120 if name == "language_model.py" else 100), name
        assert max(map(len, lines)) <= 100, name


@pytest.mark.slow
def test_a_network_of_maskable_ppo_comes_back_as_a_bot(arena: Arena, tmp_path: Path) -> None:
    """With weights as sb3-contrib gives them; other rules it plays as timing."""
    rng = np.random.default_rng(1)
    shapes = {
        "mlp_extractor.policy_net.0": (128, 354),
        "mlp_extractor.policy_net.2": (128, 128),
        "action_net": (12, 128),
    }
    weights = {f"{name}.weight": rng.normal(size=shape) for name, shape in shapes.items()}
    weights |= {f"{name}.bias": rng.normal(size=shape[0]) for name, shape in shapes.items()}
    (tmp_path / "learner").mkdir()
    np.savez(tmp_path / "learner" / "maskable_ppo.npz", **weights)
    shutil.copy(EXAMPLES / "maskable_bot.py", tmp_path / "learner" / "bot.py")
    done = arena("play", "./learner/", "uniform", "--pairs", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    games = csv_rows(tmp_path / "out" / "games.csv")
    assert len(games) == 4
    assert "forfeit" not in {game["win_type"] for game in games}
    learner, rules = resolve(str(tmp_path / "learner")).create, Rules(take_size=4)
    game = play_game(learner, learner, seed=1, rules=rules)
    assert game == play_game(timing.bot, timing.bot, seed=1, rules=rules)


@runnable("greedy.js", "careful.c", "plain.py")
def test_it_plays_every_game_and_beats_uniform(arena: Arena, tmp_path: Path, name: str) -> None:
    """Of twenty games it forfeits none, and wins more than it loses."""
    example = spec(name, tmp_path)
    done = arena("play", example, "uniform", "--pairs", "10", "--out", "out")
    assert done.returncode == 0, done.stderr
    by_bot = {row["bot"]: row for row in csv_rows(tmp_path / "out" / "standings.csv")}
    uniform = by_bot.pop("uniform")
    (own,) = by_bot.values()
    assert own["games"] == uniform["games"] == "20"
    assert own["forfeits"] == uniform["forfeits"] == "0"
    assert int(own["wins"]) > int(own["losses"])
    games = csv_rows(tmp_path / "out" / "games.csv")
    assert len(games) == 20
    assert "forfeit" not in {game["win_type"] for game in games}


LINEAR = EXAMPLES / "linear"


def test_the_learned_bot_is_that_of_its_page() -> None:
    """Its two programs are those that the page prints, and its weights are those they make."""
    page = (ROOT / "docs" / "training.md").read_text().split("## Self-play")[0]
    printed = dict(markdown.named(page, "python"))
    assert {path.name for path in LINEAR.iterdir()} - {"__pycache__"} == {*PROGRAMS, "weights.npz"}
    for name in PROGRAMS:
        assert (LINEAR / name).read_text() == printed[name]


@pytest.mark.slow
def test_the_bot_of_rollouts_is_on_its_page_and_beats_a_rule() -> None:
    """It chooses without knowing the hand that the opponent holds."""
    text = (EXAMPLES / "rollouts.py").read_text()
    blocks = dict(markdown.named((ROOT / "docs" / "searching.md").read_text(), "python"))
    assert blocks["rollouts.py"] == text
    assert len(text.splitlines()) <= 40
    made = resolve(str(EXAMPLES / "rollouts.py"), params={"worlds": 8}).create
    won = [
        play_game(*seats, seed=seed).winner == seats.index(made)
        for seed in range(4)
        for seats in ((made, timing.bot), (timing.bot, made))
    ]
    assert sum(won) > 4
