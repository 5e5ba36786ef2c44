"""Find the installed module or the program that a bot is, without running it."""

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


class Location(NamedTuple):
    """Where a module is: its name and file, and the folder from which it is imported."""

    module: str
    origin: Path
    folder: Path

    @property
    def package(self) -> Path | None:
        """The folder of all that ships with the module, None for a module of no package.

        It is that of the outermost package with an `__init__.py`. Where no package has one, it
        is the folder of the module: around it others may have put theirs.
        """
        around = self.origin.relative_to(self.folder).parents  # the innermost first
        folders = [self.folder / folder for folder in around][:-1]
        regular = [folder for folder in folders if (folder / "__init__.py").is_file()]
        return regular[-1] if regular else folders[0] if folders else None


def find_module(module: str, folders: Sequence[str]) -> Location | None:
    """Return where a module is, None where there is none; no package around it is run."""
    first, *rest = module.split(".")
    if not all((first, *rest)):
        return None
    spec = importlib.machinery.PathFinder.find_spec(first, folders)
    for finder in sys.meta_path:  # finds a package that is installed for editing
        spec = spec or finder.find_spec(first, None)
    for name in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        below = list(spec.submodule_search_locations)
        # without the names before it, which a namespace would look for among imported ones
        spec = importlib.machinery.PathFinder.find_spec(name, below)
    if spec is None or not spec.origin or not spec.has_location:
        return None
    origin = Path(spec.origin).absolute()
    return Location(module, origin, origin.parents[len(rest) + (origin.name == "__init__.py")])


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
"""What runs a file with this ending."""

_ELF = b"\x7fELF"
_SCRIPT = b"#!"


def command_of(path: str) -> str | None:
    """Return the spec of the program in a file, None where the file may be Python.

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
    """Return why the first word of a command is no program, and what to write where that is known.

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
    """Return whether a file is a program for this system, or a script of another language."""
    with suppress(InputError, OSError), open_file(path) as file:
        line = file.readline(200)
        return line.startswith(_ELF) or (line.startswith(_SCRIPT) and b"python" not in line)
    return False
