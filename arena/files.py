"""Read files that strangers may have made, and replace our own, all or nothing."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from arena.errors import InputError, writing
from engine.errors import show_start


def _flags(*names: str) -> int:
    """Combine the named flags of `os.open`, without those that this system lacks."""
    return sum(getattr(os, name, 0) for name in names)


_READ = _flags("O_RDONLY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")


def open_file(path: Path | str, folder: int | None = None, *, links: bool = True) -> BinaryIO:
    """Open a regular file for reading; with `folder`, the path is relative to that descriptor.

    Raises InputError, whose message omits the path, if the file cannot be opened, and for a folder,
    a pipe or a device; opening does not wait for a pipe or read from it. Without `links`, also
    for a path whose last part is a link.
    """
    flags = _READ if links else _READ | _flags("O_NOFOLLOW")
    try:
        descriptor = os.open(path, flags, dir_fd=folder)
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None
    except ValueError as error:  # a NUL, or a character that file names cannot contain
        raise InputError(f"not the name of a file: {error}") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise InputError("is a directory" if stat.S_ISDIR(mode) else "not a regular file")
    return os.fdopen(descriptor, "rb")


def open_below(folder: Path, name: str) -> BinaryIO:
    """Open a regular file below a folder without following links.

    This is safe against other processes that change the folder meanwhile.
    """
    if os.open not in os.supports_dir_fd:  # Windows
        return open_file(folder / name, links=False)
    place, flags = os.curdir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(folder, flags)
    try:
        for part in name.split(os.sep):
            inner = os.open(place, flags | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor, place = inner, part
        return open_file(place, descriptor, links=False)
    finally:
        os.close(descriptor)


def read_file(path: Path, most: int, *, links: bool = True) -> bytes:
    """Return the content of a regular file of at most `most` bytes; with `links`, also of a link.

    Raises InputError, whose message omits the path, for any other file.
    """
    with open_file(path, links=links) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            raise InputError(error.strerror or str(error)) from None
    if len(content) > most:
        raise InputError(f"larger than {most:,} bytes")
    return content


def decode(content: bytes) -> str:
    """Return the text of a file without its byte order mark; raises InputError if not UTF-8.

    >>> decode(b"\\xef\\xbb\\xbfrun = 1")
    'run = 1'
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"line {line}: not UTF-8, in {show_start(content)}") from None


@contextmanager
def replacing(path: Path, part: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path for a file that then replaces `path` atomically.

    It is `part` if given, over anything that a killed process left there, or a file of this
    thread's own. It is removed if writing fails, and an OSError names a file.
    """
    part = part or path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    part.unlink(missing_ok=True)
    try:
        with writing(path):
            yield part
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
