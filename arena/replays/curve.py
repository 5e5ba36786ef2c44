"""Find the curve of a game, the chance to win before each ply, its errors and its decisive ply.

A bot says what positions are worth. It looks at no hand, so that in the last plies, where hands
settle a game, it would be surprised by them: there all hands that fit a view are searched to the
end (`arena.batch.rollouts`), which counts the more the nearer the end is. That was measured, as
were the errors, by `python -m bench.studies chances` (bench/STUDIES.md).
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.faults import Forfeit
from arena.replays.timeline import follow
from arena.tournament.asking import asked
from engine import STANDARD, TAKE, EngineError, Record, Seat, outcome
from engine.cards import CHARS
from engine.view import view

_WIDTH = 80
_LUCK = 0  # the seed of the bot that computes chances


def describe_decisive(record: Record, players: Sequence[str], by: str) -> list[str]:
    """Return the lines on the decisive ply of a game; none for a game without plies.

    `players` are the names of both seats, `by` is the spec of the bot that computes the chances. An
    invalid record has no lines, either. Raises InputError for a bot that cannot compute chances.
    """
    entry = resolve(by)
    try:
        means = mean_chances(find_beliefs(record, entry))
    except EngineError:
        return []
    if not record.actions:
        return []
    chances = [chance for chance in means if chance is not None]
    if len(chances) < len(means):
        return [f"the decisive ply is not known: {entry.label} does not value these positions"]
    swings = [abs(after - before) for before, after in pairwise(chances)]
    ply = max(range(len(swings)), key=swings.__getitem__)
    seat = record.rules.seat_at(ply)
    before, after = (c if seat == 0 else 1 - c for c in chances[ply : ply + 2])
    char = record.actions[ply]
    what = "takes" if char == CHARS[TAKE] else f"plays {char}"
    text = (
        f"the decisive ply, by {entry.label}: ply {ply}, {players[seat]} {what}, "
        f"and its chance to win goes from {before:.0%} to {after:.0%}"
    )
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ")


def mean_chances(beliefs: Sequence[Sequence[float | None]]) -> list[float | None]:
    """Return the means over seats; None for a ply at which one of them is None."""
    means: list[float | None] = []
    for of_seats in zip(*beliefs, strict=True):
        known = [chance for chance in of_seats if chance is not None]
        means.append(sum(known) / len(known) if len(known) == len(of_seats) else None)
    return means


def find_beliefs(
    record: Record, entry: Entry, seats: Sequence[Seat] = (0, 1)
) -> list[list[float | None]]:
    """Return the chance of seat 0 to win at every ply and the end, by each of these seats' views.

    The bot gets only the views of these seats. The last entry of a finished game is its result.
    None if the bot does not know a chance. Raises InputError for a bot that is not an
    `engine.Valuer`, and EngineError for a bad record.
    """
    if entry.command:
        raise InputError(f"bot {entry.target!r}: only a Python bot can be asked for chances")
    beliefs: list[list[float | None]] = [[] for _ in seats]
    try:
        with ExitStack() as stack:
            asking = [
                stack.enter_context(asked(entry, seat, _LUCK, record.rules)) for seat in seats
            ]
            for state in follow(record):
                if not state.over:
                    for belief, seat, bot in zip(beliefs, seats, asking, strict=True):
                        own = bot.chance(view(state, seat))
                        belief.append(1 - own if seat and own is not None else own)
    except Forfeit as forfeit:
        raise InputError(f"bot {entry.target!r}: {forfeit.fault.message}") from None
    if state.over:
        winner = outcome(state.piles, state.rules).winner
        for belief in beliefs:
            belief.append(0.5 if winner is None else 1.0 - winner)
    return beliefs


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
    from arena.batch.last_round import expect_open

    found = [*belief]
    for ply, state in enumerate(follow(record)):
        share = share_of_search(record.rules.game_plies - ply)
        value = found[ply]
        if share and value is not None and not state.over:
            found[ply] = share * expect_open(view(state, seat)) + (1 - share) * value
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
