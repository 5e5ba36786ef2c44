"""Read game records, and judge each: replay it, and name its result or its first illegal action."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final

from arena.errors import counted, escape
from engine import Record, State, breakdown, outcome
from engine.cards import pack_text
from engine.errors import (
    AfterEnd,
    DealError,
    EngineError,
    IllegalAction,
    NotationError,
    RecordError,
    RulesError,
)

PLAYERS = ("seat 0", "seat 1")
"""The default names of the players."""


MOST_LINE: Final = 1 << 20
"""Bytes of a line: a record has a few hundred, or some thousand with a bot's evidence."""

_MOST_NAME = 60  # characters, as of a label
_CODES: dict[type[EngineError], str] = {
    AfterEnd: "after-end",
    IllegalAction: "illegal-action",
    DealError: "bad-deal",
    RulesError: "bad-deal",
    NotationError: "bad-notation",
    RecordError: "bad-json",
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
            yield {"line": number, **_judge_state(parse_record(line).replay())}
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


def to_json(judgement: dict[str, Any]) -> str:
    """Return a judgement as one JSON line."""
    return json.dumps(judgement)


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
