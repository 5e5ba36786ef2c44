"""Move a run's stored games to another schedule, with SQL, so that no game is lost.

A game depends on its two bots, the pair and the seat, and not on the other bots. So a run can
get more bots and pairs, and keep the games played. Forfeits by rule depend on the whole schedule:
they are deleted, and derived again from the games.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from typing import Any

from arena.lanes.faults import BY_RULE
from arena.store.damage import renew_all
from arena.store.manifest import differences
from arena.tournament.schedule import Pairing

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

    `replaced` are labels of bots whose games are deleted. The caller's transaction contains all
    changes.
    """
    _fill_slots(database, before)
    database.execute(_TO_LEFT_OUT, (BY_RULE,))
    database.execute("DELETE FROM games")
    database.execute("DELETE FROM evidence")
    for label in replaced:
        database.execute("DELETE FROM left_out WHERE ? IN (bot, opponent)", (label,))
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
