"""Shipped: the configs that come with the arena, found by their names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from arena.errors import InputError
from arena.tournament.mistaken import explain_no_name

FOLDER: Final = Path(__file__).parents[1] / "configs"


def shipped() -> list[str]:
    """Return the names of the configs that come with the arena, in order.

    >>> shipped()
    ['ladder', 'long', 'quickstart', 'search']
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find_config(path: Path) -> Path:
    """Return the path of a config: a file, or the name of a config that comes with the arena.

    A file wins. Raises InputError for a single word that is neither.

    >>> find_config(Path("quickstart")).name
    'quickstart.yaml'
    """
    word = str(path)
    is_word = path.name == word and not path.suffix
    if not is_word or (os.path.lexists(path) and not path.is_dir()):
        return path
    if word in shipped():
        return FOLDER / f"{word}.yaml"
    if path.is_dir():
        return path
    if why := explain_no_name(word):
        raise InputError(f"{word}: {why}")
    names = ", ".join(shipped())
    raise InputError(f"{word}: no such file, and no config has this name; there are {names}")
