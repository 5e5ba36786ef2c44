"""Find the files of a command: those to copy, those to use in place, and their interpreter."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from arena.entries.file import find_program_files, read_files
from arena.entries.needs import locate, why_hidden
from arena.errors import InputError

MOST_COPIED: Final = (2000, 64 << 20)
"""The most files of a command that are copied, and their most bytes in all."""

COPY: Final = "\0"
"""The first character of a word that names a copied file; a typed command cannot contain it."""

_INTERPRETERS = re.compile(
    r"node|deno|bun|ruby|lua[\d.]*|perl|php|java|julia|guile|(?:python|pypy)[\d.]*|bash"
)
_PATIENCE = 10.0  # seconds
_MOST_VERSION = 100  # characters
_INSTALLED = ("bin", "sbin")  # names of folders of installed programs, which are not bots


class Copied(NamedTuple):
    """The files of a command by relative path in the folder `home`, and its words for the copy.

    `stays` are files that are hashed and used in place; `note` is the reason if not the whole
    folder is copied.
    """

    words: tuple[str, ...]
    home: str
    files: dict[str, bytes]
    stays: list[str]
    note: str


def copy_command(words: Sequence[str], needs: Iterable[str]) -> Copied:
    """Return the files of a command to copy: the folder of the first file that it names.

    If the folder cannot be copied whole, only its files and folders that the command names or
    needs are.
    """
    named = [os.path.abspath(word) for word in words[1:] if os.path.exists(word)]
    if _is_own(words[0], named):
        named.insert(0, os.path.abspath(words[0]))
    first = next(filter(os.path.isfile, named), None)
    home = Path(first).parent if first else Path(named[0]) if named else None
    files: dict[str, bytes] = {}
    note = ""
    if home:
        try:
            if note := why_hidden(home):
                raise InputError(note)
            files = read_files(find_program_files(home, MOST_COPIED[0]), home, MOST_COPIED[1])
        except InputError as error:
            note = str(error)
            files = read_parts(home, [*map(Path, named), *map(locate, needs)], *MOST_COPIED)
    program = [shutil.which(words[0]) or words[0], *words[1:]]
    placed = tuple(_place(word, home, files, whole=not note) for word in program)
    stays = [one for one, word in zip(words, placed, strict=True) if not word.startswith(COPY)]
    return Copied(placed, str(home) if files else "", files, [*filter(os.path.isfile, stays)], note)


def _is_own(program: str, named: Sequence[str]) -> bool:
    """Return whether a program is the bot itself, and not an interpreter of the files named."""
    path = Path(os.path.abspath(program))
    if not ("/" in program and path.is_file()) or path.parent.name in _INSTALLED:
        return False
    return not path.is_relative_to("/usr") and (
        not named or any(path.parent in Path(one).parents for one in named)
    )


def read_parts(
    home: Path, parts: Iterable[Path], most_files: int, most_bytes: int
) -> dict[str, bytes]:
    """Return the files among `parts` and in folders among them that are below `home`.

    A part that cannot be read, or with which the files exceed one of the limits, is skipped.
    """
    found: dict[str, Path] = {}
    files: dict[str, bytes] = {}
    for part in parts:
        if home not in part.parents or (part.is_dir() and why_hidden(part)):
            continue
        name = part.relative_to(home).as_posix()
        try:
            inner = find_program_files(part, most_files) if part.is_dir() else {"": part}
            more = found | {f"{name}/{one}" if one else name: path for one, path in inner.items()}
            if len(more) <= most_files:
                files, found = read_files(more, home, most_bytes), more
        except InputError:
            continue
    return files


def _place(word: str, home: Path | None, files: Mapping[str, bytes], *, whole: bool) -> str:
    """Return a word of the command for the copy; a path outside the copy becomes absolute."""
    if not os.path.exists(word):
        return word
    path = Path(os.path.abspath(word))
    if home and files and path.is_relative_to(home):
        name = path.relative_to(home).as_posix()
        if name in files or any(one.startswith(f"{name}/") for one in files):
            return f"{COPY}{name}"
        if path == home and whole:
            return COPY
    return str(path)


def find_version(words: Sequence[str], files: Mapping[str, bytes]) -> str:
    """Return the version that a command's interpreter prints; empty if unknown.

    Only an installed interpreter is run, including one that a copied script names after #!.
    """
    program = [words[0]]
    if words[0].startswith(COPY):
        line = files.get(words[0].removeprefix(COPY), b"")[:256].partition(b"\n")[0]
        program = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    if program and Path(program[0]).name == "env":
        names = [word for word in [*program[1:], *words[1:]] if not word.startswith("-")]
        program = [word for word in names if "=" not in word]
    place = shutil.which(program[0]) if program else None
    if place is None or not _INTERPRETERS.fullmatch(Path(place).name):
        return ""
    return _ask_version(os.path.abspath(place))


@cache
def _ask_version(program: str) -> str:
    option = "-v" if Path(program).name.startswith("lua") else "--version"
    try:
        done = subprocess.run(
            [program, option],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = (done.stdout or done.stderr)[: 4 * _MOST_VERSION].decode(errors="replace").split("\n")
    line = next((line.strip() for line in said if line.strip()), "")
    shown = "".join(char if char.isprintable() else "?" for char in line[:_MOST_VERSION])
    return f"{Path(program).name}: {shown}" if shown and not done.returncode else ""
