"""Store in league.sqlite who is in a league: versions of bots, refusals, ratings.

Each event is one transaction: a submission, or the end of a round. Readers never wait,
and the unfinished changes of a killed process are rolled back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena.addons.league.league_tables import (
    ACTIVE,
    REPLACED,
    SCHEMA,
    SUSPENDED,
    Event,
    RatingRow,
    Refusal,
    Version,
    simplify_name,
)
from arena.errors import InputError
from arena.store.folder import LEAGUE
from arena.store.sqlite_file import SqliteFile
from arena.tournament.versions import maker_of, version_here

if TYPE_CHECKING:
    from arena.addons.league.league_ratings import Rated

NAME: Final = LEAGUE
FORMAT: Final = 5
"""The format of league.sqlite, which changes with its tables and with the deals of a seed."""

_APPLICATION = 0x444E4C47  # DNLG

_MOST = 1e9  # Elo points: an end without a bound
_RATINGS = """
SELECT round, version, pairs, elo, low, high, shrunk, letters, played FROM ratings
"""


def _read_rating(row: Sequence[Any]) -> RatingRow:
    return RatingRow(*row[1:])._replace(played=bool(row[-1]))


class Ledger(SqliteFile):
    """The database of a league."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the file, or create it with `create`; raises InputError."""
        self.path = path
        if not create and not path.is_file():
            raise InputError(f"{path}: no such file; the league's folder is not whole")
        foreign, advice = "not the database of a league", "; another league needs a new folder"
        self.open(_APPLICATION, FORMAT, SCHEMA if create else "", foreign, advice)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.errors():
            return self.connection.execute(query, values).fetchall()

    def _insert(self, table: str, *row: Any) -> int:
        """Add a row, and return its number."""
        marks = ", ".join("?" * len(row))
        query = f"INSERT INTO {table} VALUES ({marks})"
        return int(self.connection.execute(query, row).lastrowid or 0)

    # fixed values

    def fixed(self) -> dict[str, Any]:
        """Return the values that were fixed when the league began, as plain data."""
        text = self.rows("SELECT value FROM fixed WHERE key = 'settings'")
        return json.loads(text[0][0]) if text else {}

    def fix(self, values: dict[str, Any]) -> None:
        """Store the values that must not change, and the arena's version that began the league."""
        for row in ("settings", json.dumps(values)), ("arena", version_here()):
            self._insert("fixed", *row)

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
        return [Version._make((*row[:7], bool(row[7]), *row[8:])) for row in rows]

    def refusals(self, where: str = "1", *values: Any) -> list[Refusal]:
        """Return refused submissions in the order of their submission."""
        return [
            Refusal(*row)
            for row in self.rows(f"SELECT * FROM refusals WHERE {where} ORDER BY id", *values)
        ]

    def count_submissions(self) -> tuple[int, int]:
        """Return how many submissions were accepted, and how many were refused."""
        accepted, refused = (
            int(self.one(f"SELECT count(*) FROM {table}")) for table in ("versions", "refusals")
        )
        return accepted, refused

    def holder(self, name: str) -> tuple[str, str] | None:
        """Return the name that looks like this one or is it, and its owner; None if there is none.

        The first owner of a name keeps it.
        """
        query = "SELECT name, owner FROM names WHERE alike = ?"
        rows = self.rows(query, simplify_name(name))
        return (rows[0][0], rows[0][1]) if rows else None

    def add_version(self, version: Version) -> Version:
        """Store a new version and return it with its id and number; it replaces the one before."""
        number = 1 + (
            self.one("SELECT max(number) FROM versions WHERE name = ?", version.name) or 0
        )
        self.connection.execute(
            "UPDATE versions SET state = ? WHERE name = ? AND state IN (?, ?)",
            (REPLACED, version.name, ACTIVE, SUSPENDED),
        )
        row = version._replace(id=None, number=number)  # type: ignore[arg-type]
        id = self._insert("versions", *row)
        if number == 1:
            self._insert("names", simplify_name(row.name), row.name, row.owner)
        what = "joins the league" if number == 1 else "is a new version"
        self.tell(version.at, version.name, f"{row.title}, by {version.owner}, {what}")
        return row._replace(id=id)

    def set_state(self, version: Version, state: str, why: str, at: str) -> None:
        """Change the state of a version, which is whether it plays, and record the event."""
        change = "UPDATE versions SET state = ?, why = ? WHERE id = ?"
        self.connection.execute(change, (state, why, version.id))
        self.tell(at, version.name, f"{version.title} is {state}")

    def tell(self, at: str, name: str, text: str) -> None:
        """Record an event."""
        self._insert("events", None, at, name, text)

    def events(self, since: str = "", most: int = 1000) -> list[Event]:
        """Return the events since a time, the newest first."""
        query = "SELECT * FROM events WHERE at >= ? ORDER BY id DESC LIMIT ?"
        return [Event(*row) for row in self.rows(query, since, most)]

    def refuse(self, refusal: Refusal) -> None:
        """Record a refusal; an invalid name, which has no owner, is not published."""
        self._insert("refusals", None, *refusal[1:])
        name = refusal.name if refusal.owner else ""
        why = f": {refusal.public}" if name and refusal.public else ""
        self.tell(refusal.at, name, f"a submission for {name or 'a wrong name'} was refused{why}")

    def freeze(self, at: str, text: str) -> None:
        """Accept no submission from now on; an empty time accepts them again."""
        self.connection.execute("INSERT OR REPLACE INTO fixed VALUES ('frozen', ?)", (at,))
        self.tell(at, "", text)

    def frozen(self) -> str:
        """Return the time from which on no submission counts, empty while they do."""
        return self.one("SELECT value FROM fixed WHERE key = 'frozen'") or ""

    # rounds

    @property
    def last_round(self) -> int:
        """The number of the last round that is finished, 0 for none."""
        return self.one("SELECT max(number) FROM rounds") or 0

    def add_round(self, number: int, at: str, rated: Rated) -> None:
        """Store that a round is finished, and the ratings after it.

        Of earlier rounds only the ratings of versions that played in them remain.
        """
        low, high = (min(end, _MOST) for end in rated.spread[1:3])
        self._insert("rounds", number, at, rated.spread.elo, low, high, rated.spread.is_measured)
        self.connection.execute("DELETE FROM ratings WHERE NOT played")
        for row in rated.rows:
            self._insert("ratings", number, *row)

    def days(self) -> dict[str, int]:
        """Return on how many days each name was submitted."""
        query = "SELECT name, count(DISTINCT substr(at, 1, 10)) FROM versions GROUP BY name"
        return dict(self.rows(query))

    def best_versions(self, number: int) -> dict[str, int]:
        """Return the number of each name's version with the highest Elo after a round."""
        query = (
            "SELECT name, number, max(round(elo, 1)) FROM ratings JOIN versions ON id = version "
            "WHERE round = ? GROUP BY name"
        )
        return {name: best for name, best, _ in self.rows(query, number)}

    def ratings(self, number: int) -> dict[int, RatingRow]:
        """Return the ratings after a round, by version."""
        rows = self.rows(f"{_RATINGS} WHERE round = ? ORDER BY version", number)
        return {row[1]: _read_rating(row) for row in rows}

    def courses(self, first: int) -> list[tuple[str, int, int, float]]:
        """Return name, number of the version, round and Elo of each rating from a round on."""
        query = (
            "SELECT name, number, round, elo FROM ratings JOIN versions ON id = version "
            "WHERE round >= ? ORDER BY name, round, number"
        )
        return [(*row,) for row in self.rows(query, first)]

    def rating_history(self, version: int) -> list[tuple[int, RatingRow]]:
        """Return the ratings of a version by round."""
        rows = self.rows(f"{_RATINGS} WHERE version = ? ORDER BY round", version)
        return [(row[0], _read_rating(row)) for row in rows]

    def spread(self, number: int) -> tuple[float, float, float, bool] | None:
        """Return the spread of results about the Elo after a round, with its interval."""
        query = "SELECT spread, low, high, measured FROM rounds WHERE number = ?"
        rows = self.rows(query, number)
        return (*rows[0][:3], bool(rows[0][3])) if rows else None
