"""Store in league.sqlite who is in a league: versions of bots, refusals, ratings.

Each event is one transaction: a submission, or the end of a round. Readers never wait,
and the unfinished changes of a killed process are rolled back.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from arena.addons.league.league_tables import (
    ACTIVE,
    REPLACED,
    SCHEMA,
    SUSPENDED,
    RatingRow,
    Refusal,
    Version,
    simplify_name,
)
from arena.errors import InputError
from arena.store.database import SqliteFile
from arena.store.folder import LEAGUE
from arena.tournament.versions import maker_of, version_here

NAME: Final = LEAGUE
FORMAT: Final = 6
"""The format of league.sqlite, which changes with its tables and with the deals of a seed."""

_APPLICATION = 0x444E4C47  # DNLG
_RATINGS = "SELECT version, pairs, elo, low, high, letters, played, round FROM ratings"


class Ledger(SqliteFile):
    """The database of a league."""

    application, format, oldest, schema = _APPLICATION, FORMAT, FORMAT, SCHEMA
    foreign = "not the database of a league"
    advice = "; another league needs a new folder"

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the file, or create it with `create`; raises InputError."""
        self.path = path
        if not create and not path.is_file():
            raise InputError(f"{path}: no such file; the league's folder is not whole")
        self.open(create=create)
        if create:
            with self.changing():
                self._insert("fixed", "arena", version_here())

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.errors():
            return self.connection.execute(query, values).fetchall()

    def _insert(self, table: str, *row: Any) -> int:
        """Add a row, and return its number."""
        marks = ", ".join("?" * len(row))
        query = f"INSERT INTO {table} VALUES ({marks})"
        return int(self.connection.execute(query, row).lastrowid or 0)

    def find_maker(self) -> str:
        """Return the version of the arena that began the league, empty if it is not known."""
        if not self.one("SELECT 1 FROM sqlite_master WHERE name = 'fixed' AND type = 'table'"):
            return ""
        version = self.one("SELECT value FROM fixed WHERE key = 'arena'")
        return maker_of({"versions": {"arena": version}}) if version else ""

    # versions and refusals

    def versions(self, where: str = "1", *values: Any) -> list[Version]:
        """Return versions in the order of their submission."""
        rows = self.rows(f"SELECT * FROM versions WHERE {where} ORDER BY id", *values)
        return [Version(*row) for row in rows]

    def refusals(self, where: str = "1", *values: Any) -> list[Refusal]:
        """Return refused submissions in the order of their submission."""
        rows = self.rows(f"SELECT * FROM refusals WHERE {where} ORDER BY id", *values)
        return [Refusal(*row) for row in rows]

    def holder(self, name: str) -> tuple[str, str]:
        """Return the name that looks like this one or is it, and its owner; both empty if none.

        The first owner of a name keeps it.
        """
        alike = simplify_name(name)
        held = self.rows("SELECT name, owner FROM versions WHERE number = 1")
        return next(((one, owner) for one, owner in held if simplify_name(one) == alike), ("", ""))

    def add_version(self, version: Version) -> Version:
        """Store a new version and return it with its id and number; it replaces the one before."""
        last = self.one("SELECT max(number) FROM versions WHERE name = ?", version.name) or 0
        self.connection.execute(
            "UPDATE versions SET state = ? WHERE name = ? AND state IN (?, ?)",
            (REPLACED, version.name, ACTIVE, SUSPENDED),
        )
        row = version._replace(number=last + 1)
        return row._replace(id=self._insert("versions", None, *row[1:]))

    def set_state(self, version: Version, state: str, why: str = "") -> None:
        """Change the state of a version, which is whether it plays."""
        change = "UPDATE versions SET state = ?, why = ? WHERE id = ?"
        self.connection.execute(change, (state, why, version.id))

    def refuse(self, refusal: Refusal) -> None:
        """Record a refusal; one of an invalid name, which has no owner, is not published."""
        self._insert("refusals", None, *refusal[1:])

    def freeze(self, at: str) -> None:
        """Accept no submission from now on; an empty time accepts them again."""
        self.connection.execute("INSERT OR REPLACE INTO fixed VALUES ('frozen', ?)", (at,))

    def frozen(self) -> str:
        """Return the time from which on no submission counts, empty while they do."""
        return self.one("SELECT value FROM fixed WHERE key = 'frozen'") or ""

    # rounds

    @property
    def last_round(self) -> int:
        """The number of the last round that is finished, 0 for none."""
        return self.one("SELECT max(number) FROM rounds") or 0

    def add_round(self, number: int, at: str, rows: Sequence[RatingRow]) -> None:
        """Store that a round is finished, and the ratings after it.

        Of earlier rounds only the ratings of versions that played in them remain.
        """
        self._insert("rounds", number, at)
        self.connection.execute("DELETE FROM ratings WHERE NOT played")
        for row in rows:
            self._insert("ratings", number, *row)

    def ratings(self, number: int) -> dict[int, RatingRow]:
        """Return the ratings after a round, by version."""
        rows = self.rows(f"{_RATINGS} WHERE round = ? ORDER BY version", number)
        return {row[0]: RatingRow(*row[:-1]) for row in rows}

    def rating_history(self, version: int) -> list[tuple[int, RatingRow]]:
        """Return the ratings of a version by round."""
        rows = self.rows(f"{_RATINGS} WHERE version = ? ORDER BY round", version)
        return [(row[-1], RatingRow(*row[:-1])) for row in rows]
