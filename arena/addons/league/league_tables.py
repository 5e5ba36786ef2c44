"""The tables of league.sqlite, and their rows: versions of bots, refusals, events, ratings.

And what may stand in them: names of bots and of owners.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from arena.errors import InputError
from arena.tournament.tournament import VERSION

ACTIVE: Final = "active"
REPLACED: Final = "replaced"
WITHDRAWN: Final = "withdrawn"
SUSPENDED: Final = "suspended"
PAUSED: Final = "paused: "
"""What the reason of a suspended bot begins with whose server could not be asked."""

SCHEMA: Final = """
CREATE TABLE fixed (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE names (
    alike TEXT PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL
) WITHOUT ROWID;
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
CREATE TABLE rounds (
    number INTEGER PRIMARY KEY, at TEXT NOT NULL,
    spread REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, measured INTEGER NOT NULL
);
CREATE TABLE ratings (
    round INTEGER NOT NULL, version INTEGER NOT NULL, pairs INTEGER NOT NULL,
    elo REAL NOT NULL, low REAL, high REAL, shrunk REAL NOT NULL, letters TEXT NOT NULL,
    played INTEGER NOT NULL, PRIMARY KEY (round, version)
) WITHOUT ROWID;
CREATE TABLE events (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX versions_owner ON versions (owner, at);
CREATE INDEX versions_sha256 ON versions (sha256);
CREATE INDEX versions_state ON versions (state);
CREATE INDEX refusals_name ON refusals (name);
CREATE INDEX refusals_owner ON refusals (owner, at);
CREATE INDEX ratings_version ON ratings (version)
"""
"""The tables; `rounds` has those that were played and rated, with the spread of their results."""

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
    time for a pair of games in seconds. `why` is the reason if it is not active.
    """

    id: int
    name: str
    number: int
    owner: str
    spec: str
    sha256: str
    cost: float
    panel: bool
    state: str
    why: str
    at: str

    @property
    def is_active(self) -> bool:
        """Whether it takes part in the next round."""
        return self.state == ACTIVE

    @property
    def is_paused(self) -> bool:
        """Whether it plays again as soon as its server can be asked."""
        return self.state == SUSPENDED and self.why.startswith(PAUSED)

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


class Event(NamedTuple):
    """An event of a name, described for the public."""

    id: int
    at: str
    name: str
    text: str


class RatingRow(NamedTuple):
    """A version's rating after a round; `low` or `high` is None if the interval is unbounded.

    `shrunk` is the Elo shrunk towards the mean of all, the more the fewer its games. `played` is
    whether the version played in this round.
    """

    version: int
    pairs: int
    elo: float
    low: float | None
    high: float | None
    shrunk: float
    letters: str
    played: bool

    def rounded(self) -> RatingRow:
        """Return the row rounded to tenths of Elo points, as every page and list shows it."""
        low, high = (None if end is None else round(end, 1) for end in (self.low, self.high))
        elo, shrunk = round(self.elo, 1), round(self.shrunk, 1)
        return self._replace(elo=elo, low=low, high=high, shrunk=shrunk)


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
    shown = name if len(name) <= 60 else f"{name[:60]}..."
    raise InputError(f"name {shown!r}: {why}")


def write_time(at: str) -> str:
    """Return a time of the ledger as it is shown.

    >>> write_time("2026-11-28T17:00:00+00:00")
    '2026-11-28 17:00:00 UTC'
    """
    return f"{at[:19].replace('T', ' ')} UTC"
