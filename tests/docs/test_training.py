"""Training as its pages tell it: a network that learns, and the way to a bot."""

from __future__ import annotations

import csv
import io
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arena.batch.learner import Network, probabilities
from arena.batch.rollouts import pick
from arena.batch.trajectories import by_seat
from docs.examples.selfplay import ppo
from engine import STANDARD
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
def test_the_bot_plays_alike_in_every_lane(arena: Arena, tmp_path: Path) -> None:
    """The whole way in small: train, play."""
    (tmp_path / "learner").mkdir()
    train(tmp_path / "learner" / "weights.npz", "--games", "32")
    (tmp_path / "learner" / "bot.py").write_text((SELFPLAY / "bot.py").read_text())
    games = set()
    for lane in ("inproc", "process", "jail"):
        options = ["--pairs", "2", "--lane", lane, "--fresh", "--out", "out"]
        done = arena("play", "./learner/", "greedy", *options)
        assert done.returncode == 0, done.stderr
        games.add((tmp_path / "out" / "games.csv").read_bytes())
        with (tmp_path / "out" / "faults.csv").open(newline="") as file:
            assert list(csv.DictReader(file)) == []
    assert len(games) == 1


class First:
    """A rival that plays its first legal action."""

    def begin(self, deals: Any, seat: int, /) -> None:
        """Do nothing."""

    def follow(self, games: Any, actions: Any, /) -> None:
        """Do nothing."""

    def choose(self, games: Any, /) -> Any:
        """Return the first legal action of each game."""
        return pick(games, lambda games: np.tile(-np.arange(12.0), (games.count, 1)))


def networks(seed: int) -> tuple[Network, Network, np.random.Generator]:
    """Return small ones that have learned nothing."""
    rng = np.random.default_rng(seed)
    actor = Network.random([ppo.FEATURES, 8, ACTIONS], rng, last=0.01)
    return actor, Network.random([ppo.SEEN, 8, 1], rng), rng


def test_an_action_is_as_good_as_what_follows_it_says() -> None:
    """Worked out by hand, for two games of which one is shorter."""
    played = by_seat(
        [[0, 0], [1, 1], [0, -1]],
        [[0, 0], [0, 1], [-1, 0]],
        [[False, False], [False, True], [True, False]],
    )
    values = np.array([[0.5, 0.5], [0.25, 0.25], [-0.5, 9.0]], np.float32)
    found = ppo.advantages(values, played)
    last = -1 - -0.5
    middle = 0.5 - 0.25 - 0.95 * last
    first = -0.25 - 0.5 - 0.95 * middle
    assert found[:, 0] == pytest.approx([first, middle, last])
    assert found[:2, 1] == pytest.approx([-0.25 - 0.5 - 0.95 * 0.75, 0.75])


def test_decisions_are_those_of_whole_games_and_of_the_network_only() -> None:
    """Legal, of both seats, with their chances; against a rival in each seat in turn."""
    actor, _, rng = networks(1)
    decisions = ppo.play(actor, 16, rng)
    live = decisions.played.seats >= 0
    assert live[:12].sum() == 12 * 16
    assert len(live) <= STANDARD.game_plies
    steps, games = np.nonzero(live)
    assert decisions.masks[steps, games, decisions.actions[live]].all()
    assert {*decisions.played.seats[live].tolist()} == {0, 1}
    assert ((decisions.chances > 0) & (decisions.chances <= 1)).all()
    for game in range(16):
        last = np.flatnonzero(decisions.played.last[:, game])[-1]
        assert not live[last + 1 :, game].any()
    actor, _, rng = networks(1)
    rival = First()
    decisions = ppo.play(actor, 16, rng, rival)
    played = decisions.played
    assert played.seats.shape == (STANDARD.game_plies // 2, 16)
    assert (played.seats[0] == [0] * 8 + [1] * 8).all()
    assert (
        played.seats[played.seats >= 0] == np.tile(played.seats[0], (24, 1))[played.seats >= 0]
    ).all()
    assert {*played.returns[0].tolist()} <= {-1.0, 0.0, 1.0}
    assert (played.last.sum(axis=0) == 1).all()


@pytest.mark.slow
def test_a_network_learns_to_beat_a_rival() -> None:
    """That plays its first legal action: it wins more than it did."""
    actor, critic, rng = networks(3)
    rival = First()
    shares = []
    for lesson in range(12):
        decisions = ppo.play(actor, 128, rng, rival)
        shares.append(decisions.played.returns[0].mean() / 2 + 0.5)
        options = ppo.Options(rate=1e-2, batch=512)
        ppo.learn(actor, critic, decisions, rng, options, lesson / 12)
    assert np.mean(shares[-3:]) > np.mean(shares[:3]) + 0.15


def test_the_actor_climbs_the_clipped_objective() -> None:
    """The gradient is that of finite differences, also where a ratio is clipped or was likelier."""
    rng = np.random.default_rng(1)
    count, entropy = 12, 0.3
    logits = rng.normal(size=(count, ACTIONS))
    masks = rng.random((count, ACTIONS)) < 0.6
    actions = rng.integers(ACTIONS, size=count)
    masks[np.arange(count), actions] = True
    gain = np.where(np.arange(count) % 2, 1.5, -0.7)
    chosen = probabilities(logits, masks)[np.arange(count), actions]
    chances = chosen / np.repeat([0.5, 0.9, 1.1, 2.0], 3)

    def objective(logits: Any) -> float:
        shares = probabilities(logits, masks)
        ratio = shares[np.arange(count), actions] / chances
        clipped = np.clip(ratio, 1 - ppo.CLIP, 1 + ppo.CLIP)
        spread = -(shares * np.log(np.maximum(shares, 1e-12))).sum(axis=1)
        return float((np.minimum(ratio * gain, clipped * gain) + entropy * spread).mean())

    class Actor:
        """A network whose outputs are its only weights."""

        def __call__(self, _known: Any) -> Any:
            return logits

        def improve(self, slopes: Any, rate: float) -> None:
            self.slopes, self.rate = slopes, rate

    actor = Actor()
    no = np.zeros(count)
    lesson = ppo._Lesson(no, no, masks, actions, chances, no, gain, no)
    found = ppo._improve(actor, lesson, np.arange(count), 0.01, entropy)  # type: ignore[arg-type]
    wanted = np.zeros_like(logits)
    for place in np.ndindex(*logits.shape):
        step = np.zeros_like(logits)
        step[place] = 1e-5
        wanted[place] = (objective(logits + step) - objective(logits - step)) / 2e-5
    assert actor.slopes == pytest.approx(-wanted, abs=1e-6)
    assert actor.rate == 0.01
    assert 0 < found < np.log(ACTIONS)
