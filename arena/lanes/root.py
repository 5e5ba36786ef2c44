"""Lay out the root folder of jails: small files are copied there, and the rest is bound into it.

bubblewrap reads the table of all mounts for each new one: 105 of them took 30 ms of a processor,
the 17 that are left take 5.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from arena.entries.layout import remove_tree

HOME: Final = "/tmp"
"""The private folder as the bot sees it: the only one that it can write to."""

_TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")  # may be links into /usr
_ALTERNATIVES = Path("/etc/alternatives")
_ETC = (_ALTERNATIVES, *map(Path, ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")))
_MOUNTED = ("/usr", "/dev", "/proc", HOME)
_MOST_COPIED = 4 << 20  # bytes of a file; a copy of 1 MB takes 0.5 ms of a processor
_PERMISSIONS = 0o777  # without set-user-id
_OPEN = 0o755  # also for the user without rights as which root's bots play


def lay_out(
    root: Path, paths: Iterable[Path], programs: Iterable[Path], covers: Collection[Path] = ()
) -> dict[Path, Path]:
    """Make a root folder, unless it exists; return what is still to be shown: sources by place.

    It shows `paths`, and `programs` with the links that lead to them. `covers` are places of
    folders in memory, in which links are still to be made, too.
    """
    sources = {placed(path): path for path in (*paths, *filter(Path.exists, _ETC))}
    places = outermost(sources, covers)
    links = dict.fromkeys(path for path in map(Path, _TOP) if path.is_symlink())
    for path in _links_to(programs, {*places}):
        if path.is_symlink():
            links[path] = None
        else:
            sources[path] = path
            places.append(path)
    is_executed = not os.statvfs(root.parent).f_flag & os.ST_NOEXEC
    in_memory = {Path(HOME), *covers}
    bound = {
        place: sources[place]
        for place in places
        if in_memory & {*place.parents} or not (is_executed and _is_small(sources[place]))
    }
    later = {link: link for link in links if in_memory & {*link.parents}}
    if not root.exists():
        part = root.with_suffix(".part")
        remove_tree(part)  # of a process that was killed
        shown = {place: sources[place] for place in places}
        _fill(part, shown, bound, [link for link in links if link not in later], covers)
        part.rename(root)
    return bound | later


def _is_small(source: Path) -> bool:
    is_read = source.is_file() and os.access(source, os.R_OK)
    return is_read and source.stat().st_size <= _MOST_COPIED


def _fill(
    root: Path,
    sources: Mapping[Path, Path],
    bound: Container[Path],
    links: Iterable[Path],
    covers: Iterable[Path],
) -> None:
    """Make folders and links, copy files, and leave an empty place for what is to be bound."""

    def inside(path: Path) -> Path:
        place = root / path.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    folders = [place for place, source in sources.items() if source.is_dir()]
    for path in (*map(Path, _MOUNTED), *covers, *folders):
        inside(path).mkdir(exist_ok=True)
    for link in links:
        inside(link).symlink_to(os.readlink(link))
    for place, source in sources.items():
        if place in bound and source.is_file():
            inside(place).touch()
        elif place not in bound:
            shutil.copyfile(source, inside(place))
            status = source.stat()
            os.chmod(inside(place), status.st_mode & _PERMISSIONS)
            os.utime(inside(place), ns=(status.st_atime_ns, status.st_mtime_ns))
    for folder, _, _ in os.walk(root):
        os.chmod(folder, _OPEN)


def _links_to(programs: Iterable[Path], shown: Collection[Path]) -> Iterator[Path]:
    """Yield the places of programs, and of the links that lead to them, that are not shown yet.

    A program that is a link may look for its own files beside the link's target.
    """
    seen = set[Path]()
    for program in programs:
        path = placed(program)
        while path not in seen:
            seen.add(path)
            if not {path, *path.parents} & {*shown}:
                yield path
            if path.is_symlink():
                path = placed(Path(os.path.normpath(path.parent / os.readlink(path))))


def outermost(paths: Iterable[Path], covers: Collection[Path]) -> list[Path]:
    """Return the paths that lie in no other one, or are covered there.

    >>> python, numpy = Path("/python"), Path("/python/site-packages/numpy")
    >>> outermost([python, numpy], []) == [python]
    True
    >>> outermost([python, numpy], [numpy.parent]) == [python, numpy]
    True
    """
    there = {*paths}

    def is_inner(path: Path) -> bool:
        above = next((one for one in path.parents if one in covers or one in there), None)
        return above is not None and above not in covers

    return [path for path in dict.fromkeys(paths) if not is_inner(path)]


def placed(path: Path) -> Path:
    """Resolve a link in the root folder: return /usr/lib/x for /lib/x if /lib is a link."""
    top = Path(*path.parts[:2])
    if str(top) in _TOP and top.is_symlink():
        return Path("/", os.readlink(top), *path.parts[2:])
    return path
