"""Decisive: the ply of a game at which the chance to win changed most, by a bot's values."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import pairwise

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.games.players import RemotePlayer
from arena.games.timing import Timing
from arena.lanes.cleanup import scratch_folder
from arena.lanes.faults import Forfeit, forfeit_from
from arena.lanes.limits import Limits
from arena.lanes.messages import Answer, Chance, Message
from arena.lanes.process import BotProcess, bot_process
from engine import TAKE, EngineError, Record, Seat, State, View, outcome
from engine.notation import parse_actions, parse_deal
from engine.play import setup
from engine.strategy import checked_chance
from engine.view import view

_WIDTH = 80
_LUCK = 0  # the seed of the generators of a bot that is asked for chances

Ask = Callable[[View], float | None]
"""Returns what a bot says of its chance to win, with the seat's view."""


def describe_decisive(record: Record, players: Sequence[str], by: str) -> list[str]:
    """Return the lines about the decisive ply of a game, none for a game without a ply.

    `players` are the names of both seats, `by` is the spec of the bot that says what the
    chances were. There are none, either, for a record that cannot be played. Raises
    InputError for a bot that cannot say it.
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
    seat = (ply + ply // record.rules.round_plies) & 1
    before, after = (c if seat == 0 else 1 - c for c in chances[ply : ply + 2])
    what = "takes" if actions[ply] == TAKE else f"plays {record.actions[ply]}"
    text = (
        f"the decisive ply, by {entry.label}: ply {ply}, {players[seat]} {what}, "
        f"and its chance to win goes from {before:.0%} to {after:.0%}"
    )
    return textwrap.wrap(text, _WIDTH, subsequent_indent="  ")


def find_chances(record: Record, entry: Entry) -> list[float] | None:
    """Return the chance of seat 0 to win before each ply and at the end, by a bot's values.

    At every ply both seats are asked, each with what it sees, and the mean counts. The end of
    a finished game is its result. None where the bot does not know one of them. Raises
    InputError for a bot that is no `engine.Valuer`, and EngineError for a bad record.
    """
    if entry.command:
        raise InputError(f"bot {entry.target!r}: only a Python bot can be asked for chances")
    state = State(parse_deal(record.deal, record.rules), record.rules)
    chances = []
    try:
        with ExitStack() as stack:
            ask = [_make_ask(entry, seat, record, stack) for seat in (0, 1)]
            for action in [*parse_actions(record.actions), None]:
                if not state.over:
                    own, other = (ask[seat](view(state, seat)) for seat in (0, 1))
                    if own is None or other is None:
                        return None
                    chances.append((own + 1 - other) / 2)
                if action is not None:
                    state.apply(state.checked(action))
    except Forfeit as forfeit:
        raise InputError(f"bot {entry.target!r}: {forfeit.fault.message}") from None
    if state.over:
        winner = outcome(state.piles, state.rules).winner
        chances.append(0.5 if winner is None else 1.0 - winner)
    return chances


def _make_ask(entry: Entry, seat: Seat, record: Record, stack: ExitStack) -> Ask:
    """Return what asks a bot in this seat: one of ours here, others in their own process."""
    if entry.is_ours and entry.lane == "inproc":
        return _ask_here(entry, seat, record)
    folder = stack.enter_context(scratch_folder())
    process = stack.enter_context(bot_process(entry, record.rules, Limits(), folder, check=True))
    process.start()
    player = RemotePlayer(process, 0, seat, _LUCK, Limits().clock(), Timing())
    _answer(process, player.begin_message())

    def ask(seen: View) -> float | None:
        fields = player.choose_message(seen)
        message = Chance(**{name: getattr(fields, name) for name in _FIELDS})
        return _answer(process, message).chance

    return ask


_FIELDS = [name for name in Chance.__struct_fields__ if name not in ("id", "type")]


def _answer(process: BotProcess, message: Message) -> Answer:
    (answer,), _ = process.ask([message], Limits().longest)
    if isinstance(answer, Forfeit):
        raise answer
    return answer


def _ask_here(entry: Entry, seat: Seat, record: Record) -> Ask:
    try:
        strategy = entry.create(setup(_LUCK, seat, record.rules))
    except Exception as error:
        raise forfeit_from(error) from None

    def ask(seen: View) -> float | None:
        try:
            return checked_chance(strategy, seen)
        except Exception as error:
            raise forfeit_from(error) from None

    return ask
