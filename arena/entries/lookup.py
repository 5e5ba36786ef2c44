"""Locate the installed module or the program of a bot, without running it."""

from __future__ import annotations

import importlib.machinery
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from arena.entries.file import open_file
from arena.entries.spec import COMMAND
from arena.errors import InputError

_RUN_BY: Final = {
    **dict.fromkeys((".js", ".mjs", ".cjs"), "node"),
    ".ts": "deno run",
    ".rb": "ruby",
    ".lua": "lua",
    ".pl": "perl",
    ".php": "php",
    ".sh": "sh",
    ".jar": "java -jar",
    ".jl": "julia",
}
"""The interpreter of a file, by the suffix of its name."""

_ELF = b"\x7fELF"
_SCRIPT = b"#!"


class Location(NamedTuple):
    """The place of a module: its name, its file, and the folder from which it is imported."""

    module: str
    origin: Path
    folder: Path

    @property
    def package(self) -> Path | None:
        """The folder of the package that contains the module, None for a top-level module.

        It is the folder of the outermost package with an `__init__.py`. If no package has one, it
        is the module's own folder: namespace packages may contain other people's modules.
        """
        around = self.origin.relative_to(self.folder).parents  # the innermost first
        folders = [self.folder / folder for folder in around][:-1]
        regular = [folder for folder in folders if (folder / "__init__.py").is_file()]
        return regular[-1] if regular else folders[0] if folders else None


def find_module(module: str, folders: Sequence[str]) -> Location | None:
    """Locate a module without running the packages around it; None if it is not found."""
    first, *rest = module.split(".")
    if not all((first, *rest)):
        return None
    spec = importlib.machinery.PathFinder.find_spec(first, folders)
    for finder in sys.meta_path:  # also for packages of editable installs
        spec = spec or finder.find_spec(first, None)
    for name in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        below = list(spec.submodule_search_locations)
        # only the last name: for a dotted one, a namespace looks up its parent in sys.modules
        spec = importlib.machinery.PathFinder.find_spec(name, below)
    if spec is None or not spec.origin or not spec.has_location:
        return None
    origin = Path(spec.origin).absolute()
    return Location(module, origin, origin.parents[len(rest) + (origin.name == "__init__.py")])


def command_of(path: str) -> str | None:
    """Return the spec for a file that is a program, None if the file may be Python.

    >>> command_of("bots/hasty.js"), command_of("bots/hasty.py")
    ('cmd:node bots/hasty.js', None)
    """
    ending = os.path.splitext(path)[1].lower()
    if ending in _RUN_BY:
        return f"{COMMAND}{_RUN_BY[ending]} {shlex.quote(path)}"
    if ending != ".py" and os.access(path, os.X_OK) and _is_program(path):
        return COMMAND + shlex.quote(path if "/" in path else f"./{path}")
    return None


def why_no_program(words: Sequence[str]) -> str:
    """Explain why the first word of a command cannot be run, with a suggestion if there is one.

    >>> why_no_program(["nodejs18", "hasty.js"])
    'no such program'
    """
    path = words[0]
    if not os.path.isfile(path):
        return "no such program"
    ending = os.path.splitext(path)[1].lower()
    runs = "python3" if ending == ".py" else _RUN_BY.get(ending)
    if runs:
        return f"not a program by itself; write {f'{COMMAND}{runs} {shlex.join(words)}'!r}"
    if os.access(path, os.X_OK):
        return f"not on the PATH; write {f'{COMMAND}./{shlex.join(words)}'!r}"
    return f"not executable; `chmod +x {shlex.quote(path)}` makes it so"


def _is_program(path: str) -> bool:
    """Return whether a file is an executable of this system, or a script in another language."""
    with suppress(InputError, OSError), open_file(path) as file:
        line = file.readline(200)
        return line.startswith(_ELF) or (line.startswith(_SCRIPT) and b"python" not in line)
    return False
