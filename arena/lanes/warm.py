"""Read into the page cache what jails show, once after each start of the machine.

This closes a covert channel: the first read of a page takes longer than the second, so one jail
could signal one bit to another by reading a page or not, also between the two games of a pair.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.entries.file import own_cache, read_file, replacing
from arena.errors import InputError

MOST: Final = 4 << 30
"""Bytes read of one file or folder: a path under `needs:` may be larger."""

_AHEAD = 64  # files requested from the kernel before the first of them is awaited


_MOST_MARKED = 1 << 20  # bytes
_kept = ""  # the marker, also where it cannot be written


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
    for key in keys.keys() - {*marker}:
        read_all(keys[key], covers)
        marker.append(key)
    _write_marker(marker)


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
    texts = [_kept]
    with suppress(OSError, InputError, RuntimeError):
        texts += [
            read_file(own_cache() / "warmed", _MOST_MARKED, links=False).decode(errors="replace")
        ]
    for text in reversed(texts):
        lines = text.split("\n")
        with suppress(IndexError, ValueError):
            if lines[0] == start and dropped < int(lines[1]):
                return lines
    return [start, str(most)]


def _write_marker(lines: list[str]) -> None:
    global _kept
    text = "\n".join(lines)
    if text != _kept and lines[0]:
        with suppress(OSError, InputError, RuntimeError), replacing(own_cache() / "warmed") as part:
            part.write_text(text)
    _kept = text


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
