"""`arena.probe`: what the command does, also of a class of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import arena


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
