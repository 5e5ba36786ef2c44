"""Compute the curve of a game: the chance to win before each ply, and its standard error.

A bot estimates the value of each position. Its estimate ignores the hands, which decide the last
plies. So near the end all hands that fit a view are searched to the end of the game
(`arena.batch.last_plies`), and the search gets a weight that grows with each ply. Weights and
errors were measured by `python -m bench.studies chances` (bench/STUDIES.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from arena.entries.entry import Entry
from arena.records.decisive import find_beliefs, mean_chances
from engine import STANDARD, Record, Seat, State
from engine.notation import parse_actions, parse_deal
from engine.view import view

Chances: TypeAlias = list[float | None]

BOT: Final = "champion"
"""The bot for whose chances the standard errors were measured."""

SEARCHED: Final = 8
"""Plies before the end of the last round at which the search begins, as the judge's does."""

_LEAST_SHARE = 0.5  # weight of the search at its first ply; each further ply adds the next number
_MORE = 0.1


_OFF = (
    (20, 22, 9, 9, 9),
    (19, 17, 15, 9, 9),
    (17, 16, 14, 9, 4),
    (13, 10, 11, 7, 3),
    (6, 14, 10, 5, 2),
)
"""Standard errors in percentage points, by part of the game and zone (`bench.studies chances`)."""


class Curve(NamedTuple):
    """The chances of seat 0 before each ply and at the end.

    `beliefs` are the chances in the view of each seat in `seats`, and `chances` their means; None
    if the bot has no estimate. `off` is the standard error of a chance at a ply; None if it was
    not measured.
    """

    beliefs: list[Chances]
    chances: Chances
    off: Callable[[int, float], float] | None


def find_curve(record: Record, by: Entry, seats: Sequence[Seat] = (0, 1)) -> Curve:
    """Return the curve of a game by the estimates of a bot, from the views of these seats only.

    Raises InputError for a bot that does not estimate positions, and EngineError for a bad record.
    """
    beliefs = find_beliefs(record, by, seats)
    if record.rules == STANDARD:
        beliefs = [
            _search_end(record, seat, belief) for seat, belief in zip(seats, beliefs, strict=True)
        ]
    is_measured = by.is_ours and by.target == BOT and record.rules == STANDARD
    return Curve(beliefs, mean_chances(beliefs), how_far_off if is_measured else None)


def how_far_off(ply: int, chance: float) -> float:
    """Return the standard error of a chance at a ply.

    It is 0 for a chance of 0 or 1, which is certain.

    >>> how_far_off(47, 1.0)
    0.0
    """
    return _OFF[part_of(ply)][zone_of(chance)] / 100 if 0 < chance < 1 else 0.0


def share_of_search(left: int) -> float:
    """Return the weight of the search, 0 to 1, if `left` plies are left; the bot gets the rest.

    >>> [share_of_search(left) for left in (9, 8, 4, 1)]
    [0.0, 0.5, 0.9, 1.0]
    """
    return min(1.0, _LEAST_SHARE + _MORE * (SEARCHED - left)) if left <= SEARCHED else 0.0


def _search_end(record: Record, seat: Seat, belief: Chances) -> Chances:
    """Return a seat's chances; in the last plies, the bot's are mixed with those of the search."""
    from arena.batch.last_plies import expect_open

    found = [*belief]
    state = State(parse_deal(record.deal, record.rules), record.rules)
    for ply, action in enumerate([*parse_actions(record.actions), None]):
        share = share_of_search(record.rules.game_plies - ply)
        value = found[ply]
        if share and value is not None and not state.over:
            found[ply] = share * expect_open(view(state, seat)) + (1 - share) * value
        if action is not None:
            state.apply(state.checked(action))
    return found


PARTS: Final = ("round 1", "round 2", "round 3", "round 4", f"last {SEARCHED} plies")
"""The parts of a game for which the errors of the curve differ."""


def part_of(ply: int) -> int:
    """Return the number of the part in PARTS that contains a ply, under the published rules.

    >>> [part_of(ply) for ply in (0, 12, 39, 40)]
    [0, 1, 3, 4]
    """
    if ply >= STANDARD.game_plies - SEARCHED:
        return len(PARTS) - 1
    return ply // STANDARD.round_plies


def zone_of(chance: float) -> int:
    """Return how clear a chance is: 0 between 40 and 60 %, 4 from 90 % up or from 10 % down.

    >>> [zone_of(chance) for chance in (0.5, 0.41, 0.35, 1.0)]
    [0, 0, 1, 4]
    """
    return min(4, int(abs(chance - 0.5) * 10 + 1e-9))
