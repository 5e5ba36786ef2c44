"""Keep what owners hand in over the web until its turn, in web.sqlite: tokens and uploads.

The web server adds uploads, and the process that plays the league takes them. Each step is one
transaction, so a kill at any moment loses no upload and lets none be taken twice. Of a token only
the hash is stored.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.errors import InputError, naming
from arena.store.database import SqliteFile

NAME: Final = "web.sqlite"
"""The name of the file in the league's folder."""

FORMAT: Final = 1
_APPLICATION: Final = 0x444E5742  # "DNWB"
_PATIENCE: Final = 60.0  # seconds to wait while another process is writing
_TOKEN: Final = 32  # random bytes

WAITING: Final = "waiting"
TAKEN: Final = "taken"
ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
_OPEN: Final = "state IN ('waiting', 'taken')"

_SCHEMA: Final = f"""
CREATE TABLE tokens (owner TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, at TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE uploads (
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, ending TEXT NOT NULL,
    sha256 TEXT NOT NULL, size INTEGER NOT NULL, at TEXT NOT NULL, state TEXT NOT NULL,
    since TEXT NOT NULL, answer TEXT NOT NULL, answered TEXT NOT NULL
);
CREATE INDEX of_owner ON uploads (owner, at);
CREATE INDEX of_name ON uploads (owner, name, id);
CREATE INDEX unanswered ON uploads (owner, id) WHERE {_OPEN}
"""
_QUEUE: Final = f"""
SELECT * FROM uploads WHERE {_OPEN}
ORDER BY state = 'waiting', row_number() OVER (PARTITION BY owner, state ORDER BY id), id
"""
"""Those that a killed process has taken, then the first of each owner, then the second ones."""


class Upload(NamedTuple):
    """An upload: a bot's file or zip, by its hash, until it is answered.

    `ending` is that of its file. `since` is when it was taken, and `answer` is the version that it
    has become, or why it was refused.
    """

    id: int
    owner: str
    name: str
    ending: str
    sha256: str
    size: int
    at: str
    state: str
    since: str
    answer: str
    answered: str


class Post(SqliteFile):
    """The uploads of a league, and the tokens of its owners; `now` returns the time."""

    def __init__(
        self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Open the file in a league's folder, or create it; raises InputError."""
        self.path = folder / NAME
        self.now = now
        with naming(self.path, OSError):
            self.path.touch(mode=0o600)
        with self.errors():
            self.connection = sqlite3.connect(
                self.path, isolation_level=None, timeout=_PATIENCE, check_same_thread=False
            )
            self.connection.execute("PRAGMA trusted_schema = OFF")
            if not self.one("PRAGMA user_version"):
                self._create()
            self.check(_APPLICATION, FORMAT, "not the uploads of a league", "; remove the file")

    def _create(self) -> None:
        self.connection.execute("PRAGMA journal_mode = WAL")
        with self.changing():
            if self.one("SELECT count(*) FROM sqlite_master"):
                return  # another process has just created it
            for statement in _SCHEMA.split(";"):
                self.connection.execute(statement)
            self.mark(_APPLICATION, FORMAT)

    def _rows(self, query: str, *values: Any) -> list[Upload]:
        with self.errors():
            return [Upload(*row) for row in self.connection.execute(query, values)]

    def _time(self) -> str:
        return self.now().isoformat(timespec="seconds")

    # tokens

    def invite(self, owner: str) -> str:
        """Return a new token of an owner, in place of the one before."""
        token = secrets.token_urlsafe(_TOKEN)
        with self.changing():
            row = owner, _hash(token), self._time()
            self.connection.execute("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)", row)
        return token

    def revoke(self, owner: str) -> None:
        """Make the token of an owner invalid; raises InputError without one."""
        with self.changing():
            gone = self.connection.execute("DELETE FROM tokens WHERE owner = ?", (owner,))
            if not gone.rowcount:
                raise InputError(f"owner {owner}: no token was given")

    def invited(self) -> dict[str, str]:
        """Return since when each owner has a token."""
        with self.errors():
            rows = self.connection.execute("SELECT owner, at FROM tokens ORDER BY owner")
            return dict(rows.fetchall())

    def find_owner(self, token: str) -> str:
        """Return the owner of a token, empty for a wrong one.

        What is compared are hashes of tokens, so the time tells nothing of a token.
        """
        with self.errors():
            return self.one("SELECT owner FROM tokens WHERE hash = ?", _hash(token)) or ""

    # uploads

    def receive(
        self, bot: tuple[str, str, str], sha256: str, size: int, keep: Callable[[int], object]
    ) -> Upload:
        """Add an upload to the queue, and return it; `bot` is its owner, its name and its ending.

        `keep` stores its bytes under its id before this is committed. If the owner's last upload of
        this name has the same bytes, and was not refused, that one is returned: a client that has
        seen no receipt can send its request again.
        """
        with self.changing():
            query = "SELECT * FROM uploads WHERE owner = ? AND name = ? ORDER BY id DESC LIMIT 1"
            for last in self._rows(query, *bot[:2]):
                if (last.sha256, last.ending) == (sha256, bot[2]) and last.state != REFUSED:
                    return last
            row = (*bot, sha256, size, self._time(), WAITING, "", "", "")
            marks = ", ".join("?" * len(row))
            added = self.connection.execute(f"INSERT INTO uploads VALUES (NULL, {marks})", row)
            keep(id := int(added.lastrowid or 0))
            return Upload(id, *row)

    def queue(self) -> list[Upload]:
        """Return what waits for an answer, in the order of turns: one of each owner at a time."""
        return self._rows(_QUEUE)

    def places(self) -> dict[int, int]:
        """Return the place in the queue of each upload, by its id; the next one has 1."""
        return {upload.id: place for place, upload in enumerate(self.queue(), 1)}

    def uploads_of(self, owner: str, most: int) -> list[Upload]:
        """Return the last uploads of an owner, the newest first."""
        query = "SELECT * FROM uploads WHERE owner = ? ORDER BY id DESC LIMIT ?"
        return self._rows(query, owner, most)

    def count_today(self, owner: str) -> int:
        """Return how many uploads of an owner came today (UTC)."""
        today = self._time()[:10]
        query = "SELECT count(*) FROM uploads WHERE owner = ? AND at BETWEEN ? AND ?"
        return int(self.one(query, owner, today, f"{today}~"))

    def size(self) -> int:
        """Return how many bytes wait for an answer."""
        return int(self.one(f"SELECT coalesce(sum(size), 0) FROM uploads WHERE {_OPEN}"))

    def is_open(self, id: int) -> bool:
        """Return whether an upload waits for an answer."""
        return bool(self.one(f"SELECT count(*) FROM uploads WHERE id = ? AND {_OPEN}", id))

    def take(self, upload: Upload) -> str:
        """Mark an upload as taken; return since when it has been, if a killed process took it."""
        if upload.state == TAKEN:
            return upload.since
        with self.changing():
            self.connection.execute(
                "UPDATE uploads SET state = ?, since = ? WHERE id = ?",
                (TAKEN, self._time(), upload.id),
            )
        return ""

    def answer(self, upload: Upload, state: str, answer: str) -> None:
        """Store what an upload has become."""
        with self.changing():
            self.connection.execute(
                "UPDATE uploads SET state = ?, answer = ?, answered = ? WHERE id = ?",
                (state, answer, self._time(), upload.id),
            )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def has_post(folder: Path) -> bool:
    """Return whether a league has a web: its first invitation makes one."""
    return (folder / NAME).is_file()
