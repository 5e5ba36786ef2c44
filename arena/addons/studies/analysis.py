"""Analyse the decisions of recorded games: what actions were worth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from arena.entries.file import replacing
from arena.errors import InputError
from arena.executors.contract import open_executor
from arena.runs.judge_games import (
    check_bounds,
    check_numbers,
    check_rules,
    find_judge,
    judge_again,
    judge_games,
)
from arena.store.csv_files import csv_writer
from arena.store.finished import Game, name_of_line, read_line
from arena.store.folder import ANALYSIS, JUDGED, make_place, part_of
from arena.store.judge import JudgedGames, read_lines
from arena.store.mistakes import describe_decision
from arena.store.reader import Choice, chosen_games
from arena.store.store import Store
from arena.tables.losses import (
    Analysis,
    Asked,
    PlayedGame,
    add_second,
    find_costly,
    make_decisions,
)
from arena.tables.win_tables import count_pairs, share_out
from arena.tournament import keys
from arena.tournament.judged import PARTS, Judged, Recorded
from arena.tournament.keys import Venue
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import STANDARD, EngineError, Record, Rules, to_text
from engine.notation import parse_cards

_CANDIDATES = 2  # candidates for each of the worst decisions
_PLACE = re.compile(r"/(\d{1,10})/[01]$")  # the pair in the name of a game


def analyse_run(
    tournament: Tournament,
    store: Store,
    folder: Path | None,
    venue: Venue,
    asked: Asked,
    *,
    games: int = keys.ANALYSED,
    choice: Choice | None = None,
    progress: bool = True,
) -> Analysis:
    """Return the analysis of a run, and write its decisions to the folder, if there is one.

    Without a `choice` the first pairs of each pairing are judged, `games` games at most. Judged
    games are kept in the folder at once. Raises InputError if nothing can be judged, and
    Interrupted at Ctrl-C.
    """
    _check_numbers(asked, games)
    check_rules(tournament.rules)
    found = [*_read(tournament, store, games, choice)]
    kept = folder and make_place(folder, JUDGED)
    analysis = _analyse(found, kept, venue, asked, progress=progress)
    if folder and choice is None:
        _write(make_place(folder, ANALYSIS), analysis.decisions)
    return analysis


def analyse_records(
    lines: Iterable[bytes], venue: Venue, asked: Asked, *, games: int, progress: bool = True
) -> Analysis:
    """Return the analysis of the first games of a file, as `analyse_run`; errors name the line."""
    _check_numbers(asked, games)
    found: list[_Game] = []
    for number, line in enumerate(lines, 1):
        if line.strip() and len(found) < games:
            try:
                game = _read_line(line, number)
                found += [game] if game else []
            except (EngineError, InputError) as error:
                raise InputError(f"line {number}: {error}") from None
    return _analyse(found, None, venue, asked, progress=progress)


class _Game(NamedTuple):
    """A game in two forms: for the judge, and for the tables."""

    recorded: Recorded
    played: PlayedGame


def _analyse(
    games: Sequence[_Game], path: Path | None, venue: Venue, asked: Asked, *, progress: bool
) -> Analysis:
    if not games:
        raise InputError("no game has been played to its end")
    recorded, played = [game.recorded for game in games], [game.played for game in games]

    def bot_of(place: int, one: Judged) -> str:
        return played[place].seats[STANDARD.seat_at(one.ply)]

    with closing(JudgedGames(path)) as kept, open_executor(venue) as executor:
        ask = partial(judge_games, kept=kept, executor=executor, progress=progress)
        judged = ask(find_judge(asked.by, asked.worlds, asked.seed), recorded)
        most = _CANDIDATES * asked.worst
        again = judge_again(recorded, judged, most, bot_of, ask, asked.seed)
    second = make_decisions(played, again, keys.LEAST_WORLDS)
    rows = [(game, one) for game, of_game in zip(recorded, again, strict=True) for one in of_game]
    second["mistake"] = [describe_decision(game.deal, game.actions, one) for game, one in rows]
    second["first_loss"] = [(one.first or 0) / PARTS for _, one in rows]
    decisions = add_second(make_decisions(played, judged, asked.worlds), second)
    return Analysis(asked, decisions, find_costly(second, asked.worst))


def _read(
    tournament: Tournament, store: Store, games: int, choice: Choice | None
) -> Iterator[_Game]:
    """Yield the chosen games of a run that were played to their end."""
    for fixture, game in _choose(tournament, store, games, choice):
        if game.fault is None:
            played = PlayedGame(fixture.name, fixture.pair, game.seats, game.winner)
            yield _Game(_check_record(game.record, fixture.name), played)


def _choose(
    tournament: Tournament, store: Store, games: int, choice: Choice | None
) -> Iterator[tuple[Fixture, Game]]:
    if choice and choice.pair is not None:
        yield from chosen_games(tournament, store, choice)
        return
    bots = {*choice.bots} if choice else set()
    pairs = count_pairs(store.count(), len(tournament.pairings))
    wanted = [bots <= {*pairing} for pairing in tournament.pairings]
    quota = share_out(pairs * np.array(wanted), games // 2).tolist()
    for pairing, most in zip(tournament.pairings, quota, strict=True):
        of_pairing = chosen_games(tournament, store, Choice((pairing.bot, pairing.opponent)))
        by_pair = groupby(of_pairing, key=lambda one: one[0].pair)
        for _, of_pair in islice(by_pair, most):
            yield from of_pair


def _read_line(line: bytes, number: int) -> _Game | None:
    """Return the game of a line, None for a game that was not played to its end."""
    game = read_line(line)
    if game is None or game.fault:
        return None
    check_rules(game.record.rules)
    name = name_of_line(line, number)
    place = _PLACE.search(name)
    played = PlayedGame(name, int(place[1]) if place else number, game.seats, game.winner)
    return _Game(Recorded(name, game.record.deal, game.record.actions), played)


def _check_record(record: Record, name: str) -> Recorded:
    """Return a game in the form for the judge; raises InputError for an invalid record."""
    try:
        if not record.replay().over:
            raise InputError(f"game {name}: its record cannot be played: it has no end")
    except EngineError as error:
        raise InputError(f"game {name}: its record cannot be played: {error}") from None
    return Recorded(name, record.deal, record.actions)


def _check_numbers(asked: Asked, games: int) -> None:
    """Raise InputError for numbers outside their bounds."""
    most = keys.MOST_ANALYSED
    check_bounds(games=(games, 2, most), worst=(asked.worst, 0, most))
    check_numbers(asked.worlds, asked.seed)


def _write(path: Path, table: pd.DataFrame) -> None:
    """Write a table to a file, atomically."""
    with (
        replacing(path, part_of(path)) as part,
        part.open("w", encoding="utf-8", newline="") as file,
    ):
        csv_writer(table)(file)


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
        record = Record(_find_deal(timeline, rules), actions, rules)
    except EngineError as error:
        raise InputError(f"its game cannot be read: {error}") from None
    name = timeline.title.rpartition(": ")[2]
    return record.to_json(bots=timeline.players, game=name).encode()


def _find_deal(timeline: _Timeline, rules: Rules) -> str:
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
