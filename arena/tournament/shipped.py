"""Find a config by its path or its name, and explain why something else is not a config."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from arena.entries.file import MAINS
from arena.entries.resolve import installed
from arena.errors import InputError, arena_command

_RUN = ("manifest.json", "run.sqlite")
"""Files that mark the folder of a run; the first is also valid as a config."""


def explain_no_config(path: Path) -> str:
    """Explain what a path contains instead of a config, with the command that was meant.

    The text is empty if the path may be a config.
    """
    if path.is_dir():
        bot = any((path / name).is_file() for name in MAINS)
        return _play(f"{path}/") if bot else "is a directory; a config is a YAML file"
    if path.suffix == ".py":
        return _play(str(path))
    if path.suffix == ".jsonl":
        return f"game records, not a config; to judge them: {arena_command('replay', [path])}"
    manifest = path.with_name(_RUN[0])
    if path.name != _RUN[0] and path.with_name(_RUN[1]).is_file() and manifest.is_file():
        command = arena_command("run", [manifest], ["--out", "FOLDER"])
        return f"a file of a run, not a config; to play the run again: {command}"
    return ""


def explain_no_name(word: str) -> str:
    """Explain a word that is not the name of a config, with the command that was meant."""
    if word in dict(installed()):
        return f"a bot, not a config; to play it: arena play {word} OPPONENT"
    for ending in (".yaml", ".yml"):
        if os.path.isfile(word + ending):
            return f"no such file, and no config has this name; did you mean {word}{ending}?"
    return ""


def _play(target: str) -> str:
    spec = target if "/" in target.rstrip("/") else f"./{target}"
    return f"a bot, not a config; to play it: {arena_command('play', [spec, 'greedy'])}"


FOLDER: Final = Path(__file__).parents[1] / "configs"


def shipped() -> list[str]:
    """Return the names of the configs that come with the arena, sorted.

    >>> shipped()
    ['ladder', 'long', 'quickstart', 'search']
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find_config(path: Path) -> Path:
    """Return the path of a config: a file, or the name of a config that comes with the arena.

    An existing file takes precedence. Raises InputError for a single word that is neither.

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
