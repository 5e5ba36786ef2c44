"""Hash a bot's source together with the files and bots that it imports."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from arena.entries.file import MOST_PROGRAM, MOST_SOURCE, add_file, find_installed
from arena.entries.syntax import read_outline, read_outlines
from arena.errors import InputError

_BOTS = b"bots"  # sources without this word are not parsed


def hash_source(
    source: bytes, folder: Path, code: bytes | None = None, *, ours: bool = False
) -> str:
    """Return the sha256 of a source together with the bots of this folder that it imports.

    So an edit to a bot also changes the identity of every bot that imports it. An import whose
    name is computed at run time is not detected. `code` is the part of the source that is searched
    for imports; None means all of it. It is parsed in another process unless it is `ours`.
    """
    digest = hashlib.sha256(source)
    sources = {"": source if code is None else code}
    _add_bots(digest, _find_imported(sources, folder, ours=ours))
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
        size = _size(path)
        left -= size
        if left < 0:
            raise InputError(f"{package}: larger than {MOST_PROGRAM:,} bytes")
        _add_name(digest, name, size)
        add_file(digest, str(path))
        if name.endswith(".py") and size <= MOST_SOURCE and _BOTS in (code := path.read_bytes()):
            sources[str(path)] = code
    _add_bots(digest, _find_imported(sources, folder))
    return digest.hexdigest()


def imported_bots(files: Mapping[str, bytes], folder: Path, *, ours: bool = False) -> list[str]:
    """Return the names of the bots in a folder that the modules among `files` import.

    The modules are parsed in another process unless they are `ours`.
    """
    return sorted(_find_imported(_code(files), folder, ours=ours))


def _code(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name.endswith(".py")}


def _find_imported(
    sources: Mapping[str, bytes], folder: Path, *, ours: bool = False
) -> dict[str, bytes]:
    """Return the bots of a folder that sources import, directly or indirectly, by name."""
    some = {name: one for name, one in sources.items() if _BOTS in one and len(one) <= MOST_SOURCE}
    outlines = map(read_outline, some.values()) if ours else read_outlines(some)
    imported: dict[str, bytes] = {}
    waiting = [name for outline in outlines for name in outline.bots]
    while waiting:
        name = waiting.pop()
        path = folder / f"{name}.py"
        if name not in imported and path.is_file():
            imported[name] = path.read_bytes()
            waiting += read_outline(imported[name]).bots if _BOTS in imported[name] else ()
    return imported


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _add_files(digest: hashlib._Hash, files: Mapping[str, bytes]) -> None:
    for name in sorted(files):
        _add_name(digest, name, len(files[name]))
        digest.update(files[name])


def _add_name(digest: hashlib._Hash, name: str, size: int) -> None:
    digest.update(b"%b\0%d\0" % (os.fsencode(name), size))


def _add_bots(digest: hashlib._Hash, imported: Mapping[str, bytes]) -> None:
    for name in sorted(imported):
        digest.update(f"\0{name}\0".encode() + imported[name])
