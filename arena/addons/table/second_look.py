"""Look at a recorded game again: its costliest decisions, or another action at a ply."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from arena.addons.table.looking_up import VALUER
from arena.addons.table.own_games import find_line
from arena.entries.catalogue import STRENGTHS
from arena.entries.resolve import resolve
from arena.errors import InputError, counted
from arena.runs.judge_games import describe_judge, draw_players, review_record, what_if
from arena.statistics.difference import RULE_OF_THREE
from arena.statistics.intervals import Z95, Estimate, find_significant
from arena.store.finished import (
    Branch,
    branch_timeline,
    line_timeline,
    name_of_line,
    players_of_line,
)
from arena.store.judge import parse_players, parse_record
from arena.store.mistakes import describe_decision
from arena.store.timeline import make_timeline, write_chosen
from arena.tournament.judged import ILLEGAL, PARTS, Judged
from arena.tournament.keys import JUDGE, SECOND
from engine import Record, Seat, Thought
from engine.cards import CHARS

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


_JUDGE: Final = (
    f"Two judges: {JUDGE} plays on for both sides from each action, in {WORLDS} worlds that fit "
    f"what you knew. What lost most is judged again by {SECOND}, which searches each action. That "
    "is an estimate for a strong opponent. The interval has the error of the worlds and the judge; "
    "of 127 such losses that were played on, 107 were within their intervals."
)
_MOST = 3
_LEAST: Final = PARTS // 100
_UNSEEN: Final = PARTS * RULE_OF_THREE / WORLDS / Z95  # the standard error if all worlds agree
_DIGITS = 4


def review_game(line: bytes, number: int) -> dict[str, Any]:
    """Return the costliest decisions of the person in the line of this number, as plain data.

    Each has its position as the person saw it, every action's chance to win, and the loss of the
    chosen action with its interval. There are at most three, all with a significant loss. Raises
    EngineError for a line without a game, and InputError for a game without a person or under
    rules that no judge supports.
    """
    record = parse_record(line)
    seat = find_person(line)
    plies = [ply for ply in range(len(record.actions)) if record.rules.seat_at(ply) == seat]
    judged = judge_game(record, name_of_line(line, number), tuple(plies))
    mistakes = find_mistakes(judged)
    timeline = make_timeline(record, players=parse_players(line), seat=seat)
    frames = timeline["frames"]
    return {
        "seat": seat,
        "players": timeline["players"],
        "rules": timeline["rules"],
        "summary": _summarise(len(judged), len(mistakes)),
        "judge": _JUDGE,
        "mistakes": [_describe(one, frames[one.ply], record) for one in mistakes[:_MOST]],
    }


def find_person(line: bytes) -> Seat:
    """Return the seat of the person in a record's line; raises InputError for a game of bots."""
    opponent, players = json.loads(line).get("opponent"), [*parse_players(line)]
    label = opponent.get("label") if isinstance(opponent, dict) else None
    if label not in players:
        raise InputError("the record does not say who the person is")
    return 1 - players.index(label)


def find_mistakes(judged: Sequence[Judged]) -> list[Judged]:
    """Return the decisions that significantly lost 1 % or more by both judges, the costliest first.

    The significance holds for all decisions together that the second judge has judged.

    >>> chances = [500_000, 300_000, *[ILLEGAL] * 10]
    >>> sure = Judged(4, 1, chances, 200_000, 9_000, first=200_000)
    >>> unsure = sure._replace(ply=6, loss=20_000, error=15_000)
    >>> [one.ply for one in find_mistakes([unsure, sure])]
    [4]
    """
    judged = [one for one in judged if one.first is not None]
    sure = find_significant([_interval(one) for one in judged])
    found = [
        one
        for one, is_sure in zip(judged, sure, strict=True)
        if is_sure and one.loss >= _LEAST and one.best != one.action
    ]
    return sorted(found, key=lambda one: -one.loss)


def _interval(one: Judged) -> Estimate:
    """Return a loss with its interval, which is not empty even if all sampled worlds agree."""
    error = one.error or _UNSEEN
    return Estimate(one.loss, one.loss - Z95 * error, one.loss + Z95 * error, error)


def _summarise(decisions: int, mistakes: int) -> str:
    """Summarise the judgement of all decisions in a sentence.

    >>> _summarise(19, 0)
    'By this judge none of your 19 decisions surely gave away 1 % or more of the chance to win.'
    """
    which = f"{mistakes or 'none'} of your {counted(decisions, 'decision')}"
    most = f" These are the {_MOST} that cost most." if mistakes > _MOST else ""
    return f"By this judge {which} surely gave away 1 % or more of the chance to win.{most}"


def _describe(one: Judged, frame: dict[str, Any], record: Record) -> dict[str, Any]:
    loss, low, high, _ = _interval(one).scaled(1 / PARTS, _DIGITS)
    values = [
        Thought(action, chance / PARTS)
        for action, chance in enumerate(one.chances)
        if chance != ILLEGAL
    ]
    return {
        "ply": one.ply,
        "frame": {**frame, "thoughts": write_chosen(values, CHARS[one.action])},
        "action": CHARS[one.action],
        "best": CHARS[one.best],
        "loss": [loss, max(0.0, low), min(1.0, high)],
        "blunder": one.blunder,
        "mistake": describe_decision(record.deal, record.actions, one),
    }
