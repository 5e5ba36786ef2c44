"""Read the game of a replay, a page that `arena view` wrote, as a record."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO, Final

import msgspec

from arena.errors import InputError
from arena.store.judge import read_lines
from engine import EngineError, Record, Rules, to_text
from engine.notation import parse_cards

MOST_PAGE: Final = 1 << 23
"""The largest page that is read, in bytes; a long game with thoughts has some 300,000."""

_DOCTYPE = b"<!doctype html"
_START, _END = b'<script type="application/json" id="timeline">', b"</script>"


class _Changes(msgspec.Struct):
    changes: dict[str, Any]


class _Action(msgspec.Struct):
    char: str


class _Frame(msgspec.Struct):
    row: str
    hands: tuple[str | None, str | None]
    action: _Action | None = None


class _Timeline(msgspec.Struct):
    """The parts that are read of a timeline (`arena.store.timeline.make_timeline`)."""

    players: list[str]
    seat: int | None
    rules: _Changes
    title: str
    removed: str | None
    frames: list[_Frame]


def read_page_or_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file of records; if it is a replay, its game as one line.

    Raises InputError for a page without a game, and for the replay of one seat.
    """
    lines = read_lines(file)
    first = next(lines, b"")
    if first[: len(_DOCTYPE)].lower() != _DOCTYPE:
        yield from chain([first], lines)
        return
    page = first + file.read(MOST_PAGE + 1 - len(first))
    if len(page) > MOST_PAGE:
        raise InputError(f"a page of more than {MOST_PAGE:,} bytes")
    yield _to_line(_parse(page))


_timeline = msgspec.json.Decoder(_Timeline)


def _parse(page: bytes) -> _Timeline:
    """Return the timeline of a page; raises InputError."""
    text = page.partition(_START)[2].partition(_END)[0]
    if not text:
        raise InputError("a page without a game: not a replay that `arena view` wrote")
    try:
        timeline = _timeline.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InputError(
            "its game cannot be read: not a replay as `arena view` writes it"
        ) from None
    if timeline.seat is not None:
        raise InputError("the replay of one seat, which does not have the other hand")
    return timeline


def _to_line(timeline: _Timeline) -> bytes:
    """Return a game as a line of a file of records, named by the end of the page's title."""
    actions = "".join(frame.action.char for frame in timeline.frames if frame.action)
    try:
        rules = Rules.from_changes(timeline.rules.changes)
        record = Record(_deal(timeline, rules), actions, rules)
    except EngineError as error:
        raise InputError(f"its game cannot be read: {error}") from None
    name = timeline.title.rpartition(": ")[2]
    return record.to_json(bots=timeline.players, game=name).encode()


def _deal(timeline: _Timeline, rules: Rules) -> str:
    """Return the deal; hands of rounds that have not begun are made of the remaining cards."""
    frames, known = timeline.frames, ""
    for ply in range(0, rules.game_plies, rules.round_plies):
        hands = frames[ply].hands if ply < len(frames) else ()
        known += "".join(hand or "" for hand in hands)
        known += frames[0].row if frames and ply == 0 else ""
    removed, left = timeline.removed or "", [*rules.deck]
    for card in parse_cards(known + removed):
        if card in left:
            left.remove(card)
    return known + to_text(bytes(left)) + removed
