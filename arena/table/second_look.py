"""Review a recorded game: judge every decision, or try another action."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from arena.entries.catalogue import STRENGTHS
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.games.judged import Judged
from arena.records.judge import parse_record
from arena.runs.review import describe_judge, review_record
from arena.runs.what_if import draw_players, what_if
from arena.store.finished import (
    Branch,
    branch_timeline,
    line_timeline,
    name_of_line,
    players_of_line,
)
from arena.table.looking_up import VALUER
from arena.table.own_games import find_line
from engine import Record

WORLDS: Final = 200
"""Sampled worlds in which each action is tried: a game takes some 3 s of processor time."""

_one_at_a_time = threading.Lock()


def judge_game(
    record: Record, name: str, plies: tuple[int, ...] | None = None
) -> tuple[Judged, ...]:
    """Judge the decisions of a game, all or those at some plies; one game at a time."""
    with _one_at_a_time:
        return _judge(record, name, plies, WORLDS)


@lru_cache(32)
def _judge(
    record: Record, name: str, plies: tuple[int, ...] | None, worlds: int
) -> tuple[Judged, ...]:
    return tuple(review_record(record, name=name, worlds=worlds, plies=plies))


def judged_timeline(file: Path, number: int) -> dict[str, Any]:
    """Return the timeline of the game in a line of a file, with the loss of each decision.

    Raises LookupError if the line does not exist, EngineError for a line without a game, and
    InputError for rules that no judge supports.
    """
    line = find_line(file, number)
    return line_timeline(
        line,
        title=f"line {number}",
        by=resolve(VALUER),
        judged=judge_game(parse_record(line), name_of_line(line, number)),
        judge=describe_judge(worlds=WORLDS),
    )


def other_timeline(file: Path, line: int, ply: int, action: str, strength: int) -> dict[str, Any]:
    """Return the timeline of a variation: another action at a ply, then a bot plays both seats.

    `strength` is the number of the bot; it plays each seat from that seat's view only. Raises
    LookupError for a line or a strength that does not exist, EngineError for a line without a game,
    and InputError if the action cannot be played.
    """
    text = find_line(file, line)
    record = parse_record(text)
    bot = next((one.bot for one in STRENGTHS if one.number == strength), None)
    if bot is None:
        raise LookupError(strength)
    if record.rules.changes():
        raise InputError("another action can be tried only under the published rules")
    entry = resolve(bot)
    with _one_at_a_time:
        other = what_if(record, ply, action, draw_players(entry))
    branch = Branch(record, ply, entry.label)
    return branch_timeline(
        other, players_of_line(text), branch, title=f"line {line}", by=resolve(VALUER)
    )
