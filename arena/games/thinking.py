"""Thinking: a game played through again, each bot asked what it thought of its actions.

The game is over and its actions are known. So nothing that a bot says, does or draws here can
change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import NamedTuple

from arena.entries.entry import Entry
from arena.errors import InputError
from arena.games.asked import Asked, asked
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from engine import Action, Record, Seat, State, Thought
from engine.cards import CHARS
from engine.notation import parse_actions, parse_deal
from engine.view import View, view


class Found(NamedTuple):
    """The thoughts by ply, and the plies at which a bot has chosen otherwise this time.

    Those have no thoughts: a search that is bounded by seconds, say, is not the same twice.
    """

    thoughts: dict[int, tuple[Thought, ...]]
    strayed: list[int]


def find_thoughts(
    record: Record, bots: Mapping[Seat, tuple[Entry, int]], limits: Limits | None = None
) -> Found:
    """Return what bots thought at each of their choices, in the order of the plies.

    `bots` has the bot of a seat with the seed of its generator in the game. A bot that is no
    `engine.Thinker` has no thoughts, and neither has a command. Raises InputError for a bot
    that fails or says what is not a thought, and EngineError for a bad record.
    """
    state = State(parse_deal(record.deal, record.rules), record.rules)
    found = Found({}, [])
    asking: dict[Seat, Asked] = {}
    seat = 0
    try:
        with ExitStack() as stack:
            for seat, (entry, luck) in bots.items():
                if not entry.command:
                    of_seat = asked(entry, seat, luck, record.rules, limits)
                    asking[seat] = stack.enter_context(of_seat)
            for action in parse_actions(record.actions):
                seat = state.to_act
                if seat in asking and not _ask(asking[seat], view(state, seat), action, found):
                    del asking[seat]
                state.apply(state.checked(action))
    except Forfeit as forfeit:
        raise InputError(f"bot {bots[seat][0].target!r}: {forfeit.fault.message}") from None
    return found


def _ask(bot: Asked, seen: View, action: Action, found: Found) -> bool:
    """Add what a bot thinks of its choice; return False if it never says what it thinks."""
    ply = len(seen.history)
    again = bot.choose(seen)
    thoughts = bot.thoughts(seen)
    if thoughts is None:
        return False
    if again != CHARS[action]:
        found.strayed.append(ply)
    elif thoughts:
        found.thoughts[ply] = thoughts
    return True
