"""Open the file of a store, or a copy of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from arena.errors import InputError
from arena.store.damage import JUDGED, SCHEMA, enable, find_damage
from arena.store.manifest import MOST_BYTES
from arena.store.sqlite_file import SqliteFile, connect, copy
from arena.tournament.versions import maker_of

NAME: Final = "run.sqlite"
"""The name of a store's file in the folder of its run."""

FORMAT: Final = 5
"""The format of run.sqlite, which changes with its tables and with the deals of a seed."""

OLDEST: Final = 4
"""The oldest format that is read: its games are the same, and no table has judged decisions."""

_APPLICATION = 0x444E4152  # "DNAR", in the header of the file
_PAGE = 4096
_FETCHED = 1000

FRESH: Final = "; a run with --fresh starts over"
"""Advice for a store that cannot be used."""


class Database(SqliteFile):
    """The database of one run; without a path it is a temporary file, deleted on close.

    The changes between two calls of `commit` are one transaction, which begins with the first of
    them: between transactions another process may write. Every error of the database is raised as
    an ArenaError that names the file.
    """

    def __init__(self, path: Path | None, *, copied: bool = False) -> None:
        """Open the file, or create the database if the file does not exist or is empty.

        With `copied`, the current games are copied to a temporary file, and the file itself is not
        changed. Raises InputError for a file that is damaged or is not the store of a run.
        """
        self.path = path
        exists = path is not None and path.exists() and path.stat().st_size > 0
        with self.errors(InputError, FRESH if exists else ""):
            name = "" if path is None or copied else path
            self.connection = connect(name)
            if copied and path is not None:
                copy(path, self.connection)
            self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
            self.connection.execute("PRAGMA cache_size = -16000")
            enable(self.connection)
            self.connection.execute("PRAGMA synchronous = NORMAL")
            if self.is_empty:
                self.create(_APPLICATION, FORMAT, SCHEMA)
            else:
                self._check()

    def _check(self) -> None:
        foreign = "a database, but not one of a run; choose another folder"
        self.check(_APPLICATION, FORMAT, foreign, FRESH, OLDEST)
        if damage := find_damage(self.connection):
            raise InputError(f"{self.path}: damaged: {damage}{FRESH}")

    def find_maker(self) -> str:
        """Return the version of the arena in a store's manifest, if the format has a manifest."""
        is_table = "SELECT sql LIKE 'CREATE TABLE %' FROM sqlite_master WHERE name = 'run'"
        with suppress(sqlite3.DatabaseError, ValueError, TypeError, RecursionError):
            if self.one(is_table):  # reading a view could run for ever
                manifest = json.loads(self.one("SELECT value FROM run WHERE key = 'manifest'"))
                return maker_of(manifest) if isinstance(manifest, dict) else ""
        return ""

    def make_judged(self) -> None:
        """Create the table of judged decisions if it is missing."""
        self.connection.execute(JUDGED)
        self.mark(_APPLICATION, FORMAT)

    @contextmanager
    def adding(self) -> Iterator[None]:
        """Let the block change rows, in the transaction that the next `commit` ends."""
        with self.errors():
            if not self.connection.in_transaction:
                self.connection.execute("BEGIN IMMEDIATE")
            yield

    def commit(self) -> None:
        """Commit the transaction: everything added so far survives a crash."""
        with self.errors():
            self.connection.commit()

    def copy_to(self, path: Path) -> None:
        """Commit, and write all rows to a new database, in an order determined by their content."""
        self.commit()
        with self.errors():
            self.connection.execute("VACUUM INTO ?", (str(path),))

    def copy_from(self, path: Path) -> None:
        """Replace the content by a copy of another database, in one transaction."""
        self.commit()
        with self.errors():
            copy(path, self.connection)

    def roll_back(self) -> None:
        """Discard the changes since the last `commit`, which may be incomplete."""
        with self.errors():
            self.connection.rollback()

    def rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, holding at most a thousand in memory."""
        with self.errors(InputError):
            cursor = self.connection.execute(query, values)
        while rows := self._fetch(cursor):
            yield from rows

    def _fetch(self, cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
        with self.errors(InputError):
            return cursor.fetchmany(_FETCHED)


def is_foreign(path: Path) -> bool:
    """Return whether a file is a non-empty database that is not the store of a run."""
    with path.open("rb") as file:
        header = file.read(100)  # https://sqlite.org/fileformat.html
    application = int.from_bytes(header[68:72])
    is_empty = path.stat().st_size <= _PAGE  # created, but without tables
    is_database = header.startswith(b"SQLite format 3\0")
    return is_database and application != _APPLICATION and not is_empty
