"""The way from an untrained network to a packed bot, as docs/training.md tells it."""

from __future__ import annotations

import csv
import io
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from arena.batch.learner import Network, probabilities
from engine.encoding import ACTIONS, VERSION
from tests import ROOT, markdown
from tests.conftest import Arena
from tests.waiting import PATIENCE

PAGE = ROOT / "docs" / "training.md"
SELFPLAY = ROOT / "docs" / "examples" / "selfplay"


def train(out: Path, *words: str) -> str:
    """Train a small network for a few games; return what was printed."""
    small = ["--together", "32", "--hidden", "16", "8", "--batch", "256", "--pairs", "2"]
    return run_example("train.py", "--out", str(out), *small, *words)


def run_example(name: str, *words: str) -> str:
    """Run a program of the folder; return what was printed."""
    done = subprocess.run(
        [sys.executable, str(SELFPLAY / name), *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
        cwd=ROOT,
    )
    return done.stdout


def test_the_page_has_the_bot_that_is_in_the_folder() -> None:
    """And no other file is there."""
    blocks = dict(markdown.named(PAGE.read_text(), "python"))
    assert blocks["bot.py"] == (SELFPLAY / "bot.py").read_text()
    files = {path.name for path in SELFPLAY.iterdir()} - {"__pycache__"}
    assert files == {
        *("bot.py", "ppo.py", "train.py", "train_rounds.py"),
        *("train.log", "league.log", "rounds.log"),
    }


@pytest.mark.slow
def test_a_seed_makes_the_same_weights(tmp_path: Path) -> None:
    """And another seed other ones; both fit the encoding."""
    content = []
    for number, seed in enumerate(("1", "1", "2")):
        log = train(tmp_path / f"{number}.npz", "--games", "64", "--seed", seed)
        assert log.splitlines()[-1].split()[:2] == ["64", "games"]
        content.append((tmp_path / f"{number}.npz").read_bytes())
    assert content[0] == content[1] != content[2]
    arrays = np.load(io.BytesIO(content[0]))
    assert int(arrays["version"]) == VERSION
    assert [arrays[f"layer{place}"].shape for place in (0, 2, 4)] == [
        (379, 16),
        (16, 8),
        (8, ACTIONS),
    ]


@pytest.mark.study
def test_the_first_rounds_are_trained_further(tmp_path: Path) -> None:
    """The same command makes the same weights."""
    words = ["--games", "1024", "--together", "128", "--rate", "0.0003", "--out"]
    content = []
    for name in ("a.npz", "b.npz"):
        log = run_example("train_rounds.py", *words, str(tmp_path / name))
        assert log.splitlines()[-1].split()[:2] == ["1,024", "games"]
        content.append((tmp_path / name).read_bytes())
    assert content[0] == content[1] != (ROOT / "bots" / "apprentice.npz").read_bytes()


def test_a_lesson_makes_the_best_action_likely() -> None:
    """Of three legal ones; the illegal one, which is worth as much, gains nothing."""
    learn = runpy.run_path(str(SELFPLAY / "train_rounds.py"))["learn"]
    rng = np.random.default_rng(1)
    actor, known = Network.random([4, 8, ACTIONS], rng), rng.random((64, 4), np.float32)
    masks, worths = np.zeros((2, 64, ACTIONS))
    masks[:, [1, 3, 5]] = worths[:, [3, 7]] = 1
    lesson, options = (known, masks > 0, worths), SimpleNamespace(epochs=50, batch=32)
    losses = [learn(actor, lesson, rng, 0.01, 0.001, options)[0] for _ in range(2)]
    assert losses[1] < losses[0]
    shares = probabilities(actor(known), masks > 0)
    assert shares[:, 3].min() > 0.9
    assert not shares[:, 7].any()


@pytest.mark.study
def test_it_learns(tmp_path: Path) -> None:
    """Some thousand games make it better than it began."""
    log = train(tmp_path / "weights.npz", "--games", "8192", "--together", "256", "--pairs", "100")
    shares = [float(line.split()[-1]) for line in log.splitlines()]
    assert shares[-1] > shares[0] + 0.1


@pytest.mark.slow
def test_the_packed_bot_plays_alike_in_every_lane(arena: Arena, tmp_path: Path) -> None:
    """The whole way in small: train, pack, play."""
    train(tmp_path / "weights.npz", "--games", "32")
    (tmp_path / "bot.py").write_text((SELFPLAY / "bot.py").read_text())
    done = arena("pack", "bot.py", "weights.npz", "-o", "learner.py")
    assert done.returncode == 0, done.stderr
    games = set()
    for lane in ("inproc", "process", "jail"):
        options = ["--pairs", "2", "--lane", lane, "--fresh", "--out", "out"]
        done = arena("play", "./learner.py", "greedy", *options)
        assert done.returncode == 0, done.stderr
        games.add((tmp_path / "out" / "games.csv").read_bytes())
        with (tmp_path / "out" / "faults.csv").open(newline="") as file:
            assert list(csv.DictReader(file)) == []
    assert len(games) == 1


@pytest.mark.slow
def test_a_network_goes_on_learning_with_a_rival(tmp_path: Path) -> None:
    """From weights that are there; the log has the rival's share."""
    begun = ROOT / "bots" / "apprentice.npz"
    words = ("--begin", str(begun), "--warm", "1", "--games", "16", "--together", "8")
    log = train(tmp_path / "on.npz", *words, "--rivals", "8")
    assert re.search(r"to the best response [01]\.\d{3}$", log.strip())
    assert (tmp_path / "on.npz").read_bytes() != begun.read_bytes()
