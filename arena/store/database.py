"""Open SQLite files, all in one way, and that of a store; every error names the file."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from arena.errors import ArenaError, InputError
from arena.store.damage import JUDGED, OBJECTS, SCHEMA, enable, find_damage
from arena.store.manifest import MOST_BYTES
from arena.tournament.versions import check_format, maker_of

_PATIENCE = 60.0  # seconds to wait while another process is writing
_PAGE = 4096


def connect(place: Path | str) -> sqlite3.Connection:
    """Open a file, an address of one that begins with file:, or with "" a temporary database.

    Changes are committed at once, outside of a transaction. Any thread may use it, one at a time.
    """
    is_address = isinstance(place, str) and place.startswith("file:")
    connection = sqlite3.connect(
        place, _PATIENCE, isolation_level=None, check_same_thread=False, uri=is_address
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


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
    with closing(connect(address)) as source:
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


_OF_MACHINE: Final = {
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM),
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY),
}
"""The codes of errors of a file that is whole, such as that of a full disk."""


class SqliteFile:
    """An SQLite file of the arena; errors of the database are raised with its name."""

    application: int
    """What the file is for, in its header."""
    format: int
    """The number of the format, in its header; those from `oldest` on are read."""
    oldest: int
    schema: str
    foreign: str
    """The message for a file of another application."""
    advice: str
    """What follows the message for a format that is not read."""

    path: Path | None
    connection: sqlite3.Connection

    def open(self, *, create: bool = True) -> None:
        """Open the file of `path`; with `create` an empty one gets its tables."""
        with self.errors():
            self.connection = connect(self.path or "")
            self.check(create=create)

    @property
    def is_empty(self) -> bool:
        """Whether it has no table yet."""
        return not self.one("SELECT count(*) FROM sqlite_master")

    def create(self) -> None:
        """Create the tables, and a log, so that readers do not wait for a writer."""
        self.connection.execute("PRAGMA journal_mode = WAL")
        with self.changing(InputError):
            if self.is_empty:  # nor has it got them meanwhile
                for statement in self.schema.split(";"):
                    self.connection.execute(statement)
                self.mark()

    def mark(self) -> None:
        """Write into the header what the file is for, and the number of its format."""
        self.connection.execute(f"PRAGMA application_id = {self.application}")
        self.connection.execute(f"PRAGMA user_version = {self.format}")

    def check(self, *, create: bool = True) -> None:
        """Create the tables of an empty file, if asked for, and check the header of any other.

        Raises InputError for another application, and for a format that is not read.
        """
        if create and self.is_empty:
            self.create()
        if self.one("PRAGMA application_id") != self.application:
            raise InputError(f"{self.path}: {self.foreign}")
        number = self.one("PRAGMA user_version")
        try:
            check_format(number, self.format, self.find_maker(), self.oldest)
        except InputError as error:
            raise InputError(f"{self.path}: {error}{self.advice}") from None

    def find_maker(self) -> str:
        """Return the version of the arena that made the file, empty if it is not known."""
        return ""

    def one(self, query: str, *values: Any) -> Any:
        """Return the first value of the first row, None without a row."""
        row = self.connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def changing(self, kind: type[ArenaError] = ArenaError) -> Iterator[None]:
        """Run the block as one transaction, during which no other process can write.

        Errors of the database become errors of this kind.
        """
        with self.errors(kind):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self.connection.in_transaction:  # a full disk may have rolled it back
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    @contextmanager
    def errors(self, kind: type[ArenaError] = ArenaError, advice: str = "") -> Iterator[None]:
        """Convert errors of the database into errors of a kind, which name the file.

        The advice is for a damaged file, so it does not follow an error of the machine.
        """
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a message of SQLite quotes bytes
            code = getattr(error, "sqlite_errorcode", 0)
            is_damage = code & 0xFF not in _OF_MACHINE or code == sqlite3.SQLITE_IOERR_SHORT_READ
            end = advice if is_damage else _find_full_disk(self.path)
            message = f"{self.path or 'the games in memory'}: {error}{end}"
            raise kind(message) from None

    def close(self) -> None:
        """Close the file, which then has everything that was committed."""
        self.connection.close()


def _find_full_disk(path: Path | None) -> str:
    """Name the folder whose disk is full, of a database or of temporary files; "" if none is."""
    for folder in (path.parent if path else Path(), Path(tempfile.gettempdir())):
        with suppress(OSError):
            if shutil.disk_usage(folder).free < _PAGE:
                return f"; no space is left in {folder}"
    return ""


NAME: Final = "run.sqlite"
"""The name of a store's file in the folder of its run."""

FORMAT: Final = 5
"""The format of run.sqlite, which changes with its tables and with the deals of a seed."""

OLDEST: Final = 4
"""The oldest format that is read: its games are the same, and no table has judged decisions."""

_APPLICATION = 0x444E4152  # "DNAR", in the header of the file
_FETCHED = 1000

FRESH: Final = "; a run with --fresh starts over"
"""Advice for a store that cannot be used."""


@cache
def _list_objects() -> list[list[Any]]:
    """Return the tables of a store as SQLite reports them, without judged decisions and with."""
    with closing(connect("")) as database:
        database.executescript(SCHEMA)
        without = database.execute(OBJECTS).fetchall()
        database.execute(JUDGED)
        return [without, database.execute(OBJECTS).fetchall()]


class Database(SqliteFile):
    """The database of one run; without a path it is a temporary file, deleted on close.

    The changes between two calls of `commit` are one transaction, which begins with the first of
    them: between transactions another process may write. Every error of the database is raised as
    an ArenaError that names the file.
    """

    application, format, oldest, schema = _APPLICATION, FORMAT, OLDEST, SCHEMA
    foreign, advice = "a database, but not one of a run; choose another folder", FRESH

    def __init__(self, path: Path | None, *, copied: bool = False, checked: bool = False) -> None:
        """Open the file, or create the database if the file does not exist or is empty.

        With `copied`, the current games are copied to a temporary file, and the file itself is not
        changed. Raises InputError for a file that is damaged or is not the store of a run; a file
        that was `checked` before has its rows not read again.
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
            self.check()
            if not checked and (damage := find_damage(self.connection, _list_objects())):
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
        self.mark()

    @contextmanager
    def adding(self) -> Iterator[None]:
        """Let the block change rows, in the transaction that the next `commit` ends."""
        with self.errors():
            if not self.connection.in_transaction:
                self.connection.execute("BEGIN IMMEDIATE")
            yield

    def fill(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Give a temporary table these rows only, in one transaction: one for each takes 18 us.

        It is made if it is missing, with `columns` as SQL declares them.
        """
        values = ", ".join("?" * (columns.count(",") + 1))
        with self.errors():
            self.connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} ({columns})")
            self.connection.execute("SAVEPOINT filling")
            try:
                self.connection.execute(f"DELETE FROM {table}")
                self.connection.executemany(f"INSERT INTO {table} VALUES ({values})", rows)
            except BaseException:
                self.connection.execute("ROLLBACK TO filling")
                raise
            finally:
                self.connection.execute("RELEASE filling")

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
