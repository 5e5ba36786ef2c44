"""Steps: which tests try a mutant, in which order: its own, its room's, and those of each tier."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from bench.mutants.mutant import Mutant

_QUICK, _SLOW = "not study and not slow", "slow and not study"
_ALL = ("engine", "bots", "arena", "tests")
_ROOMS: Final = {
    "engine": ("engine", "tests/rulebook", "tests/engine"),
    "bots": ("bots", "tests/bots"),
    "arena": ("tests/test_imports.py",),
}

STEPS: Final = ("module", "room", "test", "test-all")
"""A mutant takes the next step where it has survived the one before."""


class Step(NamedTuple):
    """A name of `STEPS`, the marker of its tests, and pytest's words for where they are."""

    name: str
    marker: str
    words: tuple[str, ...]


def steps(mutant: Mutant, root: Path) -> list[Step]:
    """Return the steps of a mutant: the quick tests from the nearest on, then the slow ones.

    The steps to `test` are together the tests of `make test`, and the last is what `make test-all`
    has besides. No test is run twice.
    """
    room = [path for path in _room(mutant.room) if (root / path).exists()]
    files = _importing(mutant.module, root)
    inside = [file for file in files if file.startswith(tuple(f"{path}/" for path in room))]
    beyond = [file for file in files if file not in inside]
    own = [mutant.module, *inside]
    return [
        Step("module", _QUICK, tuple(own)),
        Step("room", _QUICK, (*room, *_but(own))),
        Step("test", _QUICK, (*beyond, *_ALL, *_but(own), *_but(room))),
        Step("test-all", _SLOW, (*files, *_ALL)),
    ]


def _room(room: str) -> tuple[str, ...]:
    return _ROOMS.get(room, (room, f"tests/{room.removeprefix('arena/')}"))


def _but(paths: list[str]) -> list[str]:
    return [f"--ignore={path}" for path in paths]


def _importing(module: str, root: Path) -> list[str]:
    """Return the test files that are named after the module, or import from it by its name."""
    path = Path(module)
    package = ".".join(path.parent.parts)
    phrases = (f"from {package}.{path.stem} import", f"import {package}.{path.stem}\n")
    return [
        file.relative_to(root).as_posix()
        for file in sorted((root / "tests").rglob("test_*.py"))
        if file.stem == f"test_{path.stem}"
        or any(phrase in file.read_text(encoding="utf-8") for phrase in phrases)
    ]
