"""Scratch: a folder for the files of workers and bots, which goes with its run."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.lanes.process import sweep

_PREFIX = "district-noir-"


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a new folder; remove it at the end, and every process that was started for it.

    It is locked as long as this process lives. What runs have left behind that were killed
    is not locked any more, and is removed first.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # locked, or somebody else's
            lock = _locked(left)
            remove(left)
            os.close(lock)
    folder, lock = _made()
    try:
        yield folder
    finally:
        remove(folder)
        os.close(lock)


def _made() -> tuple[Path, int]:
    """Return a new folder and its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(OSError):  # it was taken for one that was left behind
            lock = _locked(folder)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _locked(folder: Path) -> int:
    """Return a descriptor that locks the folder until it is closed; raise OSError if it is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def remove(folder: Path) -> None:
    """Remove a folder, and every process that was started for it."""
    sweep(folder)
    for parent, names, _ in os.walk(folder):  # a bot may have taken its rights away
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink():
                with suppress(OSError):
                    path.chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)
