"""`arena probe` and `arena.probe`: an opponent that is proved, an exact figure, or one line."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.addons.learn import opponents, probe_bot
from arena.addons.learn.opponents import learn_clone, play_to_learn, respond_to, respond_to_clone
from arena.addons.rl import exact
from arena.batch import learner
from arena.batch.learner import Choices, Clone
from arena.entries.resolve import BOTS, resolve
from arena.executors.log import QUIET
from arena.runs.run import Interrupted
from bots.responder import Responder
from engine.play import setup
from tests.conftest import Arena
from tests.kit import HERE, refused
from tests.rogues import first


def test_a_clone_learns_from_the_bot_and_not_from_its_teacher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both seats: the choices of a bot that plays its first legal action are such actions."""
    seen: list[Choices] = []
    monkeypatch.setattr(learner, "imitate", lambda _, choices, __: seen.append(choices))
    play_to_learn(first("bot", "inproc"), tmp_path / "games", HERE, 1, 0, QUIET)
    learn_clone(tmp_path / "games", 1, 0)
    (choices,) = seen
    assert {*choices.games.tolist()} == {0, 1}
    assert (choices.actions == choices.masks.argmax(axis=1)).all()


def test_a_response_to_a_clone_trusts_it_as_far_as_it_is_alike(tmp_path: Path) -> None:
    """Its file is a zip with the clone, which plays; the blind one learns nothing from moves."""
    content = (BOTS / "apprentice.npz").read_bytes()
    for alike, doubt in ((0.31, 0.69), (1.0, 0.02), (0.0, 0.9)):
        clone = Clone(content, alike, 0.2)
        for blind in (False, True):
            assert (b"blind=True" in respond_to(resolve("greedy"), blind=blind)) is blind
            path = tmp_path / "response.zip"
            path.write_bytes(respond_to_clone(resolve("uniform"), clone, blind=blind))
            bot = resolve(str(path), lane="inproc").create(setup(1, 0))
            assert isinstance(bot, Responder)
            assert (bot.doubt, bot.blind) == (doubt, blind)


def test_a_probe_that_is_stopped_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opponent once it is written, and the games of a clone before."""

    def stopped(*_: object) -> None:
        raise Interrupted(1, 2)

    monkeypatch.setattr(probe_bot, "_measure", stopped)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Interrupted) as caught:
        arena.probe("greedy(patience=2)", progress=False)
    assert caught.value.__notes__ == ["the opponent is kept in probe-greedy-patience-2.py"]
    monkeypatch.setattr(probe_bot, "find_opponent", stopped)
    for learn, kept in ((None, "nothing is kept"), (9, "what was played is kept in results/")):
        with pytest.raises(Interrupted) as caught:
            arena.probe("greedy", learn=learn, progress=False)
        assert caught.value.__notes__[0].startswith(kept)


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


def test_a_probe_keeps_the_opponent_that_it_proves(arena: Arena, tmp_path: Path) -> None:
    """The gains of the rounds add up to its score; it is not replaced, and plays as it did."""
    words = ("--pairs", "2", "--seed", "5", "--workers", "1")
    done = arena("probe", "greedy", *words, "--blind", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["sentence"].startswith("greedy loses at least ")
    assert found["low"] < found["score"] <= found["high"]
    assert (found["bot"], found["file"], found["pairs"]) == ("greedy", "probe-greedy.py", 2)
    assert sum(one["value"] for one in found["rounds"]) == pytest.approx(found["score"] - 0.5)
    assert (len(found["rounds"]), found["clone"]) == (4, None)
    assert 0 <= found["blind"]["low"] < found["blind"]["high"] <= 1
    file = tmp_path / "probe-greedy.py"
    assert [*tmp_path.iterdir()] == [file]
    again = arena("probe", "greedy", *words, "-q")
    assert again.stdout.splitlines()[0] == found["sentence"]
    words = (*words, "--lane", "inproc", "--json")
    rows = json.loads(arena("play", "./probe-greedy.py", "greedy", *words).stdout)["standings"]
    (score,) = [row["score"] for row in rows if row["bot"] == "probe-greedy"]
    assert score == pytest.approx(found["score"], abs=1e-4)
    match = probe_bot._meet(resolve("greedy"), file, 1, 0)
    assert [entry.lane for entry in match.entries] == ["inproc", "inproc"]
    file.write_text("another file")
    why = "probe-greedy.py: exists already; --force replaces it"
    assert refused(arena("probe", "greedy", *words[:4])) == why


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """Return the folder of a bot that scores actions, with a module beside it."""
    folder = tmp_path / "first"
    folder.mkdir()
    (folder / "bot.py").write_text(STRANGER)
    (folder / "shown.py").write_text(BESIDE)
    return folder


MISTAKES = [
    (("champion(iterations=9)",), "champion(iterations=9): it has no method scores(games), by"),
    (("cmd:cat",), "bot 'cmd:cat': it has no method scores(games); --learn PAIRS learns it"),
    (("nobody",), "bot 'nobody': no bot 'nobody' in bots/"),
    (("greedy(depth=3)",), "bot 'greedy': got an unexpected keyword argument 'depth'"),
    (("first/bot.py",), "bot 'probe-bot.zip': does not start: ModuleNotFoundError: No module"),
    (("first/(broken=True)",), "first(broken=True): its method scores fails: ValueError: no score"),
    (("greedy", "--pairs", "0"), "Invalid value for '--pairs'"),
    (("greedy", "--out", "probe"), "probe: the file of this opponent ends in .py"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "message"), MISTAKES)
def test_a_bot_that_cannot_be_probed_is_told_in_one_line(
    arena: Arena, stranger: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    """And no opponent is left that cannot play."""
    assert refused(arena("probe", *words)).startswith(message)
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


def test_what_cannot_be_used_is_told(tmp_path: Path) -> None:
    """And leaves no file."""
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("greedy", {"pairs": 0}, "pairs: "),
        ("greedy", {"seed": -1}, "seed: "),
        ("uniform", {"learn": 0}, "learn: 0 is not a number from 1 to "),
        ("uniform", {}, "uniform: it has no method scores"),
    ]
    for bot, keys, message in cases:
        with pytest.raises(arena.InputError, match=message):
            arena.probe(bot, out=tmp_path / "b.py", progress=False, **keys)
    assert not [*tmp_path.iterdir()]


@pytest.fixture(autouse=True)
def _points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the smaller game."""
    monkeypatch.setattr(exact, "_MEASURED", ("points",))


def test_an_exact_probe_has_a_number_and_plays_nothing(arena: Arena, tmp_path: Path) -> None:
    """That of docs/openspiel.md, asked once at each view; what leaves small games to another bot
    has none, nor what is built as it is.
    """
    (game,) = json.loads(arena("probe", "greedy", "--exact", "--json").stdout)["games"]
    assert (game["exact"], game["low"], game["high"], game["trials"]) == (True, 0.5, 0.5, 1)
    done = arena("probe", "greedy", "--exact", "-q")
    assert done.stdout.splitlines()[1] == "  points: 0.5000, exact: asked at each of 253 choices"
    why = "not with --exact, which plays nothing"
    assert refused(arena("probe", "greedy", "--exact", "--pairs", "3")) == f"--pairs: {why}"
    (tmp_path / "mine.py").write_text("from bots.apprentice import bot\n")
    for spec, name in (("apprentice", "apprentice"), ("./mine.py", "mine")):
        why = f"{name}: under other rules than the published ones it plays as Timing, so it has no "
        assert refused(arena("probe", spec, "--exact")) == why + "figure of its own"


@pytest.mark.slow
def test_a_sample_has_an_interval_that_covers_the_truth() -> None:
    """With other luck each time; it is 0.6708, by all actions alike."""
    for seed in range(5):
        (found,) = opponents.probe_small(resolve("uniform"), seed, shown=False)
        assert not found.exact
        assert found.low < 0.6708 < found.high < found.low + 0.2


@pytest.mark.slow
def test_the_bot_of_a_stranger_is_asked_in_its_own_process(arena: Arena, stranger: Path) -> None:
    """Exactly with scores, and by a sample without."""
    plain = shutil.copytree(stranger, stranger.with_name("plain"))
    (plain / "bot.py").write_text(STRANGER.replace("def scores", "def other"))
    found = []
    for name in ("first/", "plain/"):
        (game,) = json.loads(arena("probe", name, "--exact", "--json").stdout)["games"]
        found.append((game["exact"], round(game["low"], 6), round(game["high"], 6)))
    assert found == [(True, 0.941667, 0.941667), (False, 0.941667, 0.941667)]
