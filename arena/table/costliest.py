"""Find the costliest decisions of a person's game, and the better actions there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from arena.batch.last_plies import OPEN
from arena.errors import InputError, counted
from arena.games.judged import ILLEGAL, PARTS, Judged, is_blunder
from arena.records.judge import parse_players, parse_record
from arena.records.timeline import make_timeline, write_chosen
from arena.statistics.difference import RULE_OF_THREE
from arena.statistics.intervals import Z95, Estimate, find_significant
from arena.store.finished import name_of_line
from arena.table.second_look import WORLDS, judge_game
from arena.tournament.keys import JUDGE
from engine import Seat, Thought
from engine.cards import CHARS

_JUDGE: Final = (
    f"The judge: {JUDGE} plays on for both sides from each action, in {WORLDS} worlds that fit "
    f"what you knew. In the last {OPEN} plies both play the best, with all cards open. That is an "
    "estimate for a strong opponent, and not the truth. The interval is that of the worlds."
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
        "mistakes": [_describe(one, frames[one.ply]) for one in mistakes[:_MOST]],
    }


def find_person(line: bytes) -> Seat:
    """Return the seat of the person in a record's line; raises InputError for a game of bots."""
    opponent, players = json.loads(line).get("opponent"), [*parse_players(line)]
    label = opponent.get("label") if isinstance(opponent, dict) else None
    if label not in players:
        raise InputError("the record does not say who the person is")
    return 1 - players.index(label)


def find_mistakes(judged: Sequence[Judged]) -> list[Judged]:
    """Return the decisions that significantly lost 1 % or more, the costliest first.

    The significance holds for all decisions of the game together.

    >>> chances = [500_000, 300_000, *[ILLEGAL] * 10]
    >>> sure, unsure = Judged(4, 1, chances, 200_000, 9_000), Judged(6, 1, chances, 20_000, 15_000)
    >>> [one.ply for one in find_mistakes([unsure, sure])]
    [4]
    """
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


def _describe(one: Judged, frame: dict[str, Any]) -> dict[str, Any]:
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
        "blunder": bool(is_blunder(one.loss, one.error)),
    }
