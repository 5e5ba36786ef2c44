"""`arena probe`: an opponent that is proved, and one line where there is none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_mistakes import refusal
from tests.conftest import Arena

STRANGER = '''"""Plays its first legal action, and scores actions so."""

from shown import scored


class First:
    def __init__(self, setup, broken=False):
        self.broken = broken

    def choose(self, view, /):
        return view.legal[0]

    def scores(self, games, /):
        return scored(games.count, self.broken)


bot = First
'''
BESIDE = """import numpy as np


def scored(count, broken):
    if broken:
        raise ValueError("no score today")
    return np.tile(-np.arange(12.0), (count, 1))
"""


@pytest.mark.slow
def test_a_probe_keeps_the_opponent_that_it_proves(arena: Arena, tmp_path: Path) -> None:
    """Played again by any number of workers, it wins the same games."""
    words: tuple[str, ...] = ("--pairs", "2", "--seed", "5", "--workers", "1", "--blind", "--json")
    done = arena("probe", "greedy", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["sentence"].startswith("greedy loses at least ")
    assert found["low"] < found["score"] <= found["high"]
    assert (found["bot"], found["file"], found["pairs"]) == ("greedy", "probe-greedy.py", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["probe-greedy.py"]
    assert sum(one["value"] for one in found["rounds"]) == pytest.approx(found["score"] - 0.5)
    assert 0 <= found["blind"]["low"] < found["blind"]["high"] <= 1
    words = ("--pairs", "2", "--seed", "5", "--workers", "2")
    again = arena("probe", "greedy", *words)
    assert again.stdout.splitlines()[0] == found["sentence"]
    words = (*words, "--lane", "inproc", "--json")
    rows = json.loads(arena("play", "./probe-greedy.py", "greedy", *words).stdout)["standings"]
    (score,) = [row["score"] for row in rows if row["bot"] == "probe-greedy"]
    assert score == pytest.approx(found["score"], abs=1e-4)


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """Return the folder of a bot that scores actions, with a module beside it."""
    folder = tmp_path / "first"
    folder.mkdir()
    (folder / "bot.py").write_text(STRANGER)
    (folder / "shown.py").write_text(BESIDE)
    return folder


MISTAKES = [
    (
        ("uniform",),
        "uniform: it has no method scores(games), by which its policy is asked; --learn PAIRS",
    ),
    (("champion(iterations=9)",), "champion(iterations=9): it has no method scores(games), by"),
    (("cmd:cat",), "bot 'cmd:cat': it has no method scores(games); --learn PAIRS learns it"),
    (("nobody",), "bot 'nobody': no bot 'nobody' in bots/"),
    (("greedy(depth=3)",), "bot 'greedy': got an unexpected keyword argument 'depth'"),
    (
        ("first/bot.py",),
        "bot 'probe-bot.zip': does not start: ModuleNotFoundError: No module",
    ),
    (("first/(broken=True)",), "first(broken=True): its method scores fails: ValueError: no score"),
    (("greedy", "--pairs", "0"), "Invalid value for '--pairs'"),
    (("uniform", "--learn", "0"), "Invalid value for '--learn'"),
    (("greedy", "--out", "probe"), "probe: the file of this opponent ends in .py"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_a_bot_that_cannot_be_probed_is_told_in_one_line(
    arena: Arena, stranger: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    """And no opponent is left that cannot play."""
    assert refusal(arena, "probe", *words).startswith(message)
    assert [path.name for path in tmp_path.iterdir()] == [stranger.name]


@pytest.mark.study
def test_a_bot_without_scores_is_probed_by_a_clone(arena: Arena, tmp_path: Path) -> None:
    """The same one by any number of workers; the games are kept, and not played again."""
    words = ("probe", "uniform", "--learn", "9", "--pairs", "1")
    first = arena(*words, "--workers", "1")
    assert first.returncode == 0, first.stderr
    assert re.search(r"^it knows only a clone, learned from 9 pairs: ", first.stdout, re.M)
    opponent = (tmp_path / "probe-uniform.zip").read_bytes()
    (folder,) = (tmp_path / "results").iterdir()
    starts = (folder / "run.log").read_text().count("ready: ")
    assert starts
    again = arena(*words, "--workers", "2", "--json")
    document = json.loads(again.stdout)
    assert document["sentence"] == first.stdout.splitlines()[0]
    assert document["clone"]["pairs"] == 9
    assert document["clone"]["before"] < 0.7  # it would be 1 for the moves of apprentice itself
    assert (tmp_path / "probe-uniform.zip").read_bytes() == opponent
    assert (folder / "run.log").read_text().count("ready: ") == starts
    longer = arena("probe", "uniform", "--learn", "17", "--pairs", "1", "--out", "b.zip")
    assert re.search(r"learned from 17 pairs: ", longer.stdout)
