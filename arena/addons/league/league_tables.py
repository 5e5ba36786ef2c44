"""The tables of league.sqlite, and their rows: versions of bots, refusals, ratings.

And what may stand in them: names of bots and of owners.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from arena.errors import InputError, cut
from arena.tournament.tournament import VERSION

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
