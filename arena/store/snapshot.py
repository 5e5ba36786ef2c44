"""Snapshot: the file of a store that another process may be writing, left as it is."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

_ATTEMPTS = 5  # a run may begin or end while its file is opened
_LOG, _INDEX = "-wal", "-shm"  # https://sqlite.org/wal.html


def copy(path: Path, target: sqlite3.Connection) -> None:
    """Copy a database as it is now, with all that has been committed, into an empty one.

    Nothing is written beside it, and nobody waits for it. Raises sqlite3.DatabaseError for a
    file in which SQLite cannot find its way.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            before = _has_log(path)
            if before and not _beside(path, _INDEX).exists():
                _copy_apart(path, target)
            else:
                # without a log nobody writes, and without `immutable` SQLite would make one
                _copy_from(path, target, "readonly_shm=1" if before else "immutable=1")
        except (sqlite3.DatabaseError, FileNotFoundError):
            if not left:
                raise
        else:
            if before == _has_log(path):
                return


def _copy_from(path: Path, target: sqlite3.Connection, how: str) -> None:
    address = f"{path.absolute().as_uri()}?mode=ro&{how}"
    with closing(sqlite3.connect(address, uri=True)) as source:
        source.backup(target)


def _copy_apart(path: Path, target: sqlite3.Connection) -> None:
    """Copy a database that was left with a log and no index, which SQLite would make anew."""
    with tempfile.TemporaryDirectory() as folder:
        apart = Path(folder, path.name)
        for name in ("", _LOG):
            shutil.copyfile(_beside(path, name), _beside(apart, name))
        _copy_from(apart, target, "")


def _has_log(path: Path) -> bool:
    return _beside(path, _LOG).exists()


def _beside(path: Path, ending: str) -> Path:
    return Path(os.fspath(path) + ending)
