"""Detect damaged rows of a store, and move stored games to another schedule.

The games of 64 pairs share a checksum, which SQLite computes in 0.4 us a game; a checksum for each
game, computed in Python, would take 1.4 us. Blocks of 64 pairs do not depend on the chunks in which
pairs were played. Each row of the other, small tables has its own checksum.

A game depends on its two bots, the pair and the seat, and not on the other bots. So a run can
get more bots and pairs, and keep the games played. Forfeits by rule depend on the whole schedule:
they are deleted, and derived again from the games.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final
from zlib import crc32

from arena.statistics.counts import BY_RULE, WIN_TYPES
from arena.store.manifest import differences
from arena.tournament.schedule import Pairing, PairRange

_PAIRS = 64  # pairs in a block
_PRIME = (1 << 31) - 1  # a flipped bit of a number changes a sum of multiples of numbers modulo it
_NUMBERS = """
    (((2 * pair + seat) * 3 + ifnull(winner, 2)) * 1000003 + points * 1000000007
    + opponent_points * 10000019 + plies * 7919 + pairing * 104729)
"""
_SUMS = f"""
count(*), sum({_NUMBERS} % {_PRIME}),
    CAST(group_concat(actions) AS BLOB), CAST(group_concat(win_type) AS BLOB),
    CAST(group_concat(fault) AS BLOB)
"""
_BLOCK = "WHERE pairing = ?1 AND pair >= ?2 AND pair < ?3"
_GAMES = f"SELECT {_SUMS} FROM games {_BLOCK}"
"""Rows come in the order of the table's key; a subquery with ORDER BY is 1.6 times as slow."""

_SUMMED: Final = ("run", "bots", "evidence", "left_out")
"""The tables with a checksum for each row, of all its other columns."""


def checksum(*values: object) -> int:
    """Return the checksum of a row's values."""
    return crc32(repr(values).encode())


def enable(database: sqlite3.Connection) -> None:
    """Register `checksum` as a function of SQL."""
    database.create_function("checksum", -1, checksum, deterministic=True)


_RENEW = f"INSERT OR REPLACE INTO blocks SELECT ?1, ?4, checksum({_SUMS}) FROM games {_BLOCK}"


def renew_blocks(database: sqlite3.Connection, ranges: Iterable[PairRange]) -> None:
    """Update the checksums of the blocks with these pairs; one call takes a third of many."""
    blocks = {
        (span.pairing, block)
        for span in ranges
        for block in range(span.first // _PAIRS, (span.end - 1) // _PAIRS + 1)
    }
    database.executemany(
        _RENEW,
        [
            (pairing, block * _PAIRS, (block + 1) * _PAIRS, block)
            for pairing, block in sorted(blocks)
        ],
    )


def _sum_games(database: sqlite3.Connection, pairing: int, block: int) -> tuple[int, int]:
    """Return the number of games in a block of pairs, and their checksum."""
    bounds = pairing, block * _PAIRS, (block + 1) * _PAIRS
    row = database.execute(_GAMES, bounds).fetchone()
    return row[0], checksum(*row)


def renew_all(database: sqlite3.Connection) -> None:
    """Update the checksums of all games, and of all rows of the other tables."""
    database.execute("DELETE FROM blocks")
    blocks = f"SELECT DISTINCT pairing, pair / {_PAIRS} * {_PAIRS} FROM games"
    rows = database.execute(blocks).fetchall()
    renew_blocks(database, [PairRange(pairing, first, first + _PAIRS) for pairing, first in rows])
    for table in _SUMMED:
        columns = ", ".join(name for name, *_ in _columns(database, table))
        database.execute(f"UPDATE {table} SET checksum = checksum({columns})")


def _columns(database: sqlite3.Connection, table: str) -> list[tuple[str, str, bool]]:
    """Return the columns of a table but its checksum, with type, and whether it is in the key."""
    query = "SELECT name, lower(type), pk > 0 FROM pragma_table_info(?) WHERE name <> 'checksum'"
    return database.execute(query, (table,)).fetchall()


def find_altered(database: sqlite3.Connection) -> str | None:
    """Describe the rows that differ from what was written, None if there is no difference."""
    for table in _SUMMED:
        columns = ", ".join(name for name, *_ in _columns(database, table))
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

JUDGED = """
CREATE TABLE IF NOT EXISTS judged (
    arena TEXT, game BLOB, decisions BLOB NOT NULL, PRIMARY KEY (arena, game)
)
"""
"""The table of judged decisions, which only a run that was analysed has.

It needs no checksum: what is damaged or missing is judged again.
"""

OBJECTS: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
"""The query for the tables of a database."""

_MOST_NUMBER = 1 << 31  # exceeds any points or plies; pairs and pairings are smaller
_IS_RESULT = f"""
    pair BETWEEN 0 AND {_MOST_NUMBER} AND seat IN (0, 1) AND (winner IS NULL OR winner IN (0, 1))
    AND win_type IN {WIN_TYPES} AND abs(points) <= {_MOST_NUMBER}
    AND abs(opponent_points) <= {_MOST_NUMBER} AND plies BETWEEN 0 AND {_MOST_NUMBER}
    AND fault IS NOT NULL AND actions IS NOT NULL
"""
_IS_RIGHT: Final = {
    "run": "key = 'manifest'",
    "bots": "TRUE",
    "games": f"pairing BETWEEN 0 AND {_MOST_NUMBER} AND {_IS_RESULT}",
    "blocks": "TRUE",
    "evidence": "message || traceback || output IS NOT NULL",
    "left_out": f"bot < opponent AND {_IS_RESULT}",
}
"""What holds of each row of a table, beside the declared types."""


def find_damage(database: sqlite3.Connection, ours: Collection[Sequence[Any]]) -> str | None:
    """Describe the damage of a store, None if all its rows are as they were written.

    `ours` are the answers to OBJECTS of a sound store. Only our own tables are read: a view or a
    trigger could run for ever. Raises sqlite3.DatabaseError for a file that SQLite cannot read.
    """
    if database.execute(OBJECTS).fetchall() not in ours:
        return "not the tables of a run"
    (damage,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if damage != "ok":
        return " ".join(str(damage).split())
    return _find_odd(database) or find_altered(database)


def _find_odd(database: sqlite3.Connection) -> str | None:
    """Describe a row with a value that its column cannot have, None if there is none."""
    for table, is_right in _IS_RIGHT.items():
        columns = _columns(database, table)
        types = " AND ".join(f"typeof({name}) IN ('{kind}', 'null')" for name, kind, _ in columns)
        keys = ", ".join(name for name, _, is_key in columns if is_key)
        query = f"SELECT {keys} FROM {table} WHERE ({types} AND {is_right}) IS NOT TRUE LIMIT 1"
        if row := database.execute(query).fetchone():
            return f"a value of a wrong type at {'/'.join(map(str, row))!r}"
    return None


_SLOTS = """
CREATE TEMP TABLE IF NOT EXISTS slots (
    pairing INTEGER, bot TEXT, opponent TEXT, flipped INTEGER, PRIMARY KEY (bot, opponent)
) WITHOUT ROWID
"""
_TURNED = """
    abs(seat - flipped), CASE flipped WHEN 0 THEN winner ELSE 1 - winner END, win_type,
    CASE flipped WHEN 0 THEN points ELSE opponent_points END,
    CASE flipped WHEN 0 THEN opponent_points ELSE points END, plies, fault, actions
"""
"""SQL columns of a game, with both bots exchanged if its slot is flipped."""

_TO_LEFT_OUT = f"""
INSERT INTO left_out SELECT bot, opponent, pair, {_TURNED}, message, traceback, output, NULL
FROM games JOIN slots USING (pairing) LEFT JOIN evidence USING (pairing, pair, seat)
WHERE fault <> ?
"""
_FROM_LEFT_OUT = f"""
INSERT INTO games SELECT pairing, pair, {_TURNED}
FROM left_out JOIN slots USING (bot, opponent) WHERE pair < ?
"""
_EVIDENCE_FROM_LEFT_OUT = """
INSERT INTO evidence SELECT pairing, pair, abs(seat - flipped), message, traceback, output, NULL
FROM left_out JOIN slots USING (bot, opponent) WHERE pair < ? AND message IS NOT NULL
"""
_NO_LONGER_LEFT_OUT = """
DELETE FROM left_out WHERE pair < ? AND (bot, opponent) IN (SELECT bot, opponent FROM slots)
"""
_BEYOND = f"""
INSERT OR REPLACE INTO left_out
SELECT bot, opponent, pair, {_TURNED}, message, traceback, output, NULL
FROM lengths CROSS JOIN games USING (pairing) JOIN slots USING (pairing)
    LEFT JOIN evidence USING (pairing, pair, seat)
WHERE pair >= length AND fault <> ?
"""
_DELETE_BEYOND = """
DELETE FROM {table} WHERE (pairing, pair, seat) IN (
    SELECT pairing, pair, seat FROM lengths CROSS JOIN {table} USING (pairing)
    WHERE pair >= length
)
"""
_FORGET_BOTS = """
DELETE FROM bots
WHERE label NOT IN (SELECT bot FROM left_out UNION SELECT opponent FROM left_out)
"""


def find_changed(
    database: sqlite3.Connection, bots: Iterable[dict[str, Any]]
) -> dict[str, list[str]]:
    """Return, by label, how bots differ from the bots that played the stored games.

    `bots` are the bots of a manifest. A bot without a difference is not in the result.
    """
    known = dict(database.execute("SELECT label, identity FROM bots"))
    changed = {}
    for bot in bots:
        identity = known.get(bot["label"])
        if identity is not None and identity != _identity(bot):
            changed[bot["label"]] = _differences(identity, bot)
    return changed


def _differences(identity: str, bot: dict[str, Any]) -> list[str]:
    try:
        return differences(json.loads(identity), bot)
    except (ValueError, RecursionError):
        return ["its identity cannot be read"]


def rearrange(
    database: sqlite3.Connection,
    before: Iterable[Pairing],
    after: Iterable[Pairing],
    pairs: int,
    replaced: Collection[str] = (),
) -> None:
    """Renumber the games for another schedule; games that it does not contain are set aside.

    `replaced` are labels of bots whose games are deleted, and with them all judged decisions. The
    caller's transaction contains all changes.
    """
    _fill_slots(database, before)
    database.execute(_TO_LEFT_OUT, (BY_RULE,))
    database.execute("DELETE FROM games")
    database.execute("DELETE FROM evidence")
    for label in replaced:
        database.execute("DELETE FROM left_out WHERE ? IN (bot, opponent)", (label,))
    if replaced:
        database.execute("DROP TABLE IF EXISTS judged")
    _fill_slots(database, after)
    for statement in (_FROM_LEFT_OUT, _EVIDENCE_FROM_LEFT_OUT, _NO_LONGER_LEFT_OUT):
        database.execute(statement, (pairs,))
    renew_all(database)


def trim(
    database: sqlite3.Connection, pairings: Iterable[Pairing], lengths: Iterable[tuple[int, int]]
) -> None:
    """Set aside games beyond the last pair of each pairing; `lengths` has its number and pairs."""
    _fill_slots(database, pairings)
    database.execute(
        "CREATE TEMP TABLE IF NOT EXISTS lengths (pairing INTEGER PRIMARY KEY, length INTEGER)"
    )
    database.execute("INSERT OR REPLACE INTO lengths SELECT pairing, 0 FROM slots")
    database.executemany("INSERT OR REPLACE INTO lengths VALUES (?, ?)", lengths)
    database.execute(_BEYOND, (BY_RULE,))
    deleted = [
        database.execute(_DELETE_BEYOND.format(table=table)).rowcount
        for table in ("games", "evidence")
    ]
    if any(deleted):
        renew_all(database)


def keep_bots(database: sqlite3.Connection, bots: Iterable[dict[str, Any]]) -> None:
    """Store the identities of these bots, and delete those of bots without a stored game."""
    database.execute(_FORGET_BOTS)
    rows = [(bot["label"], _identity(bot)) for bot in bots]
    database.executemany("INSERT OR REPLACE INTO bots VALUES (?1, ?2, checksum(?1, ?2))", rows)


def _fill_slots(database: sqlite3.Connection, pairings: Iterable[Pairing]) -> None:
    """Create the table of a schedule: the pairing's number by both labels, the smaller first."""
    database.execute(_SLOTS)
    database.execute("DELETE FROM slots")
    database.executemany(
        "INSERT INTO slots VALUES (?, ?, ?, ?)",
        ((number, *sorted(two), two.bot > two.opponent) for number, two in enumerate(pairings)),
    )


def _identity(bot: dict[str, Any]) -> str:
    return json.dumps(bot, sort_keys=True, ensure_ascii=False)
