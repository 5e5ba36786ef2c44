"""Marks: what a take changed: a majority, a set, the cities."""

from __future__ import annotations

from typing import Any

from engine import CITY, SUPPORTS, Rules, Seat, count
from engine.cards import CHARS
from engine.scoring import Piles


def find_marks(before: Piles, after: Piles, seat: Seat, rules: Rules) -> list[dict[str, Any]]:
    """Return what the take of a seat changed, as plain data.

    A majority has who had it and who has it now, a set how many more there are, and a city
    how many the seat holds of those it needs.

    >>> from engine import STANDARD, pack_of
    >>> find_marks((0, pack_of([3])), (pack_of([3, 3]), pack_of([3])), 0, STANDARD)
    [{'what': 'majority', 'kind': '8', 'before': 1, 'after': 0}]
    """
    marks: list[dict[str, Any]] = []
    for kind in SUPPORTS:
        had, has = (_leader(piles, kind) for piles in (before, after))
        if had != has:
            marks.append({"what": "majority", "kind": CHARS[kind], "before": had, "after": has})
    more = _sets(after[seat]) - _sets(before[seat])
    if more:
        marks.append({"what": "set", "count": more})
    cities = count(after[seat], CITY)
    if cities > count(before[seat], CITY):
        marks.append({"what": "city", "held": cities, "needed": rules.cities_needed})
    return marks


def _leader(piles: Piles, kind: int) -> Seat | None:
    """Return the seat with more cards of a kind, None for equal counts (R12)."""
    first, second = (count(pile, kind) for pile in piles)
    if first == second:
        return None
    return 0 if first > second else 1


def _sets(pile: int) -> int:
    return min(count(pile, kind) for kind in SUPPORTS)
