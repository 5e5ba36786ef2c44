"""Find the ply of a game at which the chance to win, as a bot values it, changed most."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.games.thinking import asked
from arena.lanes.faults import Forfeit
from engine import TAKE, EngineError, Record, Seat, State, outcome
from engine.notation import parse_actions, parse_deal
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
        actions = parse_actions(record.actions)
        chances = find_chances(record, entry)
    except EngineError:
        return []
    if not actions:
        return []
    if chances is None:
        return [f"the decisive ply is not known: {entry.label} does not value these positions"]
    swings = [abs(after - before) for before, after in pairwise(chances)]
    ply = max(range(len(swings)), key=swings.__getitem__)
    seat = record.rules.seat_at(ply)
    before, after = (c if seat == 0 else 1 - c for c in chances[ply : ply + 2])
    what = "takes" if actions[ply] == TAKE else f"plays {record.actions[ply]}"
    text = (
        f"the decisive ply, by {entry.label}: ply {ply}, {players[seat]} {what}, "
        f"and its chance to win goes from {before:.0%} to {after:.0%}"
    )
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ")


def find_chances(record: Record, entry: Entry) -> list[float] | None:
    """Return the chance of seat 0 to win before each ply and at the end, as a bot values it.

    At every ply it is the mean of the bot's values for the views of both seats. The last entry of a
    finished game is its result. None if the bot does not know a chance. Raises InputError for a bot
    that is not an `engine.Valuer`, and EngineError for a bad record.
    """
    chances = [chance for chance in mean_chances(find_beliefs(record, entry)) if chance is not None]
    return chances if len(chances) > len(record.actions) else None


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
    None if the bot does not know a chance. Raises the errors of `find_chances`.
    """
    if entry.command:
        raise InputError(f"bot {entry.target!r}: only a Python bot can be asked for chances")
    state = State(parse_deal(record.deal, record.rules), record.rules)
    beliefs: list[list[float | None]] = [[] for _ in seats]
    try:
        with ExitStack() as stack:
            asking = [
                stack.enter_context(asked(entry, seat, _LUCK, record.rules)) for seat in seats
            ]
            for action in [*parse_actions(record.actions), None]:
                if not state.over:
                    for belief, seat, bot in zip(beliefs, seats, asking, strict=True):
                        own = bot.chance(view(state, seat))
                        belief.append(1 - own if seat and own is not None else own)
                if action is not None:
                    state.apply(state.checked(action))
    except Forfeit as forfeit:
        raise InputError(f"bot {entry.target!r}: {forfeit.fault.message}") from None
    if state.over:
        winner = outcome(state.piles, state.rules).winner
        for belief in beliefs:
            belief.append(0.5 if winner is None else 1.0 - winner)
    return beliefs
