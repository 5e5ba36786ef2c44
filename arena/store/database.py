"""Open the file of a store, or a copy of it; every error names the file."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from copy import copy as copy_of
from pathlib import Path
from typing import Any, Final

from arena.errors import ArenaError, InputError
from arena.store.damage import SCHEMA, enable, find_damage
from arena.store.manifest import MOST_BYTES
from arena.tournament.versions import check_format, maker_of

_ATTEMPTS = 5  # a run may begin or end while its file is opened
_LOG, _INDEX = "-wal", "-shm"  # https://sqlite.org/wal.html


def copy(path: Path, target: sqlite3.Connection) -> None:
    """Copy the committed content of a database into an empty one.

    No file is written beside the original, and its writer is not blocked. Raises
    sqlite3.DatabaseError for a file that SQLite cannot read.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            before = _has_log(path)
            if before and not _beside(path, _INDEX).exists():
                _copy_apart(path, target)
            else:
                # no log: nobody is writing; and without `immutable` SQLite would create a log
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
    """Copy a database that has a log but no index, which SQLite would create beside it."""
    with tempfile.TemporaryDirectory() as folder:
        apart = Path(folder, path.name)
        for name in ("", _LOG):
            shutil.copyfile(_beside(path, name), _beside(apart, name))
        _copy_from(apart, target, "")


def _has_log(path: Path) -> bool:
    return _beside(path, _LOG).exists()


def _beside(path: Path, ending: str) -> Path:
    return Path(os.fspath(path) + ending)


NAME: Final = "run.sqlite"
"""The name of a store's file in the folder of its run."""

FORMAT: Final = 4
"""The format of run.sqlite, which changes with its tables and with the deals of a seed."""

_APPLICATION = 0x444E4152  # "DNAR", in the header of the file
_PAGE = 4096
_FETCHED = 1000

_OF_MACHINE: Final = {
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY),
}
"""The codes of errors of a file that is whole, such as that of a full disk."""

FRESH: Final = "; a run with --fresh starts over"
"""Advice for a store that cannot be used."""


class SqliteFile:
    """An SQLite file of the arena; errors of the database are raised with its name."""

    path: Path | None
    connection: sqlite3.Connection
    faults: tuple[type[Exception], ...] = (sqlite3.Error, UnicodeDecodeError)
    """The errors of a damaged file; a message of SQLite quotes bytes."""

    error: type[ArenaError] = ArenaError
    advice = ""
    """What these errors become, and what follows their message."""

    def mark(self, application: int, number: int) -> None:
        """Write into the header what the file is for, and the number of its format."""
        self.connection.execute(f"PRAGMA application_id = {application}")
        self.connection.execute(f"PRAGMA user_version = {number}")

    def check(
        self, application: int, number: int, foreign: str, advice: str, oldest: int | None = None
    ) -> None:
        """Raise InputError if the header has another application, or a format that is not read.

        `foreign` is the message for the first, `advice` follows the message for the second. With
        `oldest`, formats from this number on are read.
        """
        if self.one("PRAGMA application_id") != application:
            raise InputError(f"{self.path}: {foreign}")
        try:
            check_format(self.one("PRAGMA user_version"), number, self.find_maker(), oldest)
        except InputError as error:
            raise InputError(f"{self.path}: {error}{advice}") from None

    def find_maker(self) -> str:
        """Return the version of the arena that made the file, empty if it is not known."""
        return ""

    def one(self, query: str, *values: Any) -> Any:
        """Return the first value of the first row, None without a row."""
        row = self.connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Run the block as one transaction, during which no other process can write."""
        with self.errors():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self.connection.in_transaction:  # a full disk may have rolled it back
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    @contextmanager
    def errors(self, kind: type[ArenaError] | None = None, advice: str = "") -> Iterator[None]:
        """Convert errors of the database into errors of this class, which name the file.

        The advice is for a damaged file, so it does not follow an error of the machine.
        """
        try:
            yield
        except self.faults as error:
            code = getattr(error, "sqlite_errorcode", 0)
            is_damage = code & 0xFF not in _OF_MACHINE or code == sqlite3.SQLITE_IOERR_SHORT_READ
            end = advice or self.advice if is_damage else _find_full_disk(self.path)
            message = f"{self.path or 'the games in memory'}: {error}{end}"
            raise (kind or self.error)(message) from None

    def close(self) -> None:
        """Close the file, which then has everything that was committed."""
        self.connection.close()


class Database(SqliteFile):
    """The database of one run; without a path it is a temporary file, deleted on close.

    The changes between two calls of `commit` are one transaction. Every error of the database is
    raised as an ArenaError that names the file.
    """

    def __init__(self, path: Path | None, *, copied: bool = False) -> None:
        """Open the file, or create the database if the file does not exist or is empty.

        With `copied`, the current games are copied to a temporary file, and the file itself is not
        changed. Raises InputError for a file that is damaged or is not the store of a run.
        """
        self.path = path
        self.is_shared = path is not None and not copied
        exists = path is not None and path.exists() and path.stat().st_size > 0
        with self.errors(InputError, FRESH if exists else ""):
            name = "" if path is None or copied else path
            # one thread may write games while another one reads
            self.connection = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
            if copied and path is not None:
                copy(path, self.connection)
            self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
            self.connection.execute("PRAGMA cache_size = -16000")
            self.connection.execute("PRAGMA trusted_schema = OFF")
            enable(self.connection)
            if exists and self.one("SELECT count(*) FROM sqlite_master"):
                self._check()
            else:
                self._create()

    @contextmanager
    def apart(self) -> Iterator[Database]:
        """Yield a second connection for another thread, to read what was committed.

        A temporary file allows only one connection, so then it is this one.
        """
        if not self.is_shared or self.path is None:
            yield self
            return
        other = copy_of(self)
        with self.errors():
            other.connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False
            )
        try:
            yield other
        finally:
            other.connection.close()

    def interrupt(self) -> None:
        """End what another thread is reading; a connection that is closed has ended."""
        with suppress(sqlite3.ProgrammingError):
            self.connection.interrupt()

    def _check(self) -> None:
        foreign = "a database, but not one of a run; choose another folder"
        self.check(_APPLICATION, FORMAT, foreign, FRESH)
        if damage := find_damage(self.connection):
            raise InputError(f"{self.path}: damaged: {damage}{FRESH}")
        self._begin()

    def find_maker(self) -> str:
        """Return the version of the arena in a store's manifest, if the format has a manifest."""
        is_table = "SELECT sql LIKE 'CREATE TABLE %' FROM sqlite_master WHERE name = 'run'"
        with suppress(sqlite3.DatabaseError, ValueError, TypeError, RecursionError):
            if self.one(is_table):  # reading a view could run for ever
                manifest = json.loads(self.one("SELECT value FROM run WHERE key = 'manifest'"))
                return maker_of(manifest) if isinstance(manifest, dict) else ""
        return ""

    def _create(self) -> None:
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.mark(_APPLICATION, FORMAT)
        self._begin()
        for statement in SCHEMA.split(";"):
            self.connection.execute(statement)
        self.commit()

    def _begin(self) -> None:
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("BEGIN")

    def commit(self) -> None:
        """Commit the transaction: everything added so far survives a crash."""
        with self.errors():
            self.connection.execute("COMMIT")
            self.connection.execute("BEGIN")

    def copy_to(self, path: Path) -> None:
        """Commit, and write all rows to a new database, in an order determined by their content."""
        with self.errors():
            self.connection.execute("COMMIT")
            try:
                self.connection.execute("VACUUM INTO ?", (str(path),))
            finally:
                self.connection.execute("BEGIN")

    def copy_from(self, path: Path) -> None:
        """Replace the content by a copy of another database, in one transaction."""
        with self.errors():
            self.connection.execute("COMMIT")
            try:
                copy(path, self.connection)
            finally:
                self.connection.execute("BEGIN")

    def roll_back(self) -> None:
        """Discard the changes since the last `commit`, which may be incomplete."""
        with self.errors():
            self.connection.rollback()
            self.connection.execute("BEGIN")

    def rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, holding at most a thousand in memory."""
        with self.errors(InputError):
            cursor = self.connection.execute(query, values)
        while rows := self._fetch(cursor):
            yield from rows

    def _fetch(self, cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
        with self.errors(InputError):
            return cursor.fetchmany(_FETCHED)


def _find_full_disk(path: Path | None) -> str:
    """Name the folder whose disk is full, of a database or of temporary files; "" if none is."""
    for folder in (path.parent if path else Path(), Path(tempfile.gettempdir())):
        with suppress(OSError):
            if shutil.disk_usage(folder).free < _PAGE:
                return f"; no space is left in {folder}"
    return ""


def is_foreign(path: Path) -> bool:
    """Return whether a file is a non-empty database that is not the store of a run."""
    with path.open("rb") as file:
        header = file.read(100)  # https://sqlite.org/fileformat.html
    application = int.from_bytes(header[68:72])
    is_empty = path.stat().st_size <= _PAGE  # created, but without tables
    is_database = header.startswith(b"SQLite format 3\0")
    return is_database and application != _APPLICATION and not is_empty
