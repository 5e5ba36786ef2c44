"""Lay out the root folder of jails, and read into the page cache what they show.

Small files are copied to the root, and the rest is bound into it: bubblewrap reads the table of all
mounts for each new one; 105 of them took 30 ms of a processor, the 17 that are left take 5.

What jails show is read once after each start of the machine. This closes a covert channel: the
first read of a page takes longer than the second, so one jail could signal one bit to another by
reading a page or not, also between the two games of a pair.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from arena.entries.layout import remove_tree
from arena.errors import InputError
from arena.files import read_file, replacing
from arena.lanes.temp_and_cache_folders import own_cache

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
        part = Path(mkdtemp(".part", f"{root.name}-", root.parent))  # others may lay it out, too
        shown = {place: sources[place] for place in places}
        _fill(part, shown, bound, [link for link in links if link not in later], covers)
        try:
            part.rename(root)
        except OSError:
            remove_tree(part)
            if not root.exists():
                raise
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


MOST: Final = 4 << 30
"""Bytes read of one file or folder: a path under `needs:` may be larger."""

_AHEAD = 64  # files requested from the kernel before the first of them is awaited


_MARKER, _MOST_MARKED = "warmed", 1 << 20  # in the user's cache folder; bytes


def warm(paths: Iterable[Path], covers: Collection[str] = ()) -> None:
    """Read what jails show, but for the folders `covers`, unless a marker says it was read.

    The marker is a file in the user's cache folder. It names the start of the machine and, by
    place, number and time of change, each path that was read since then. It holds until the kernel
    may have dropped one of these pages. So a path is read once by all programs. A marker that is
    lost costs a reading, and a wrong one leaves some pages unread. 7,700 files of Python's standard
    library take 0.15 s, the marker 3 ms.
    """
    marker = _read_marker()
    keys = {_key(path): path for path in paths}
    new = [*keys.keys() - {*marker}]
    for key in new:
        read_all(keys[key], covers)
    if new and marker[0]:
        with suppress(OSError, InputError, RuntimeError), replacing(own_cache() / _MARKER) as part:
            part.write_text("\n".join([*marker, *new]))


def _key(path: Path) -> str:
    """Return what names a path, and the files below it as they are now, in one line."""
    status = path.stat()
    return f"{status.st_dev} {status.st_ino} {status.st_mtime_ns} {str(path)!a}"


def _read_marker() -> list[str]:
    """Return the lines of the marker that holds, or the first two of a new one.

    The first one names the start of the machine. The second one is the number of pages that the
    kernel may drop until the marker ends: half of those that were read less recently than all
    others, because it begins with these.
    """
    start, dropped, most = _examine_pages()
    with suppress(OSError, InputError, RuntimeError, LookupError, ValueError):
        lines = read_file(own_cache() / _MARKER, _MOST_MARKED, links=False).decode().split("\n")
        if lines[0] == start and dropped < int(lines[1]):
            return lines
    return [start, str(most)]


def _examine_pages() -> tuple[str, int, int]:
    """Return the start of the machine, the pages of files dropped since, and how many may be.

    The name of the start changes, too, when somebody empties the page cache. Where the kernel does
    not count, it is empty.
    """
    with suppress(OSError, KeyError, ValueError):
        counts = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
        dropped, oldest = int(counts["pgsteal_file"]), int(counts["nr_inactive_file"])
        start = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{start} {counts['drop_pagecache']}", dropped, dropped + oldest // 2
    return "", 0, 1


def read_all(path: Path, covers: Collection[str] = ()) -> None:
    """Read a file, or all files in a folder but for `covers`, and wait until they are read.

    For 1,800 MB in 83,000 files that are cached already, it takes 1.5 s; without waiting 1.1 s.
    """
    asked: deque[int] = deque()
    with open(os.devnull, "wb") as nowhere:
        for descriptor in _opened(path, covers):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
            asked.append(descriptor)
            if len(asked) > _AHEAD:
                _wait_for(asked.popleft(), nowhere.fileno())
        for descriptor in asked:
            _wait_for(descriptor, nowhere.fileno())


def _opened(path: Path, covers: Collection[str]) -> Iterator[int]:
    """Yield descriptors of the files in a path, up to MOST bytes in all."""
    left = MOST
    for file in _files_of(str(path), covers):
        with suppress(OSError):
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            left -= os.fstat(descriptor).st_size
            if left < 0:
                os.close(descriptor)
                return
            yield descriptor


def _wait_for(descriptor: int, nowhere: int) -> None:
    """Wait until a file has been read, without copying its data, and close it."""
    place = 0
    with suppress(OSError):
        while read := os.sendfile(nowhere, descriptor, place, MOST):
            place += read
    os.close(descriptor)


def _files_of(path: str, covers: Collection[str]) -> Iterator[str]:
    """Yield the regular files below a path, ordered by name; links are not followed."""
    if not os.path.isdir(path):
        yield path
        return
    with suppress(OSError), os.scandir(path) as items:
        for item in sorted(items, key=lambda item: item.name):
            if item.is_dir(follow_symlinks=False):
                if item.path not in covers:
                    yield from _files_of(item.path, covers)
            elif item.is_file(follow_symlinks=False):
                yield item.path
