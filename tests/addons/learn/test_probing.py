"""`arena.probe`: what the command does, also of a class of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import arena
from engine import Action, Setup, View


class First:
    """Plays its first legal action, and says so of many games."""

    def __init__(self, _setup: Setup) -> None:
        pass

    def choose(self, view: View, /) -> Action:
        """Return the action."""
        return view.legal[0]

    def scores(self, games: Any, /) -> Any:
        """Return the scores."""
        import numpy as np

        return np.tile(-np.arange(12.0), (games.count, 1))


@pytest.mark.study
def test_a_class_travels_with_its_opponent(tmp_path: Path) -> None:
    """Which then plays without the program."""
    file = tmp_path / "against.py"
    found = arena.probe(First, pairs=1, out=file, progress=False)
    assert (found.bot, found.pairs, found.clone) == ("First", 1, None)
    assert arena.play(file, "uniform").fault is None


@pytest.mark.parametrize(
    ("bot", "keys", "message"),
    [
        ("greedy", {"pairs": 0}, "pairs: "),
        ("greedy", {"seed": -1}, "seed: "),
        ("uniform", {"learn": 0}, "learn: 0 is not a number from 1 to "),
        ("uniform", {}, "uniform: it has no method scores"),
    ],
)
def test_what_cannot_be_used_is_told(
    tmp_path: Path, bot: str, keys: dict[str, Any], message: str
) -> None:
    """And leaves no file."""
    with pytest.raises(arena.InputError, match=message):
        arena.probe(bot, out=tmp_path / "b.py", progress=False, **keys)
    assert not [*tmp_path.iterdir()]
