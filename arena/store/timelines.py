"""Sources: the timeline of a game of a run, and of a record in a file."""

from __future__ import annotations

import json
from typing import Any

from arena.entries.entry import Entry
from arena.errors import counted, escape, shorten
from arena.lanes.faults import BY_RULE, Fault
from arena.records.decisive import find_beliefs, mean_chances
from arena.records.judge import parse_players, parse_record
from arena.records.show import PLAYERS
from arena.records.thoughts import parse_thoughts
from arena.records.timeline import make_timeline
from arena.store.finished import Game
from engine import Record, Seat, outcome, points


def game_timeline(
    game: Game, *, title: str = "", seat: Seat | None = None, by: Entry | None = None
) -> dict[str, Any]:
    """Return the timeline of a game, or what one seat knew of it.

    `by` is the bot that says what the chances to win were; positions that it does not value
    have none. Raises InputError for a bot that cannot say it, and EngineError for a record
    that cannot be played.
    """
    beliefs = _ask(game.record, seat, by)
    return make_timeline(
        game.record,
        players=game.seats,
        seat=seat,
        chances=mean_chances(beliefs) if beliefs else None,
        beliefs=beliefs,
        thoughts=game.thoughts,
        winner=game.seats.index(game.winner) if game.fault and game.winner else None,
        ending=game.ending if seat is None else _known_ending(game),
        evidence="\n".join([*game.evidence()][1:]),
        title=title,
    )


def line_timeline(
    line: bytes, *, title: str = "", seat: Seat | None = None, by: Entry | None = None
) -> dict[str, Any]:
    """Return the timeline of a line of a file of records, as `game_timeline` does.

    The names, the fault and the thoughts that stand beside the record are shown where they
    can be. Raises RecordError, too, for a line that has no record.
    """
    record = parse_record(line)
    names = parse_players(line)
    players = (names[0], names[1]) if names[0] != names[1] else PLAYERS
    game = _read_game(line, record, players)
    if game is not None:
        return game_timeline(game, title=title, seat=seat, by=by)
    beliefs = _ask(record, seat, by)
    plies = len(record.actions)
    return make_timeline(
        record,
        players=players,
        seat=seat,
        chances=mean_chances(beliefs) if beliefs else None,
        beliefs=beliefs,
        thoughts=parse_thoughts(line, record),
        ending=f"unfinished after {counted(plies, 'ply', 'plies')}",
        title=title,
    )


def _ask(record: Record, seat: Seat | None, by: Entry | None) -> list[list[float | None]] | None:
    """Return the chances by what each seat that is shown knew."""
    return find_beliefs(record, by, (0, 1) if seat is None else (seat,)) if by else None


def _read_game(line: bytes, record: Record, players: tuple[str, str]) -> Game | None:
    """Return the game of a line if it is finished: played to its end, or forfeited."""
    state = record.replay()
    thoughts = parse_thoughts(line, record)
    if state.over:
        winner, win_type, score = outcome(state.piles, state.rules)
        label = None if winner is None else players[winner]
        return Game(record, players, label, win_type, score, None, thoughts)
    fault = json.loads(line).get("fault")
    if not isinstance(fault, dict) or fault.get("bot") not in players:
        return None
    winner = 1 - players.index(fault["bot"])
    said = Fault(_text(fault.get("kind")), _text(fault.get("message")))
    score = points(state.piles, state.rules)
    return Game(record, players, players[winner], "forfeit", score, said, thoughts)


def _text(value: object) -> str:
    """Return a text of a record as one line."""
    return shorten(escape(value)) if isinstance(value, str) else ""


def _known_ending(game: Game) -> str:
    """Return how a game ended without what a fault says, which may be what was hidden."""
    if game.fault is None:
        return game.ending
    if game.fault.kind == BY_RULE:
        return f"{game.guilty} forfeits"
    return f"{game.guilty} forfeits at ply {game.plies}"
