"""A network that learns against a bot which does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.batch.learner import from_bytes
from arena.batch.lockstep import Lockstep
from arena.entries.resolve import BOTS, resolve
from arena.errors import InputError
from arena.runs import teach_opponent
from arena.runs.teach_opponent import policy_of, teach
from bots.apprentice import read


def test_equal_luck_teaches_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whole lessons and the rest of one; another seed teaches something else."""
    monkeypatch.setattr(teach_opponent, "LESSON", 4)
    policy = policy_of(resolve("greedy"))
    assert policy is not None
    first, again, other = (teach(policy, 11, 0, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.games == 11
    assert first.content != other.content
    begun = from_bytes((BOTS / "apprentice.npz").read_bytes())
    assert all(
        np.abs(one - two).max() < 0.1
        for one, two in zip(from_bytes(first.content).layers, begun.layers, strict=True)
    )


def test_ctrl_c_keeps_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says in how many games."""
    monkeypatch.setattr(teach_opponent, "LESSON", 8)
    policy = policy_of(resolve("greedy"))
    asked = 0

    def stopping(games: Lockstep) -> Any:
        nonlocal asked
        asked += 1
        if asked > 96:  # 48 in a lesson: two whole ones
            raise KeyboardInterrupt
        assert policy is not None
        return policy(games)

    taught = teach(stopping, None, 3600, 1)
    assert taught.stopped
    assert taught.games == 16
    read(taught.content)


def test_only_policies_of_ours_are_asked(tmp_path: Path) -> None:
    """A stranger's code is not run by the arena itself, and a wrong parameter is one line."""
    (tmp_path / "odd.py").write_text("raise SystemExit('run')\n")
    assert policy_of(resolve(str(tmp_path / "odd.py"))) is None
    assert policy_of(resolve("champion")) is None
    with pytest.raises(InputError, match=r"bot 'timing': .*unexpected keyword"):
        policy_of(resolve("timing(depth=3)"))
