"""Read game records, replay and show each; keep judged games, and say what a mistake was."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from arena.errors import InputError, counted, escape
from arena.lanes.faults import KINDS as FAULT_KINDS
from arena.lanes.faults import Fault
from arena.store.board import WIDTH, Board, Layout, Line, format_items, group, shorten
from arena.store.folder import JUDGED_FILES, check_names
from arena.store.sqlite_file import SqliteFile
from arena.tournament.judged import Judged, Recorded, is_sure
from arena.tournament.keys import Naming
from arena.tournament.match import Finished
from engine import (
    CITY,
    STANDARD,
    Record,
    Seat,
    State,
    breakdown,
    cards_of,
    count,
    outcome,
    points,
)
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
from engine.notation import parse_actions, parse_deal
from engine.view import view

PLAYERS = ("seat 0", "seat 1")
"""The default names of the players."""


def _format_items(head: str, items: Iterable[str]) -> list[str]:
    text = f"  {head:<7} {', '.join(items) or '-'}"
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * 10)


def format_game(record: Record, naming: Naming, players: Sequence[str] = PLAYERS) -> Iterator[str]:
    """Yield the lines of a game; `players` are the names of seat 0 and of seat 1.

    Raises EngineError for a bad record, after the lines of the plies before the mistake.
    """
    state = State(parse_deal(record.deal, record.rules), record.rules)
    actions = parse_actions(record.actions)
    layout = Layout((view(state, 0), view(state, 1)), naming)
    if players != PLAYERS:
        for seat, player in enumerate(players):
            yield from textwrap.wrap(f"seat {seat}: {player}", WIDTH, subsequent_indent="  ")
    yield "the deal"
    yield from _position(layout, state)
    number = 0
    for ply, action in enumerate(actions):
        if not state.over and state.round != number:
            number = state.round
            yield f"round {number}, {players[state.to_act]} begins"
        state.apply(state.checked(action))
        layout.follow((view(state, 0), view(state, 1)))
        move = layout.moves[-1]
        text = f"ply {ply}: {move.describe(players[move.seat])}"
        yield from textwrap.wrap(text, WIDTH, subsequent_indent="  ")
        yield from _position(layout, state)
    yield from _ending(state, players)


def _position(layout: Layout, state: State) -> Iterator[str]:
    """Yield the row, hands, piles and score of a position."""
    yield from _format_items("row", [card.name for card in layout.row])
    for seat in (0, 1):
        yield from _format_items(f"hand {seat}", group(layout.hands[seat]))
    for seat in (0, 1):
        yield from _format_items(f"pile {seat}", group(layout.piles[seat]))
    yield from _format_items("score", ["{} : {}".format(*points(state.piles, state.rules))])


def _ending(state: State, players: Sequence[str]) -> Iterator[str]:
    winner, win_type, score = outcome(state.piles, state.rules)
    if not state.over:
        plies = len(state.history)
        yield f"unfinished after {counted(plies, 'ply', 'plies')}"
    elif winner is None:
        yield f"a draw, {score[0]} : {score[1]}"
    else:
        yield f"{players[winner]} wins by {win_type}, {score[0]} : {score[1]}"
    for seat, part in enumerate(breakdown(state.piles, state.rules)):
        majorities = " + ".join(str(value) for value in part.majorities if value) or "0"
        yield (
            f"  seat {seat}  majorities {majorities}, sets {part.sets}, "
            f"alliances {part.alliances}, betrayals {part.betrayals}"
        )


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


FORMAT: Final = 1
"""Of analysis.sqlite."""

_APPLICATION: Final = 0x444E414A  # "DNAJ", in the header of the file
_TABLE = """
CREATE TABLE judged (key BLOB PRIMARY KEY, decisions BLOB NOT NULL) WITHOUT ROWID
"""
_decisions = msgspec.msgpack.Decoder(list[Judged])


class JudgedGames(SqliteFile):
    """The decisions of judged games by a key of the game, the judge and how it judged.

    Without a path nothing is kept. What was added survives whatever ends the process. Every error
    is an InputError that names the file.
    """

    faults = (*SqliteFile.faults, msgspec.MsgspecError)
    error = InputError
    advice = "; without the file all is judged anew"
    logs = False

    def __init__(self, path: Path | None) -> None:
        self.path = path
        if path is not None:
            check_names(path.parent, JUDGED_FILES)
        foreign = f"a database, but not one of an analysis{self.advice}"
        self.open(_APPLICATION, FORMAT, _TABLE, foreign, self.advice)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, list[Judged]]:
        """Return the decisions of the games that are kept, of these."""
        query = "SELECT decisions FROM judged WHERE key = ?"
        found = {}
        with self.errors():
            for key in keys:
                if (row := self.one(query, key)) is not None:
                    found[key] = _decisions.decode(row)
        return found

    def add(self, games: Mapping[bytes, Sequence[Judged]]) -> None:
        """Keep games: all of these or, where the process ends meanwhile, none."""
        rows = [(key, msgspec.msgpack.encode(decisions)) for key, decisions in games.items()]
        with self.changing():
            self.connection.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?)", rows)


def format_ending(
    finished: Finished, seat: Seat, naming: str, opponent: str, since: int
) -> list[Line]:
    """Return the actions from a ply on, the winner, the win type, and the hidden cards."""
    state = finished.state
    board = Board(view(state, seat), naming, shorten(opponent))
    lines = board.events(since) + format_result(finished, seat, shorten(opponent))
    lines += [Line(""), *board.score(), Line("")]
    if board.hand:
        lines += format_items("you held", group(board.hand))
    if state.hands[1 - seat]:
        lines += format_items("bot held", group(board.layout.see(cards_of(state.hands[1 - seat]))))
    return lines + format_items("removed", group(board.layout.see(sorted(state.removed))))


def format_result(finished: Finished, seat: Seat, opponent: str) -> list[Line]:
    """Return the winner and the win type, or the bot's fault with its evidence."""
    if finished.fault is not None:
        return _explain_forfeit(finished.fault, len(finished.state.history), opponent)
    return [Line(_result(finished.state, seat, opponent), "head")]


def _result(state: State, seat: Seat, opponent: str) -> str:
    winner, win_type, score = outcome(state.piles, state.rules)
    if winner is None:
        return f"A draw at {score[0]} points each."
    subject = "You win" if winner == seat else f"{opponent} wins"
    if win_type == "city":
        return f"{subject} at once, with {count(state.piles[winner], CITY)} cities."
    if win_type == "tiebreak":
        return f"{subject} the tie-break at {score[0]} points each."
    return f"{subject} on points, {score[winner]} to {score[1 - winner]}."


def _explain_forfeit(fault: Fault, ply: int, opponent: str) -> list[Line]:
    """Return the bot's fault with its evidence."""
    what = FAULT_KINDS[fault.kind].text if fault.kind in FAULT_KINDS else fault.kind
    text = f"{opponent} forfeits ({what}, ply {ply}): {fault.message}"
    lines = [Line("You win.", "head"), *(Line(part) for part in textwrap.wrap(text, WIDTH))]
    for name, evidence in (("traceback", fault.traceback), ("printed", fault.output)):
        if evidence.strip():
            lines.append(Line(f"{name}:"))
            lines += [Line(f"  {line}"[:WIDTH]) for line in evidence.strip().splitlines()]
    return lines


DISPUTED: Final = "the judges disagree"
"""Stands for a mistake where the second judge is not sure that another action was better."""


def describe_decision(deal: str, actions: str, one: Judged) -> str:
    """Return what was wrong with a decision that the second judge has judged, or DISPUTED."""
    if one.best == one.action or not is_sure(one.loss, one.error):
        return DISPUTED
    return name_choice(deal, actions, one)


def name_choice(deal: str, actions: str, one: Judged) -> str:
    """Return what is wrong with a decision if the judge is right that another action is better."""
    from arena.batch.judging import name_mistake  # here, because it needs numpy

    state = State(parse_deal(deal, STANDARD), STANDARD)
    state.follow(parse_actions(actions[: one.ply]))
    return name_mistake(view(state, state.to_act), one.action, one.best)


def tell_next(game: Recorded, ply: int, players: Sequence[str], most: int = 4) -> str:
    """Return the moves of a game from a ply on in words, at most so many."""
    state = State(parse_deal(game.deal, STANDARD), STANDARD)
    layout = Layout((view(state, 0), view(state, 1)))
    for action in parse_actions(game.actions[: ply + most]):
        state.apply(action)
        layout.follow((view(state, 0), view(state, 1)))
    return "; ".join(move.describe(players[move.seat]) for move in layout.moves[ply:])
