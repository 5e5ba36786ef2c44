"""Damage: what is wrong with the file of a store, whoever wrote it."""

from __future__ import annotations

import sqlite3
from functools import cache

from arena.statistics.counts import WIN_TYPES
from arena.store.checksums import find_altered

SCHEMA = """
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER) WITHOUT ROWID;
CREATE TABLE games (
    pairing INTEGER, pair INTEGER, seat INTEGER, winner INTEGER, win_type TEXT,
    points INTEGER, opponent_points INTEGER, plies INTEGER, fault TEXT, actions TEXT,
    PRIMARY KEY (pairing, pair, seat)
) WITHOUT ROWID;
CREATE TABLE blocks (
    pairing INTEGER, block INTEGER, checksum INTEGER, PRIMARY KEY (pairing, block)
) WITHOUT ROWID;
CREATE TABLE evidence (
    pairing INTEGER, pair INTEGER, seat INTEGER, message TEXT, traceback TEXT, output TEXT,
    checksum INTEGER,
    PRIMARY KEY (pairing, pair, seat)
) WITHOUT ROWID;
CREATE TABLE bots (
    label TEXT PRIMARY KEY, identity TEXT NOT NULL, checksum INTEGER
) WITHOUT ROWID;
CREATE TABLE left_out (
    bot TEXT, opponent TEXT, pair INTEGER, seat INTEGER, winner INTEGER, win_type TEXT,
    points INTEGER, opponent_points INTEGER, plies INTEGER, fault TEXT, actions TEXT,
    message TEXT, traceback TEXT, output TEXT, checksum INTEGER,
    PRIMARY KEY (bot, opponent, pair, seat)
) WITHOUT ROWID;
"""
"""The tables of a store; `left_out` has games that are not of the run as it stands.

`blocks` has the checksum of the games of some pairs.
"""

_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
_MOST_NUMBER = 1 << 31  # of points and plies; a pair and a pairing are less
_IS_RESULT = f"""
    typeof(pair) = 'integer' AND pair BETWEEN 0 AND {_MOST_NUMBER}
    AND typeof(seat) = 'integer' AND seat IN (0, 1)
    AND (winner IS NULL OR typeof(winner) = 'integer' AND winner IN (0, 1))
    AND win_type IN {WIN_TYPES}
    AND typeof(points) = 'integer' AND abs(points) <= {_MOST_NUMBER}
    AND typeof(opponent_points) = 'integer' AND abs(opponent_points) <= {_MOST_NUMBER}
    AND typeof(plies) = 'integer' AND plies BETWEEN 0 AND {_MOST_NUMBER}
    AND typeof(fault) = 'text' AND typeof(actions) = 'text'
"""
_ODD_GAME = f"""
SELECT pairing || '/' || pair || '/' || seat FROM games WHERE NOT (
    typeof(pairing) = 'integer' AND pairing BETWEEN 0 AND {_MOST_NUMBER} AND {_IS_RESULT}
) LIMIT 1
"""
_ODD_LEFT_OUT = f"""
SELECT bot || '/' || opponent || '/' || pair || '/' || seat FROM left_out WHERE NOT (
    typeof(bot) = 'text' AND typeof(opponent) = 'text' AND bot < opponent AND {_IS_RESULT}
    AND typeof(message) IN ('text', 'null') AND typeof(traceback) IN ('text', 'null')
    AND typeof(output) IN ('text', 'null')
) LIMIT 1
"""
_ODD_BOT = (
    "SELECT label FROM bots WHERE typeof(label) <> 'text' OR typeof(identity) <> 'text' LIMIT 1"
)
_ODD_EVIDENCE = """
SELECT pairing || '/' || pair || '/' || seat FROM evidence WHERE NOT (
    typeof(message) = 'text' AND typeof(traceback) = 'text' AND typeof(output) = 'text'
) LIMIT 1
"""
_ODD_KEY = "SELECT key FROM run WHERE key <> 'manifest' OR typeof(value) <> 'text' LIMIT 1"


def find_damage(database: sqlite3.Connection) -> str | None:
    """Return what is wrong with a store, None if all its rows are those that were written.

    Nothing but our own tables is read: a view or a trigger could run for ever. Raises
    sqlite3.DatabaseError for a file in which SQLite cannot find its way.
    """
    if database.execute(_OBJECTS).fetchall() != _objects():
        return "not the tables of a run"
    (damage,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if damage != "ok":
        return " ".join(str(damage).split())
    for query in (_ODD_KEY, _ODD_BOT, _ODD_GAME, _ODD_EVIDENCE, _ODD_LEFT_OUT):
        if (row := database.execute(query).fetchone()) is not None:
            return f"a value of a wrong type at {row[0]!r}"
    return find_altered(database)


@cache
def _objects() -> list[tuple[str, ...]]:
    """Return the tables of a new store, as SQLite describes them."""
    database = sqlite3.connect("")
    database.executescript(SCHEMA)
    rows: list[tuple[str, ...]] = database.execute(_OBJECTS).fetchall()
    database.close()
    return rows
