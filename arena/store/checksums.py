"""Checksums: what tells whether the rows of a store are still those that were written.

The games of 64 pairs share one, which SQLite computes in 0.4 us a game; one for each game, from
Python, takes 1.4 us (`python -m bench store`). The blocks of pairs are the same for any chunks.
The rows of the other tables are few, and have one each.
"""

from __future__ import annotations

import sqlite3
from typing import Final
from zlib import crc32

_PAIRS = 64  # of a block
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
"""The table has one order, that of its key; a subquery with ORDER BY takes 1.6 times as long."""

_ROWS: Final = {
    "run": "key, value",
    "bots": "label, identity",
    "evidence": "pairing, pair, seat, message, traceback, output",
    "left_out": "bot, opponent, pair, seat, winner, win_type, points, opponent_points, plies, "
    "fault, actions, message, traceback, output",
}
"""The tables whose rows have a checksum each, and what it is made of."""


def checksum(*values: object) -> int:
    """Return the checksum of a row's values."""
    return crc32(repr(values).encode())


def enable(database: sqlite3.Connection) -> None:
    """Let statements call `checksum`."""
    database.create_function("checksum", -1, checksum, deterministic=True)


def renew_blocks(database: sqlite3.Connection, pairing: int, first: int, end: int) -> None:
    """Note the checksums of the blocks with a pairing's pairs from `first` up to `end`."""
    for block in range(first // _PAIRS, (end - 1) // _PAIRS + 1):
        row = pairing, block, _sum_games(database, pairing, block)[1]
        database.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)", row)


def _sum_games(database: sqlite3.Connection, pairing: int, block: int) -> tuple[int, int]:
    """Return how many games there are of a block of pairs, and their checksum."""
    bounds = pairing, block * _PAIRS, (block + 1) * _PAIRS
    row = database.execute(_GAMES, bounds).fetchone()
    return row[0], checksum(*row)


def renew_all(database: sqlite3.Connection) -> None:
    """Note the checksums of all games, and of all rows of the other tables."""
    database.execute("DELETE FROM blocks")
    blocks = f"SELECT DISTINCT pairing, pair / {_PAIRS} * {_PAIRS} FROM games"
    for pairing, first in database.execute(blocks).fetchall():
        renew_blocks(database, pairing, first, first + _PAIRS)
    for table in _ROWS:
        renew_rows(database, table)


def renew_rows(database: sqlite3.Connection, table: str) -> None:
    """Note the checksum of each row of a table other than that of the games."""
    database.execute(f"UPDATE {table} SET checksum = checksum({_ROWS[table]})")


def find_altered(database: sqlite3.Connection) -> str | None:
    """Return which rows are not those that were written, None if all are."""
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
