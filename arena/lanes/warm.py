"""Warm: what jails show is read into the page cache before the first game.

The first read of a page takes longer than the second. So a page that nobody has read would tell one
jail whether another one has read it: the two games of a pair, say, one bit for each page.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from arena.entries.entry import Entry
from arena.errors import InputError
from arena.lanes.jail import readable
from arena.lanes.launch import command_of

MOST: Final = 4 << 30
"""Bytes of one path that are read, a folder or a file: what `needs:` names may be larger."""


def warm_jails(entries: Iterable[Entry]) -> None:
    """Read what the bots of the lane jail can see; each path once in a program.

    The kernel is asked to read, and does it in the background. What it drops later, because memory
    is short, is not read again.
    """
    for entry in entries:
        if entry.lane == "jail":
            with suppress(InputError):  # the bot does not start, and its game tells
                for path in readable(entry, command_of(entry)):
                    warm(path)


@cache
def warm(path: Path) -> None:
    """Read a file, or all files in a folder."""
    left = MOST
    for file in _files_of(path):
        with suppress(OSError):
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                left -= os.fstat(descriptor).st_size
                if left < 0:
                    return
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(descriptor)


def _files_of(path: Path) -> Iterator[str]:
    """Yield the regular files below a path, in an order of their names; links lead nowhere."""
    if not path.is_dir():
        yield str(path)
        return
    with suppress(OSError), os.scandir(path) as items:
        for item in sorted(items, key=lambda item: item.name):
            if item.is_dir(follow_symlinks=False):
                yield from _files_of(Path(item.path))
            elif item.is_file(follow_symlinks=False):
                yield item.path
