"""Store in league.sqlite who is in a league: versions of bots, refusals, ratings.

Their rows come first, and what may stand in them as names of bots and of owners. Each event is one
transaction: a submission, or the end of a round. Readers never wait, and the unfinished changes of
a killed process are rolled back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.errors import InputError, cut
from arena.store.database import SqliteFile
from arena.store.folder import LEAGUE
from arena.tournament.tournament import VERSION
from arena.tournament.versions import maker_of, version_here

NAME: Final = LEAGUE
FORMAT: Final = 6
"""The format of league.sqlite, which changes with its tables and with the deals of a seed."""

_APPLICATION = 0x444E4C47  # DNLG
_RATINGS = "SELECT version, pairs, elo, low, high, letters, played, round FROM ratings"

ACTIVE: Final = "active"
REPLACED: Final = "replaced"
WITHDRAWN: Final = "withdrawn"
SUSPENDED: Final = "suspended"

SCHEMA: Final = """
CREATE TABLE fixed (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, number INTEGER NOT NULL, owner TEXT NOT NULL,
    spec TEXT NOT NULL, sha256 TEXT NOT NULL, cost REAL NOT NULL,
    panel INTEGER NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL, at TEXT NOT NULL,
    UNIQUE (name, number)
);
CREATE TABLE refusals (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL, sha256 TEXT NOT NULL,
    why TEXT NOT NULL, at TEXT NOT NULL, public TEXT NOT NULL
);
CREATE TABLE rounds (number INTEGER PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE ratings (
    round INTEGER NOT NULL, version INTEGER NOT NULL, pairs INTEGER NOT NULL,
    elo REAL NOT NULL, low REAL, high REAL, letters TEXT NOT NULL,
    played INTEGER NOT NULL, PRIMARY KEY (round, version)
) WITHOUT ROWID;
CREATE INDEX versions_owner ON versions (owner, at);
CREATE INDEX versions_sha256 ON versions (sha256);
CREATE INDEX versions_state ON versions (state);
CREATE INDEX refusals_name ON refusals (name);
CREATE INDEX refusals_owner ON refusals (owner, at);
CREATE INDEX ratings_version ON ratings (version)
"""
"""The tables; `rounds` has those that were played and rated, `fixed` the arena that began it and,
once it is frozen, since when."""

_ALIKE: Final = str.maketrans("10i", "lol")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_OWNER: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._@+-]{0,58}[A-Za-z0-9._@+-])?")
_DEVICES: Final = {"con", "prn", "aux", "nul", *(f"{a}{n}" for a in ("com", "lpt") for n in "123")}


def simplify_name(name: str) -> str:
    """Map a name to a form that is equal for names that look alike.

    >>> simplify_name("B0b"), simplify_name("Il1") == simplify_name("lll")
    ('bob', True)
    """
    return name.lower().translate(_ALIKE)


class Version(NamedTuple):
    """One version of a bot, whose source never changes.

    `spec` names a bot of the arena, or a file below the league's folder. `cost` is its approximate
    time for a pair of games in seconds. `why` is the reason if it is not active. Id and number of
    a new one are 0: `Ledger.add_version` gives them.
    """

    id: int
    name: str
    number: int
    owner: str
    spec: str
    sha256: str
    cost: float
    panel: bool = False
    state: str = ACTIVE
    why: str = ""
    at: str = ""

    @property
    def is_active(self) -> bool:
        """Whether it takes part in the next round."""
        return self.state == ACTIVE

    @property
    def label(self) -> str:
        """Its label in the run: deals depend on the name and not on the number."""
        return self.name if self.number == 1 else f"{self.name}{VERSION}{self.number}"

    @property
    def title(self) -> str:
        """The name and the number of the version."""
        return f"{self.name} {self.number}"


class Refusal(NamedTuple):
    """A submission that was not accepted, and the reason; `public` is what everybody may read."""

    id: int
    name: str
    owner: str
    sha256: str
    why: str
    at: str
    public: str = ""


class RatingRow(NamedTuple):
    """A version's rating after a round; `low` or `high` is None if the interval is unbounded.

    `played` is whether the version played in this round.
    """

    version: int
    pairs: int
    elo: float
    low: float | None
    high: float | None
    letters: str
    played: bool

    def rounded(self) -> RatingRow:
        """Return the row rounded to tenths of Elo points, as every page and list shows it."""
        low, high = (None if end is None else round(end, 1) for end in (self.low, self.high))
        return self._replace(elo=round(self.elo, 1), low=low, high=high)

    @property
    def half(self) -> float:
        """Half the width of the interval, inf where it has no end."""
        return math.inf if self.low is None or self.high is None else (self.high - self.low) / 2


def check_owner(owner: str) -> None:
    """Raise InputError unless an owner's name can be shown everywhere."""
    if not _OWNER.fullmatch(owner):
        raise InputError(f"owner {owner!r}: 1 to 60 of A-Z a-z 0-9 . _ - @ + with spaces between")


def check_name(name: str) -> None:
    """Raise InputError unless a name is a word of 1 to 40 allowed ASCII characters.

    >>> check_name("ann-2")
    >>> check_name("../ann")
    Traceback (most recent call last):
    arena.errors.InputError: name '../ann': '/' is not one of A-Z a-z 0-9 . _ -
    """
    if name.lower() in _DEVICES:
        why = "Windows has a device of this name; choose another one"
    elif odd := re.search(r"[^A-Za-z0-9._-]", name):
        why = f"{odd[0]!r} is not one of A-Z a-z 0-9 . _ -"
    elif not _NAME.fullmatch(name) or name.endswith("."):
        why = "1 to 40 characters, the first a letter or a digit, the last no ."
    else:
        return
    raise InputError(f"name {cut(name, 60)!r}: {why}")


def write_time(at: str) -> str:
    """Return a time of the ledger as it is shown.

    >>> write_time("2026-11-28T17:00:00+00:00")
    '2026-11-28 17:00:00 UTC'
    """
    return f"{at[:19].replace('T', ' ')} UTC"


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
