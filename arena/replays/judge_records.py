"""Read game records, and judge each: name its result, its first illegal action, or a false result.

A record is a line of a file. What it states must be what its actions give.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, TypeAlias, Unpack

from arena.errors import counted, escape, shorten
from arena.lanes.faults import Fault
from arena.replays.finished_game import PLAYERS, Game, Shown, find_shown, game_timeline
from arena.replays.timeline import make_timeline, parse_thoughts
from engine import Record, State, breakdown, outcome, points
from engine.cards import pack_text
from engine.errors import (
    AfterEnd,
    DealError,
    EngineError,
    IllegalAction,
    NotationError,
    RecordError,
    RulesError,
    show,
)

MOST_LINE: Final = 1 << 20
"""Bytes of a line: a record has a few hundred, or some thousand with a bot's evidence."""

_MOST_NAME = 60  # characters, as of a label
_Ending: TypeAlias = "tuple[str | None, str, tuple[int, int], Fault | None]"


class Misstated(RecordError):
    """A record that states another result than its actions have."""


_CODES: dict[type[EngineError], str] = {
    AfterEnd: "after-end",
    IllegalAction: "illegal-action",
    DealError: "bad-deal",
    RulesError: "bad-deal",
    NotationError: "bad-notation",
    RecordError: "bad-json",
    Misstated: "wrong-result",
}


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, each cut to MOST_LINE + 1 bytes.

    The rest of a long line is skipped before the next one is yielded.
    """
    while line := file.readline(MOST_LINE + 1):
        yield line
        rest = line
        while rest and len(line) > MOST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(MOST_LINE)


def judge(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the result of each record of the lines, or its error.

    Lines are counted from 1, plies from 0; blank lines are skipped.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield {"line": number, **_judge_state(_read(line)[1])}
        except EngineError as error:
            yield {
                "line": number,
                "error": _CODES[type(error)],
                "ply": getattr(error, "ply", None),
                "message": str(error),
            }


def parse_record(line: bytes) -> Record:
    """Return the record of a line.

    Raises RecordError for a text that is not a record, RulesError for unplayable rules.
    """
    if len(line) > MOST_LINE:
        raise RecordError(f"a line of more than {MOST_LINE:,} bytes")
    return Record.from_json(line)


def parse_players(line: bytes) -> Sequence[str]:
    """Return the names of seat 0 and seat 1 in the line of a record.

    Names that cannot be displayed are left out.
    """
    bots = json.loads(line).get("bots")
    if not isinstance(bots, list) or len(bots) != 2:
        return PLAYERS
    if not all(isinstance(bot, str) and 0 < len(bot) <= _MOST_NAME for bot in bots):
        return PLAYERS
    return [escape(bot) for bot in bots]


def _tell_apart(names: Sequence[str]) -> tuple[str, str]:
    """Return two different names for seat 0 and seat 1."""
    return (names[0], names[1]) if names[0] != names[1] else PLAYERS


def read_line(line: bytes) -> Game | None:
    """Return the finished game in a line of a file of records, None if it is not finished.

    Raises EngineError for a line without a record, with a record that cannot be replayed, or with
    another result than the record gives.
    """
    return _read(line)[0]


def _read(line: bytes) -> tuple[Game | None, State]:
    """Return the finished game in a line or None, and the last position of its record."""
    record, stated = parse_record(line), json.loads(line)
    state, players = record.replay(), _tell_apart(parse_players(line))
    thoughts = parse_thoughts(line, record) if "thoughts" in stated else {}
    ending = _find_ending(stated, state, players)
    game = Game(record, players, *ending, thoughts) if ending else None
    if problem := _find_misstated(stated, game, state, players):
        raise Misstated(problem)
    return game, state


def _find_misstated(
    stated: dict[str, Any], game: Game | None, state: State, players: Sequence[str]
) -> str:
    """Return what a line states otherwise than the replay of its record, empty if nothing.

    A winner may be a label or a seat. Except before the first action and after the last one, only
    the bot whose turn it was can have forfeited.
    """
    given: dict[str, Any] = {"winner": None, "win_type": None}
    if game:
        given = {"winner": game.winner, "win_type": game.win_type, "points": [*game.points]}
        turn = players[state.to_act]
        if game.fault and state.history and not state.over and game.guilty != turn:
            return f"fault.bot is {show(game.guilty)}, and it was the turn of {show(turn)}"
    for name, value in given.items():
        told = stated.get(name, value)
        if name == "winner" and type(told) is int and told in (0, 1):
            told = players[told]
        elif name == "winner" and isinstance(told, str) and players == PLAYERS:
            continue  # the line does not name its bots
        if (escape(told) if isinstance(told, str) else told) != value:
            return f"{name} is {show(told)}, and the record gives {show(value)}"
    return ""


def _find_ending(stated: dict[str, Any], state: State, players: tuple[str, str]) -> _Ending | None:
    """Return how a game ended if it is finished: played to its end, or forfeited."""
    fault = stated.get("fault")
    if isinstance(fault, dict) and fault.get("bot") in players:
        winner = players[1 - players.index(fault["bot"])]
        said = Fault(_text(fault.get("kind")), _text(fault.get("message")))
        return winner, "forfeit", points(state.piles, state.rules), said
    if not state.over:
        return None
    seat, win_type, score = outcome(state.piles, state.rules)
    return None if seat is None else players[seat], win_type, score, None


def _text(value: object) -> str:
    """Return a value of a record as one line of text."""
    return shorten(escape(value)) if isinstance(value, str) else ""


def line_timeline(line: bytes, **shown: Unpack[Shown]) -> dict[str, Any]:
    """Return the timeline of a line of a file of records, as `game_timeline` does.

    Names, fault and thoughts in the line are shown if they are valid. Also raises what `read_line`
    raises.
    """
    game = read_line(line)
    if game is not None:
        return game_timeline(game, **shown)
    record, players = parse_record(line), _tell_apart(parse_players(line))
    plies = len(record.actions)
    return make_timeline(
        record,
        players=players,
        **find_shown(record, shown),
        thoughts=parse_thoughts(line, record),
        ending=f"unfinished after {counted(plies, 'ply', 'plies')}",
    )


def _judge_state(state: State) -> dict[str, Any]:
    winner, win_type, score = outcome(state.piles, state.rules)
    return {
        "over": state.over,
        "winner": winner if state.over else None,
        "win_type": win_type if state.over else None,
        "points": list(score),
        "breakdown": [part._asdict() for part in breakdown(state.piles, state.rules)],
        "piles": [pack_text(pile) for pile in state.piles],
        "plies": len(state.history),
    }


def to_text(judgement: dict[str, Any]) -> str:
    """Return a judgement as a readable line.

    >>> to_text({"line": 3, "error": "bad-json", "ply": None, "message": "not JSON"})
    'line 3: bad-json: not JSON'
    """
    line = f"line {judgement['line']}: "
    if "error" in judgement:
        place = "" if judgement["ply"] is None else f" at ply {judgement['ply']}"
        return f"{line}{judgement['error']}{place}: {judgement['message']}"
    score = "{} : {}".format(*judgement["points"])
    after = f"after {counted(judgement['plies'], 'ply', 'plies')}"
    if not judgement["over"]:
        return f"{line}unfinished {after}, {score}"
    if judgement["winner"] is None:
        return f"{line}draw {after}, {score}"
    return f"{line}seat {judgement['winner']} wins by {judgement['win_type']} {after}, {score}"
