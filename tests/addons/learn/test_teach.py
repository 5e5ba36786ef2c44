"""A network is taught to beat a bot, which plays in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.addons.learn import teach_learner
from arena.addons.learn.opponents import meet_victim
from arena.addons.learn.ppo import Frozen, play
from arena.addons.learn.probe_bot import Choice, Probed
from arena.addons.learn.teach_learner import Amount, Learner, learn_clone, play_to_learn, teach
from arena.batch import learner
from arena.batch.learner import Choices, from_bytes
from arena.entries.resolve import BOTS, resolve
from arena.errors import InputError
from arena.runs.run import Interrupted
from bots.timing import bot as timing
from engine import STANDARD, Setup
from engine.seeds import stream
from tests.rogues import first
from tests.runs.test_verify import HERE

WEIGHTS = (BOTS / "apprentice.npz").read_bytes()


@pytest.mark.slow
def test_a_bot_plays_in_its_process_as_it_does_here() -> None:
    """The same games, in both seats."""
    strategy: Any = timing(Setup(stream(0), 0, STANDARD))
    here = play(from_bytes(WEIGHTS), 32, np.random.default_rng(1), Frozen(strategy.scores))
    with meet_victim(resolve("timing")) as victim:
        there = play(from_bytes(WEIGHTS), 32, np.random.default_rng(1), victim)
    assert (here.actions == there.actions).all()
    assert (here.played.returns == there.played.returns).all()


def test_a_clone_learns_from_the_bot_and_not_from_its_teacher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both seats: the choices of a bot that plays its first legal action are such actions."""
    seen: list[Choices] = []
    monkeypatch.setattr(learner, "imitate", lambda _, choices, __: seen.append(choices))
    play_to_learn(first("bot", "inproc"), tmp_path / "games", HERE, 1, 0.0, shown=False)
    learn_clone(tmp_path / "games", 1)
    (choices,) = seen
    assert {*choices.games.tolist()} == {0, 1}
    assert (choices.actions == choices.masks.argmax(axis=1)).all()


@pytest.mark.slow
def test_a_learner_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C in the middle of a lesson it comes to the same weights as without."""
    monkeypatch.setattr(teach_learner, "LESSON", 8)
    monkeypatch.setattr(teach_learner, "_FIRST", 1)
    entry, amount, learn = resolve("greedy"), Amount(20, 0), Learner.learn

    def stopped(self: Learner, *words: Any) -> None:
        learn(self, *words)
        if self.lessons == 2:
            raise KeyboardInterrupt

    whole = teach(entry, tmp_path / "whole", amount, 1, shown=False)
    monkeypatch.setattr(Learner, "learn", stopped)
    with pytest.raises(Interrupted):
        teach(entry, tmp_path / "parts", amount, 1, shown=False)
    monkeypatch.setattr(Learner, "learn", learn)
    assert teach(entry, tmp_path / "parts", amount, 1, shown=False) == whole
    assert whole
    assert whole[1] == 20
    assert teach(entry, tmp_path / "parts", amount, 1, shown=False) == whole  # it learns no more
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["learner-20.npz"]
    other = teach(entry, tmp_path / "other", amount, 2, shown=False)
    assert other
    assert whole[0] != other[0] != WEIGHTS


@pytest.mark.slow
def test_with_seconds_there_is_one_lesson_at_least(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a second call adds another one."""
    monkeypatch.setattr(teach_learner, "LESSON", 4)
    for pairs in (4, 8):
        found = teach(resolve("greedy"), tmp_path, Amount(None, 1e-6), 1, shown=False)
        assert found
        assert found[1] == pairs


@pytest.mark.slow
def test_a_file_that_is_no_learner_is_told(tmp_path: Path) -> None:
    """In one line; a bot without the method is none to learn from."""
    (tmp_path / "learner-4.npz").write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(InputError, match=r"learner-4\.npz: not a learner as it was kept"):
        teach(resolve("greedy"), tmp_path, Amount(4, 0), 1, shown=False)
    assert teach(resolve("uniform"), tmp_path, Amount(5, 0), 1, shown=False) is None
    assert teach(resolve("cmd:cat"), tmp_path, Amount(5, 0), 1, shown=False) is None


def test_the_better_opponent_is_chosen() -> None:
    """The response where both won as much; and what was measured then is said."""
    assert Choice(40, 10, 0.5, 0.6).best == "learner"
    choice = Choice(40, 1, 0.6, 0.6)
    assert choice.best == "response"
    lines = [*Probed("bot", "b.py", 5, 0.6, 0.55, 0.65, choice=choice).lines()]
    assert lines[2:] == [
        "it is the response, chosen in 1 other pair:",
        "  the best response won 60 %",
        "  a learner won 60 %, after 40 pairs",
    ]
