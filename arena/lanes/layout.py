"""Layout: the words with which bubblewrap makes a jail's root, of which all is read-only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")  # may be links into /usr
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
_ALTERNATIVES = Path("/etc/alternatives")
_DEVICES = ("null", "random", "urandom")  # /dev/zero would be memory that no limit counts
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
}


def system() -> Iterator[str]:
    """Yield the words for the links at the top, and for what finds libraries."""
    yield from ("--dir", "/usr")
    for path in _TOP:
        if Path(path).is_symlink():
            yield from ("--symlink", os.readlink(path), path)
    yield from ("--dir", "/etc")
    for path in _ETC:
        yield from ("--ro-bind-try", path, path)


def devices(memory: str) -> Iterator[str]:
    """Yield the words for /dev; its folder for shared memory is a link to `memory`."""
    yield from ("--tmpfs", "/dev")
    for name in _DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    for path, target in (_LINKS | {"/dev/shm": memory}).items():
        yield from ("--symlink", target, path)


def links_to(programs: Iterable[Path], shown: Iterable[Path]) -> Iterator[str]:
    """Yield the words for programs, with the links that lead to them.

    A program that is a link may look for its own files from where the link leads. What lies in a
    folder that is shown is there already.
    """
    folders, made = {*shown, _ALTERNATIVES}, set[Path]()
    for program in programs:
        path = placed(program)
        while path not in made:
            made.add(path)
            is_link = path.is_symlink()
            if not folders & {path, *path.parents}:
                yield from ("--dir", str(path.parent))
                words = ("--symlink", os.readlink(path)) if is_link else ("--ro-bind", str(path))
                yield from (*words, str(path))
            if is_link:
                path = placed(Path(os.path.normpath(path.parent / os.readlink(path))))


def bound(paths: Iterable[Path], private: str) -> Iterator[str]:
    """Yield the words that show paths, in folders through which everybody may go."""
    places = {placed(path): path for path in paths}
    outer = {place for place in places if not places.keys() & {*place.parents}}
    folders = {folder for place in outer for folder in place.parents}
    for folder in sorted(folders - {Path("/"), Path(private)}):
        yield from ("--dir", str(folder))
    for place in sorted(outer):
        yield from ("--ro-bind", str(places[place]), str(place))


def placed(path: Path) -> Path:
    """Return a path without a link at the top: /usr/lib/x for /lib/x where that is a link."""
    top = Path(*path.parts[:2])
    if str(top) in _TOP and top.is_symlink():
        return Path("/", os.readlink(top), *path.parts[2:])
    return path
