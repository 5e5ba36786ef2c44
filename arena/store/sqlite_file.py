"""Open SQLite files, all in one way, or copy them; every error names the file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from arena.errors import ArenaError, InputError
from arena.tournament.versions import check_format

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

    path: Path | None
    connection: sqlite3.Connection

    def open(
        self, application: int, number: int, schema: str, foreign: str, advice: str = ""
    ) -> None:
        """Open the file of `path`; an empty one gets the tables of a schema, if it is not "".

        `application`, `number`, `foreign` and `advice` are those of `check`.
        """
        with self.errors():
            self.connection = connect(self.path or "")
            if schema and self.is_empty:
                self.create(application, number, schema)
            self.check(application, number, foreign, advice)

    @property
    def is_empty(self) -> bool:
        """Whether it has no table yet."""
        return not self.one("SELECT count(*) FROM sqlite_master")

    def create(self, application: int, number: int, schema: str) -> None:
        """Create the tables of a schema, and a log, so that readers do not wait for a writer."""
        self.connection.execute("PRAGMA journal_mode = WAL")
        with self.changing(InputError):
            if self.is_empty:  # nor has it got them meanwhile
                for statement in schema.split(";"):
                    self.connection.execute(statement)
                self.mark(application, number)

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
