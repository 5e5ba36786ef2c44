"""The SQL queries for the games of a store: in order, with labels, by lead, and as counts."""

from __future__ import annotations

from arena.store.csv_files import NUMBERS

GAMES = """
SELECT pairing, pair, seat, winner, win_type, points, opponent_points, plies, fault, actions,
    message, traceback, output
FROM games LEFT JOIN evidence USING (pairing, pair, seat) {where} ORDER BY pairing, pair, seat
"""

NAMED_GAMES = f"""
SELECT bot, opponent, pair, seat, CASE winner WHEN 0 THEN bot WHEN 1 THEN opponent ELSE '' END,
    win_type, {", ".join(NUMBERS.values())}, fault
FROM games JOIN named USING (pairing) ORDER BY pairing, pair, seat
"""
"""All games as rows of games.csv, with the labels from a table of the pairings."""

RECORDS = """
SELECT pairing, pair, seat, winner, win_type, points - opponent_points, actions
FROM games WHERE pairing = ? ORDER BY pairing, pair, seat LIMIT ?
"""

_BY_POINTS = "win_type IN ('points', 'tiebreak', 'draw')"
FAULTS = """
WHERE (pairing, pair, seat) IN (
    SELECT pairing, pair, seat FROM (
        SELECT pairing, pair, seat, row_number() OVER (
            PARTITION BY pairing, winner, fault ORDER BY pair, seat
        ) AS number FROM games WHERE fault NOT IN ('', ?1)
    ) WHERE number <= ?2
)
"""
"""Condition for the first ?2 games of each pairing, bot and kind of fault other than ?1."""

_FIRST = 1 << 40  # greater than any place in a pairing

WITH_LEAD = f"""
SELECT pairing, pair, seat FROM games
WHERE pairing = ?1 AND {_BY_POINTS} AND abs(points - opponent_points) = ?2
ORDER BY pair, seat LIMIT 1
"""
"""The place of the first game of pairing ?1 that was decided by points with a lead of ?2."""

SHORTEST_CITY_WINS = f"""
SELECT pairing, place / 2, place % 2 FROM (
    SELECT pairing, min(plies) AS least, min(plies * {_FIRST} + 2 * pair + seat) % {_FIRST} AS place
    FROM games WHERE win_type = 'city' GROUP BY pairing
) ORDER BY least, pairing
"""
"""The place of the shortest City win of each pairing, the shortest first."""
