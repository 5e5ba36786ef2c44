"""Stores that somebody has changed who knows how they are made."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from arena.store.damage import enable, renew_all


def forge(path: Path, statement: str, *values: object) -> int:
    """Change a store, note the checksums of what it holds then, and return how many rows changed.

    Raises sqlite3.Error, after the change, where it has left nothing that has a checksum.
    """
    with closing(sqlite3.connect(path)) as database:
        with database:
            changed = database.execute(statement, values).rowcount
        with database:
            enable(database)
            renew_all(database)
    return changed
