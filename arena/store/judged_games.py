"""Keep the games of a run that have been judged, so that an analysis goes on where it was ended."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import InputError
from arena.store.folder import JUDGED_FILES, check_names
from arena.tournament.judged import Judged
from arena.tournament.versions import check_format

FORMAT: Final = 1
"""Of analysis.sqlite."""

_APPLICATION: Final = 0x444E414A  # "DNAJ", in the header of the file
_TABLE = """
CREATE TABLE IF NOT EXISTS judged (key BLOB PRIMARY KEY, decisions BLOB NOT NULL) WITHOUT ROWID
"""
_decisions = msgspec.msgpack.Decoder(list[Judged])


class JudgedGames:
    """The decisions of judged games by a key of the game, the judge and how it judged.

    Without a path nothing is kept. What was added survives whatever ends the process. Every error
    is an InputError that names the file.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        if path is not None:
            check_names(path.parent, JUDGED_FILES)
        with self._errors():
            name = ":memory:" if path is None else path
            self._connection = sqlite3.connect(name, timeout=60.0)
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables and application != _APPLICATION:
                raise sqlite3.DatabaseError("a database, but not one of an analysis")
            if tables:
                check_format(self._connection.execute("PRAGMA user_version").fetchone()[0], FORMAT)
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {FORMAT}")
            self._connection.execute(_TABLE)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, list[Judged]]:
        """Return the decisions of the games that are kept, of these."""
        query = "SELECT decisions FROM judged WHERE key = ?"
        found = {}
        with self._errors():
            for key in keys:
                row = self._connection.execute(query, (key,)).fetchone()
                if row is not None:
                    found[key] = _decisions.decode(row[0])
        return found

    def add(self, games: Mapping[bytes, Sequence[Judged]]) -> None:
        """Keep games: all of these or, where the process ends meanwhile, none."""
        rows = [(key, msgspec.msgpack.encode(decisions)) for key, decisions in games.items()]
        with self._errors(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, msgspec.MsgspecError, InputError) as error:
            raise InputError(f"{self.path}: {error}; without the file all is judged anew") from None
