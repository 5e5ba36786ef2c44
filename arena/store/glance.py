"""Report the state of a run's folder without reading its games."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote

from arena.store import extension
from arena.store.database import FORMAT, NAME
from arena.store.folder import COMPARISON, MANIFEST, REPLACED
from arena.store.manifest import MOST_BYTES
from arena.tournament.versions import engine_sha256

State: TypeAlias = Literal["under way", "not finished", "comparison", "finished"]

_LOCKS: Final = Path("/proc/locks")  # only on Linux
_RECENT = 60.0  # seconds since its last commit in which an unlocked run counts as running
_MOST_STEPS = 100_000  # of SQLite's machine for one value: the file may be a stranger's


def find_state(folder: Path) -> State:
    """Return whether a run is running, was stopped, or has ended; nothing is locked or changed.

    A run has ended if the folder's manifest, which is written last, equals the store's.
    """
    if is_under_way(folder):
        return "under way"
    if not _is_whole(folder):
        return "not finished"
    return "comparison" if (folder / COMPARISON).is_file() else "finished"


def is_under_way(folder: Path) -> bool:
    """Return whether a run is being written: the store has a log file, and the folder is locked.

    If the lock cannot be seen, as from another machine, the log must have changed within a minute.
    """
    try:
        changed = (folder / f"{NAME}-wal").stat().st_mtime
    except OSError:
        return False
    return _is_locked(folder) or time.time() - changed < _RECENT


def _is_locked(folder: Path) -> bool:
    """Return whether a process of this machine holds the lock of a folder."""
    try:
        status, lines = folder.stat(), _LOCKS.read_text().splitlines()
    except OSError:
        return False
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    return any("FLOCK" in line and device in line.split() for line in lines)


def _is_whole(folder: Path) -> bool:
    """Return whether the manifest in a folder equals the one in its store."""
    if not all((folder / name).is_file() for name in (MANIFEST, NAME)):
        return False
    try:
        with (folder / MANIFEST).open("rb") as file:
            written = file.read(MOST_BYTES)
        with _glance(folder / NAME) as database:
            rows = database.execute("SELECT value FROM run WHERE key = 'manifest'").fetchmany(1)
    except (OSError, sqlite3.Error):
        return False
    return bool(rows) and str(rows[0][0]).encode() == written


def find_changed(folder: Path, bots: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """Return, by label, how bots differ from the bots that played the stored games.

    `bots` are the bots of a manifest. The result is empty if the folder has no run that can
    continue here, or if the old games are set aside while the changed bots play new ones.
    """
    bots = [*bots]
    found: dict[str, list[str]] = {}
    for name in (NAME, REPLACED):
        with suppress(OSError, sqlite3.Error), _glance(folder / name) as database:
            if not _can_go_on(database):
                return {}
            found = extension.find_changed(database, bots)
            if not found:
                return found
    return found


def _can_go_on(database: sqlite3.Connection) -> bool:
    """Return whether a store has the format and the engine of this arena."""
    query = "SELECT value FROM run WHERE key = 'manifest' AND instr(value, ?)"
    (number,) = database.execute("PRAGMA user_version").fetchone()
    return number == FORMAT and bool(database.execute(query, (engine_sha256(),)).fetchmany(1))


@contextmanager
def _glance(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a read-only connection to a store; raises sqlite3.Error."""
    place = f"file:{quote(os.path.abspath(path))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(place, uri=True)) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
        database.set_progress_handler(lambda: 1, _MOST_STEPS)
        yield database
