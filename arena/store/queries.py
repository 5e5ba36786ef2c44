"""Ask a store for the games that a report shows: first faults, closest and shortest games."""

from __future__ import annotations

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
"""The condition of the first ?2 games of each pairing, bot and kind of fault other than ?1."""

_FIRST = 1 << 40  # above every place in a pairing


def _least(value: str, condition: str) -> str:
    """Return the question for the first game with the least value of each pairing."""
    return f"""
    SELECT pairing, place / 2, place % 2 FROM (
        SELECT pairing, min({value}) AS least,
            min({value} * {_FIRST} + 2 * pair + seat) % {_FIRST} AS place
        FROM games WHERE {condition} GROUP BY pairing
    ) ORDER BY least, pairing
    """


WITH_LEAD = f"""
SELECT pairing, pair, seat FROM games
WHERE pairing = ?1 AND {_BY_POINTS} AND abs(points - opponent_points) = ?2
ORDER BY pair, seat LIMIT 1
"""
"""The place of pairing ?1's first game that points decided, with a lead of ?2."""

SHORTEST_CITY_WINS = _least("plies", "win_type = 'city'")
"""The place of the shortest City win of each pairing, the shortest first."""
