"""File: a file that somebody else wrote, of a kind and a size that can be read."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO

from arena.errors import InputError

MOST_SOURCE = 1 << 20
"""Bytes of a bot's file."""

MOST_PROGRAM = 1 << 30
"""Bytes of a file that a command names, and of a module that is not one file."""

_PIECE = 1 << 20


def open_file(path: Path | str) -> BinaryIO:
    """Open a regular file for reading.

    Raises InputError, without the path, for a file that cannot be opened, and for a folder, a
    pipe or a device, for which nothing is waited and of which nothing is read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None
    except ValueError as error:  # a NUL, or what no file's name can hold
        raise InputError(f"not the name of a file: {error}") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise InputError("is a directory" if stat.S_ISDIR(mode) else "not a regular file")
    return os.fdopen(descriptor, "rb")


def read_file(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most so many bytes.

    Raises InputError, without the path, for any other.
    """
    with open_file(path) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            raise InputError(error.strerror or str(error)) from None
    if len(content) > most:
        raise InputError(f"larger than {most:,} bytes")
    return content


def add_file(digest: hashlib._Hash, path: str) -> None:
    """Add the content of a program's file to a hash, piece by piece.

    Raises InputError, which names the file.
    """
    left = MOST_PROGRAM
    try:
        with open_file(path) as file:
            large = os.fstat(file.fileno()).st_size > MOST_PROGRAM
            while not large and (piece := file.read(_PIECE)):
                left -= len(piece)
                large = left < 0  # it grows
                digest.update(piece)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if large:
        raise InputError(f"{path}: larger than {MOST_PROGRAM:,} bytes")
