"""Hash the files that a bot consists of: its source with its imports, or a command's files."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from arena.entries.bot_files import (
    MOST_PROGRAM,
    MOST_SOURCE,
    add_file,
    after_env,
    find_files,
    find_installed,
    read_files,
    script_words,
)
from arena.entries.loader import MOST_FILES
from arena.entries.needs import SITES, locate, why_hidden
from arena.errors import InputError, naming
from arena.processes import run_program

_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t]*(?:import[ \t]+([^\n;#]*)"
    rb"|from[ \t]+bots(?:\.(\w+)|[ \t]+import[ \t]*(\([^)]{0,2000}|(?:\\\n|[^\n;#])*)))",
    re.MULTILINE,
)
_IN_BOTS = re.compile(rb"\bbots\.(\w+)")
_NAME = re.compile(rb"\w+")


def hash_source(source: bytes, folder: Path) -> str:
    """Return the sha256 of a source together with the bots of this folder that it imports.

    So an edit to a bot also changes the identity of every bot that imports it. An import whose
    name is computed at run time is not detected, and one in a text is.
    """
    digest = hashlib.sha256(source)
    _add_bots(digest, _find_imported({"": source}, folder))
    return digest.hexdigest()


def hash_files(files: Mapping[str, bytes], folder: Path) -> str:
    """Return the sha256 of files, their names, and the bots of the folder that they import."""
    digest = hashlib.sha256()
    _add_files(digest, files)
    _add_bots(digest, _find_imported(_code(files), folder))
    return digest.hexdigest()


def hash_command(words: Iterable[str], files: Mapping[str, bytes], stays: Iterable[str]) -> str:
    """Return the sha256 of a command: its words, its copied files, and the files used in place.

    Raises InputError for a file of `stays`, used in place, that cannot be read.
    """
    digest = hashlib.sha256("\0".join(words).encode())
    for path in stays:
        add_file(digest, path)
    _add_files(digest, files)
    return digest.hexdigest()


def hash_package(package: Path, folder: Path) -> str:
    """Return the sha256 of all files below a package's folder, and of the bots that they import.

    Raises InputError, which names the file, if one cannot be read, and for a package of more than
    `MOST_PROGRAM` bytes.
    """
    digest = hashlib.sha256()
    sources = {}
    left = MOST_PROGRAM
    for name, path in find_installed(package).items():
        with naming(path, OSError):
            size = path.stat().st_size
        left -= size
        if left < 0:
            raise InputError(f"{package}: larger than {MOST_PROGRAM:,} bytes")
        _add_name(digest, name, size)
        add_file(digest, str(path))
        if name.endswith(".py") and size <= MOST_SOURCE:
            sources[name] = path.read_bytes()
    _add_bots(digest, _find_imported(sources, folder))
    return digest.hexdigest()


def imported_bots(files: Mapping[str, bytes], folder: Path) -> list[str]:
    """Return the names of the bots in a folder that the modules among `files` import."""
    return sorted(_find_imported(_code(files), folder))


def _code(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name.endswith(".py")}


def _find_imported(sources: Mapping[str, bytes], folder: Path) -> dict[str, bytes]:
    """Return the bots of a folder that sources import, directly or indirectly, by name."""
    imported: dict[str, bytes] = {}
    waiting = [name for source in sources.values() for name in find_imports(source)]
    while waiting:
        name = waiting.pop()
        path = folder / f"{name}.py"
        if name not in imported and path.is_file():
            imported[name] = path.read_bytes()
            waiting += find_imports(imported[name])
    return imported


def find_imports(source: bytes) -> set[str]:
    """Return the names in a source's import statements that may be bots of `bots/`.

    >>> sorted(find_imports(b"from bots import (greedy,\\n denier); import bots.pimc as p, os"))
    ['denier', 'greedy', 'pimc']
    """
    names: set[bytes] = set()
    for modules, module, listed in _IMPORT.findall(source):
        names |= {module, *_IN_BOTS.findall(modules), *_NAME.findall(listed)} - {b""}
    return {name.decode() for name in names}


def _add_files(digest: hashlib._Hash, files: Mapping[str, bytes]) -> None:
    for name in sorted(files):
        _add_name(digest, name, len(files[name]))
        digest.update(files[name])


def _add_name(digest: hashlib._Hash, name: str, size: int) -> None:
    digest.update(b"%b\0%d\0" % (os.fsencode(name), size))


def _add_bots(digest: hashlib._Hash, imported: Mapping[str, bytes]) -> None:
    for name in sorted(imported):
        digest.update(f"\0{name}\0".encode() + imported[name])


COPY: Final = "\0"
"""The first character of a word that names a copied file; a typed command cannot contain it."""

_INTERPRETERS = re.compile(
    r"node|deno|bun|ruby|lua[\d.]*|perl|php|java|julia|guile|(?:python|pypy)[\d.]*|bash"
)
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

    If the folder cannot be a bot's, only its files and folders that the command names or needs are
    copied.
    """
    named = [Path(os.path.abspath(word)) for word in words[1:] if os.path.exists(word)]
    if _is_own(words[0], named):
        named.insert(0, Path(os.path.abspath(words[0])))
    home = next((path.parent for path in named if path.is_file()), named[0] if named else None)
    files: dict[str, bytes] = {}
    note = ""
    if home:
        try:
            if note := why_hidden(home):
                raise InputError(note)
            files = read_files(find_files(home), home)
        except InputError as error:
            note = str(error)
            files = read_parts(home, [*named, *map(locate, needs)])
    program = [shutil.which(words[0]) or words[0], *words[1:]]
    placed = tuple(_place(word, home, files, whole=not note) for word in program)
    stays = [one for one, word in zip(words, placed, strict=True) if not word.startswith(COPY)]
    return Copied(placed, str(home) if files else "", files, [*filter(os.path.isfile, stays)], note)


def _is_own(program: str, named: Sequence[Path]) -> bool:
    """Return whether a program is the bot itself, and not an interpreter of the files named."""
    path = Path(os.path.abspath(program))
    if not ("/" in program and path.is_file()) or path.parent.name in _INSTALLED:
        return False
    beside = not named or any(path.parent in one.parents for one in named)
    return beside and not path.is_relative_to("/usr")


def read_parts(home: Path, parts: Iterable[Path]) -> dict[str, bytes]:
    """Return the files among `parts` and in folders among them that are below `home`.

    A part that cannot be read, or with which there are too many files or bytes for a bot, is
    skipped. So is an installed package: its environment may be below `home`.
    """
    found: dict[str, Path] = {}
    files: dict[str, bytes] = {}
    for part in parts:
        is_installed = any(name in part.parts for name in SITES)
        if is_installed or home not in part.parents or (part.is_dir() and why_hidden(part)):
            continue
        with suppress(InputError):
            inner = [*find_files(part).values()] if part.is_dir() else [part]
            more = found | {path.relative_to(home).as_posix(): path for path in inner}
            if len(more) < MOST_FILES:
                files, found = read_files(more, home), more
    return files


def _place(word: str, home: Path | None, files: Mapping[str, bytes], *, whole: bool) -> str:
    """Return a word of the command for the copy; a path outside the copy becomes absolute."""
    if not os.path.exists(word):
        return word
    path = Path(os.path.abspath(word))
    if not home or not files or not path.is_relative_to(home) or (path == home and not whole):
        return str(path)
    placed = place(path.relative_to(home).as_posix(), files)
    return placed if placed.startswith(COPY) else str(path)


def place(word: str, files: Mapping[str, bytes]) -> str:
    """Return a word for the copy of files, marked if it is one of them or a folder of these.

    >>> files = {"classes/Wary.class": b""}
    >>> [place(word, files).replace(COPY, "COPY/") for word in ("-cp", "./classes", ".", "x")]
    ['-cp', 'COPY/classes', 'COPY/', 'x']
    """
    name = os.path.normpath(word)
    if name == os.curdir:
        return COPY
    is_part = any(file == name or file.startswith(f"{name}/") for file in files)
    return f"{COPY}{name}" if is_part else word


def find_version(words: Sequence[str], files: Mapping[str, bytes]) -> str:
    """Return the version that a command's interpreter prints; empty if unknown.

    Only an installed interpreter is run, including one that a copied script names after #!.
    """
    if words[0].startswith(COPY):
        script = script_words(files.get(words[0].removeprefix(COPY), b""))
        words = [*script, *words[1:]] if script else []
    program = after_env(words) or words[:1]
    found = shutil.which(program[0]) if program else None
    if found is None or not _INTERPRETERS.fullmatch(Path(found).name):
        return ""
    return _ask_version(os.path.abspath(found))


@cache
def _ask_version(program: str) -> str:
    option = "-v" if Path(program).name.startswith("lua") else "--version"
    try:
        done = run_program(program, option)
    except OSError:
        return ""
    said = (done.stdout or done.stderr)[: 4 * _MOST_VERSION].split("\n")
    line = next((line.strip() for line in said if line.strip()), "")
    shown = "".join(char if char.isprintable() else "?" for char in line[:_MOST_VERSION])
    return f"{Path(program).name}: {shown}" if shown and not done.returncode else ""
