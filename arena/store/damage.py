"""Detect damaged rows of a store by their tables, types and checksums.

The games of 64 pairs share a checksum, which SQLite computes in 0.4 us a game; a checksum for each
game, computed in Python, would take 1.4 us (`python -m bench store`). Blocks of 64 pairs do not
depend on the chunks in which pairs were played. Each row of the other, small tables has its own
checksum.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Final
from zlib import crc32

from arena.statistics.counts import WIN_TYPES

_PAIRS = 64  # pairs in a block
_PRIME = (1 << 31) - 1  # a flipped bit of a number changes a sum of multiples of numbers modulo it
_NUMBERS = """
    (((2 * pair + seat) * 3 + ifnull(winner, 2)) * 1000003 + points * 1000000007
    + opponent_points * 10000019 + plies * 7919 + pairing * 104729)
"""
_GAMES = f"""
SELECT count(*), sum({_NUMBERS} % {_PRIME}),
    CAST(group_concat(actions) AS BLOB), CAST(group_concat(win_type) AS BLOB),
    CAST(group_concat(fault) AS BLOB)
FROM games WHERE pairing = ? AND pair >= ? AND pair < ?
"""
"""Rows come in the order of the table's key; a subquery with ORDER BY is 1.6 times as slow."""

_ROWS: Final = {
    "run": "key, value",
    "bots": "label, identity",
    "evidence": "pairing, pair, seat, message, traceback, output",
    "left_out": "bot, opponent, pair, seat, winner, win_type, points, opponent_points, plies, "
    "fault, actions, message, traceback, output",
}
"""The tables with a checksum for each row, and the columns from which it is computed."""


def checksum(*values: object) -> int:
    """Return the checksum of a row's values."""
    return crc32(repr(values).encode())


def enable(database: sqlite3.Connection) -> None:
    """Register `checksum` as a function of SQL."""
    database.create_function("checksum", -1, checksum, deterministic=True)


def renew_blocks(database: sqlite3.Connection, pairing: int, first: int, end: int) -> None:
    """Update the checksums of the blocks with a pairing's pairs from `first` up to `end`."""
    for block in range(first // _PAIRS, (end - 1) // _PAIRS + 1):
        row = pairing, block, _sum_games(database, pairing, block)[1]
        database.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)", row)


def _sum_games(database: sqlite3.Connection, pairing: int, block: int) -> tuple[int, int]:
    """Return the number of games in a block of pairs, and their checksum."""
    bounds = pairing, block * _PAIRS, (block + 1) * _PAIRS
    row = database.execute(_GAMES, bounds).fetchone()
    return row[0], checksum(*row)


def renew_all(database: sqlite3.Connection) -> None:
    """Update the checksums of all games, and of all rows of the other tables."""
    database.execute("DELETE FROM blocks")
    blocks = f"SELECT DISTINCT pairing, pair / {_PAIRS} * {_PAIRS} FROM games"
    for pairing, first in database.execute(blocks).fetchall():
        renew_blocks(database, pairing, first, first + _PAIRS)
    for table in _ROWS:
        renew_rows(database, table)


def renew_rows(database: sqlite3.Connection, table: str) -> None:
    """Update the checksum of each row of a table other than the games."""
    database.execute(f"UPDATE {table} SET checksum = checksum({_ROWS[table]})")


def find_altered(database: sqlite3.Connection) -> str | None:
    """Describe the rows that differ from what was written, None if there is no difference."""
    for table, columns in _ROWS.items():
        query = f"SELECT * FROM {table} WHERE checksum IS NOT checksum({columns}) LIMIT 1"
        if row := database.execute(query).fetchone():
            return f"{table}: the row of {row[0]!r} is not what was written"
    total = 0
    blocks = database.execute("SELECT pairing, block, checksum FROM blocks").fetchall()
    for pairing, block, noted in blocks:
        games, found = _sum_games(database, pairing, block)
        if found != noted:
            first = block * _PAIRS
            place = f"pairs {first} to {first + _PAIRS - 1} of pairing {pairing}"
            return f"games: {place} are not what was written"
        total += games
    (count,) = database.execute("SELECT count(*) FROM games").fetchone()
    return None if count == total else f"games: {count} of them, and {total} were written"


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
"""The tables of a store; `left_out` has stored games that do not belong to the present run.

`blocks` has a checksum for each block of pairs.
"""

_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
_MOST_NUMBER = 1 << 31  # exceeds any points or plies; pairs and pairings are smaller
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
    """Describe the damage of a store, None if all its rows are as they were written.

    Only our own tables are read: a view or a trigger could run for ever. Raises
    sqlite3.DatabaseError for a file that SQLite cannot read.
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
    """Return the schema of a new store, as SQLite reports it."""
    database = sqlite3.connect("")
    database.executescript(SCHEMA)
    rows: list[tuple[str, ...]] = database.execute(_OBJECTS).fetchall()
    database.close()
    return rows
