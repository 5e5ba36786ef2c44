"""`arena.evaluate`: several measures of a bot, each by its own owner, and a folder that goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import arena
from arena.addons.learn import evaluation
from arena.addons.learn.evaluation import Evaluation, evaluate
from tests.addons.rl.ground_truth import PATH
from tests.conftest import Arena

TRUTH = json.loads(PATH.read_text())
RANDOM = '''"""Plays at random, and has no scores."""


class Random:
    def __init__(self, setup):
        self.rng = setup.rng

    def choose(self, view, /):
        return self.rng.choice(view.legal)


bot = Random
'''
BROKEN = """class Broken:
    def __init__(self, setup):
        self.rng = setup.rng

    def choose(self, view, /):
        return self.rng.choice(view.legal)

    def scores(self, games, /):
        raise ValueError("no score today")


bot = Broken
"""


def value(found: Evaluation, measure: str, part: str) -> float:
    """Return one number of the table."""
    (one,) = [one.value for one in found.measures if (one.measure, one.part) == (measure, part)]
    return one


@pytest.fixture(scope="module")
def greedy(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """Return the measures of `greedy`, from few games."""
    folder = tmp_path_factory.mktemp("measures") / "out"
    return evaluate("greedy", pairs=1, out=folder, progress=False, workers=1)


@pytest.mark.slow
def test_each_measure_is_that_of_its_owner(greedy: Evaluation) -> None:
    """The score of the response is that of its run, and a small game has its ground truth."""
    run = arena.open(Path(greedy.folder) / "response")
    (row,) = run.standings.query("bot == 'probe-greedy'").to_dict("records")
    assert value(greedy, "response", "all") == pytest.approx(row["score"])
    for name in ("points", "city"):
        known = TRUTH[name]["policies"]["greedy"]["exploitability"]
        assert value(greedy, "exploitability", name) == pytest.approx(known, abs=1e-6)
    assert value(greedy, "exploitability", "hand3") > 0.5
    assert 1200 < value(greedy, "elo", "ladder") < 1600
    assert value(greedy, "loss", "all") > 0


@pytest.mark.slow
def test_what_the_rounds_take_adds_up_to_the_score(greedy: Evaluation) -> None:
    """Both games of a pair begin even, so the score less one half is the sum of the falls."""
    falls = sum(value(greedy, "taken", f"round {number}") for number in (1, 2, 3, 4))
    assert falls == pytest.approx(value(greedy, "response", "all") - 0.5, abs=1e-5)


@pytest.mark.study
def test_the_same_call_goes_on(greedy: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    """No game is played again, and nothing is computed again; a changed file is."""
    folder = Path(greedy.folder)
    before = (folder / "evaluation.json").read_bytes()
    monkeypatch.setattr(evaluation, "hook", None)
    again = evaluate("greedy", pairs=1, out=folder, progress=False, workers=1)
    assert (folder / "evaluation.json").read_bytes() == before
    assert again.measures == greedy.measures
    monkeypatch.undo()
    small = folder / "small.json"
    kept = small.read_bytes()
    for content in (b"", b"[]"):
        small.write_bytes(content)
        evaluate("greedy", pairs=1, out=folder, progress=False, workers=1)
        assert small.read_bytes() == kept


@pytest.mark.study
def test_a_stranger_without_scores_is_measured_by_its_clone(arena: Arena, tmp_path: Path) -> None:
    """In a process of its own; the table says that the response knows only a clone."""
    (tmp_path / "random_bot.py").write_text(RANDOM)
    words = ("--pairs", "1", "--workers", "1", "--quiet")
    done = arena("evaluate", "./random_bot.py", *words)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("response") and "it knows a clone" in line for line in lines)
    assert max(map(len, lines)) <= 100
    made = json.loads((tmp_path / "results/evaluate-random_bot/evaluation.json").read_text())
    assert made["bot"] == "random_bot"
    assert sum(one["measure"] == "exploitability" for one in made["measures"]) == 3


def test_mistakes_are_one_line(arena: Arena, tmp_path: Path) -> None:
    """A bot that is not there, and a folder that is a file."""
    (tmp_path / "file").write_text("")
    for words in (["nobody"], ["greedy", "--pairs", "0"], ["greedy", "--out", "file"]):
        done = arena("evaluate", *words)
        assert done.returncode == 2, words
        assert len(done.stderr.splitlines()) <= 4, done.stderr
        assert "Traceback" not in done.stderr


def test_a_bot_that_does_not_start_is_refused_before_a_game(arena: Arena, tmp_path: Path) -> None:
    """Nothing is played, and nothing is written."""
    (tmp_path / "broken.py").write_text("1 / 0\n")
    done = arena("evaluate", "./broken.py", "--pairs", "1")
    assert done.returncode == 2
    assert done.stderr.startswith("error: bot './broken.py': does not start: ZeroDivisionError")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "results").exists()


@pytest.mark.study
def test_a_response_that_cannot_ask_the_bot_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot whose `scores` fails makes its response forfeit: that is no score of the response."""
    (tmp_path / "broken.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(evaluation, "_exploit", lambda *_, **__: [])
    found = evaluate("./broken.py", pairs=1, progress=False, workers=1)
    assert not [one for one in found.measures if one.measure in ("response", "taken")]
    (note,) = found.notes
    assert note.startswith("response is left out: broken: its method scores fails: ")
