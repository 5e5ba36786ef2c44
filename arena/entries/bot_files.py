"""Locate the files of a bot without running it, and read them."""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from arena.entries.loader import MOST_DATA, MOST_FILES
from arena.entries.spec import COMMAND
from arena.errors import InputError, naming
from arena.files import open_below, open_file

MOST_SOURCE = 1 << 20
"""The most bytes of a bot's file."""

MOST_PROGRAM = 1 << 30
"""The most bytes of a file that a command names, and of a package."""

_PIECE = 1 << 20

MOST_INSTALLED = 50_000
"""The most files and folders of an installed package."""

MAINS = ("bot.py", "__init__.py")
"""The file of a folder that defines `bot`: the first of these that exists."""

_CACHE = "__pycache__"
_STORE = "run.sqlite"


def add_file(digest: hashlib._Hash, path: str) -> None:
    """Add the content of a program's file to a hash, block by block.

    Raises InputError, which names the file.
    """
    left = MOST_PROGRAM
    with naming(path, OSError), open_file(path) as file:
        while piece := file.read(_PIECE):
            left -= len(piece)
            if left < 0:
                raise InputError(f"larger than {MOST_PROGRAM:,} bytes")
            digest.update(piece)


def find_files(folder: Path) -> dict[str, Path]:
    """Return the files of a bot's folder by relative path, sorted.

    Names that begin with a dot, and `__pycache__`, are skipped. Raises InputError, whose message
    omits the folder, for a link, for the folder of a run, and for more than `MOST_FILES` files.
    """
    found = {}
    for name, item in _walk(folder, MOST_FILES, links=False):
        if item.is_symlink():
            raise InputError(f"{name}: a link; copy what it leads to")
        found[name] = Path(item)
    return dict(sorted(found.items()))


def find_installed(folder: Path) -> dict[str, Path]:
    """Return all files of a package by relative path, sorted.

    Links are followed. Only `__pycache__` is skipped. Raises InputError, whose message omits the
    folder, for the folder of a run and for more than `MOST_INSTALLED` files.
    """
    found = _walk(folder, MOST_INSTALLED, links=True)
    return dict(sorted((name, Path(item)) for name, item in found))


def read_files(paths: Mapping[str, Path], folder: Path, most: int = MOST_DATA) -> dict[str, bytes]:
    """Return the content of a bot's files; links are not followed below its folder.

    Raises InputError for a file that is not regular, for a name that is not UTF-8, and for more
    than `most` bytes in all.
    """
    contents = {}
    left = most
    for name, path in paths.items():
        if name.encode(errors="ignore").decode() != name:
            raise InputError(f"{name!a}: the name is not UTF-8")
        with naming(name, OSError):
            is_below = path == folder / name
            with open_below(folder, name) if is_below else open_file(path) as file:
                contents[name] = file.read(left + 1)
            left -= len(contents[name])
            if left < 0:
                raise InputError(f"a bot has at most {most:,} bytes in all its files")
    return contents


def find_main(names: Iterable[str]) -> str:
    """Return the file of a bot's folder that defines `bot`; raise InputError without one."""
    there = {*names}
    for name in MAINS:
        if name in there:
            return name
    raise InputError(f"a bot's folder has a {' or a '.join(MAINS)}, and this one has neither")


def _walk(folder: Path, most: int, *, links: bool) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield everything below a folder except folders, by relative path.

    With `links`, linked folders are entered, too. Caches are skipped and, without `links`, hidden
    files.
    """
    waiting, seen, number = [("", str(folder))], {os.path.realpath(folder)}, 0
    while waiting:
        prefix, place = waiting.pop()
        for item in _scan(place, prefix or "the folder"):
            number += 1
            if number > most:
                raise InputError(f"more than {most:,} files and folders")
            name = prefix + item.name
            if item.name == _STORE:
                raise InputError(f"{name}: a run; a bot's folder holds only the bot")
            if item.name == _CACHE or (item.name.startswith(".") and not links):
                continue
            with naming(name, OSError):  # a cycle of links
                is_folder = item.is_dir(follow_symlinks=links)
            if not is_folder:
                yield name, item
            elif (real := os.path.realpath(item)) not in seen:
                seen.add(real)
                waiting.append((f"{name}/", item.path))


def _scan(place: str, name: str) -> Iterator[os.DirEntry[str]]:
    """Yield the items of a folder, unsorted; errors have the name."""
    with naming(name, OSError), os.scandir(place) as items:
        yield from items


_RUN_BY: Final = {
    **dict.fromkeys((".js", ".mjs", ".cjs"), "node"),
    ".ts": "deno run",
    ".rb": "ruby",
    ".lua": "lua",
    ".pl": "perl",
    ".php": "php",
    ".sh": "sh",
    ".jar": "java -jar",
    ".java": "java",
    ".jl": "julia",
}
"""The interpreter of a file, by the suffix of its name."""

_ELF = b"\x7fELF"
_SCRIPT = b"#!"
_MOST_LINE = 256


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


def interpreter_of(path: str) -> list[str] | None:
    """Return the words before the file of a program, none if it is executable.

    None: the file may be Python.

    >>> interpreter_of("hasty.js"), interpreter_of("hasty.py")
    (['node'], None)
    """
    ending = os.path.splitext(path)[1].lower()
    if ending in _RUN_BY:
        return _RUN_BY[ending].split()
    is_own = ending != ".py" and os.access(path, os.X_OK) and _is_program(path)
    return [] if is_own else None


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


def after_env(words: Sequence[str]) -> list[str]:
    """Return the program that `env` starts, as a list; empty for another command.

    >>> after_env(["/usr/bin/env", "-S", "A=1", "node", "x"]), after_env(["node"])
    (['node'], [])
    """
    if not words or Path(words[0]).name != "env":
        return []
    return [word for word in words[1:] if not word.startswith("-") and "=" not in word][:1]


def script_words(text: bytes) -> list[str]:
    """Return the words after #! in the first line of a script; empty for another file.

    >>> script_words(b"#!/usr/bin/env node\\n")
    ['/usr/bin/env', 'node']
    """
    line = text[:_MOST_LINE].partition(b"\n")[0]
    return os.fsdecode(line[2:]).split() if line.startswith(_SCRIPT) else []


def _is_program(path: str) -> bool:
    """Return whether a file is an executable of this system, or a script in another language."""
    with suppress(InputError, OSError), open_file(path) as file:
        line = file.readline(200)
        return line.startswith(_ELF) or (line.startswith(_SCRIPT) and b"python" not in line)
    return False
