"""A clone learns from the games of a bot."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.addons.learn.opponents import learn_clone, play_to_learn
from arena.batch import learner
from arena.batch.learner import Choices
from tests.kit import HERE
from tests.rogues import first


def test_a_clone_learns_from_the_bot_and_not_from_its_teacher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both seats: the choices of a bot that plays its first legal action are such actions."""
    seen: list[Choices] = []
    monkeypatch.setattr(learner, "imitate", lambda _, choices, __: seen.append(choices))
    play_to_learn(first("bot", "inproc"), tmp_path / "games", HERE, 1, shown=False)
    learn_clone(tmp_path / "games", 1)
    (choices,) = seen
    assert {*choices.games.tolist()} == {0, 1}
    assert (choices.actions == choices.masks.argmax(axis=1)).all()
