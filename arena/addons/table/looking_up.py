"""Find runs, leagues and records by name, and answer the web page's queries about them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from arena.addons.table.own_games import find_line
from arena.differences.run_files import tables_of
from arena.entries.resolve import resolve
from arena.errors import ArenaError
from arena.lanes.faults import Forfeit
from arena.runs.interim import Interim
from arena.runs.saving import measure_extent
from arena.statistics.counts import BY_RULE
from arena.store.csv_files import FAULT_COLUMNS, fault_rows
from arena.store.database import NAME
from arena.store.finished import Game, game_timeline, line_timeline
from arena.store.reader import find_game, is_under_way, read_run
from arena.store.store import Store
from arena.store.timeline import write_chosen
from arena.tournament.replay_command import replay_commands
from arena.tournament.schedule import Pairing
from arena.tournament.thinking import asked
from arena.tournament.tournament import Tournament
from engine import View

VALUER: Final = "champion"
_PAGE = 50  # games of a list
_MOST_FAULTS = 200
_EVERY = 1.0  # seconds between two readings of a run, and
_SHARE = 5  # times as long as the last reading: copying a large store takes a while
ADVISER: Final = "champion"
_LUCK = 1  # the seed of the adviser's generator: equal views give equal hints
_one_at_a_time = threading.Lock()


@contextmanager
def opened(path: Path) -> Iterator[tuple[Tournament, Store]]:
    """Yield the present games of a run, which may continue; its folder is only read."""
    tournament, store = read_run(path)
    try:
        yield tournament, store
    finally:
        store.close()


def describe_run(path: Path) -> dict[str, Any]:
    """Return the standings of a run, its pairings and its faults."""
    with opened(path) as (tournament, store):
        counts = store.count()
        tables = tables_of(tournament, counts, store)
        extent = measure_extent(tournament, store)
        return {
            "title": tournament.name,
            "played": counts.total,
            "total": extent.total,
            "finished": extent.finished,
            "labels": [*tournament.labels],
            "pairings": [[*pairing] for pairing in tournament.pairings],
            "standings": tables.rows,
            "faults": find_faults(tournament, store),
            "warnings": tables.findings.warnings() if counts.total else [],
        }


def describe_progress(path: Path) -> dict[str, Any]:
    """Return the progress of a run: a faster part of `describe_run`."""
    with opened(path) as (tournament, store):
        counts = store.count()
        interim = Interim(tournament)
        interim.add(counts)
        return {
            "title": tournament.name,
            "played": counts.total,
            "total": measure_extent(tournament, store).total,
            "standings": interim.rows(),
            "faults": find_faults(tournament, store),
        }


def find_faults(tournament: Tournament, store: Store) -> list[dict[str, Any]]:
    """Return the first faults of a run as data, without forfeits by rule."""
    forfeits = (
        (fixture, result)
        for fixture, result in store.all_forfeits(tournament.pairings)
        if result.fault and result.fault.kind != BY_RULE
    )
    rows = fault_rows(islice(forfeits, _MOST_FAULTS), replay_commands(tournament))
    return [
        {
            **dict(zip(FAULT_COLUMNS, row, strict=True)),
            "place": _place(*row[0].rsplit("/", 2)[1:]),
        }
        for row in rows
    ]


def _place(pair: str, seat: str) -> dict[str, int]:
    return {"pair": int(pair), "seat": int(seat)}


def list_games(path: Path, pairing: int, first: int) -> dict[str, Any]:
    """Return a page of a pairing's games as data, beginning with number `first`.

    Raises LookupError for a pairing that the run does not have.
    """
    with opened(path) as (tournament, store):
        bots = _pairing(tournament, pairing)
        games = [
            {
                "pair": game.pair,
                "seat": game.seat,
                "winner": None if game.winner is None else bots[game.winner],
                "win_type": game.win_type,
                "players": [*bots[:: -1 if game.seat else 1]],
                "points": [game.points, game.opponent_points][:: -1 if game.seat else 1],
                "plies": game.plies,
            }
            for game in islice(store.games_of(pairing), first, first + _PAGE + 1)
        ]
    return {"bots": [*bots], "first": first, "games": games[:_PAGE], "more": len(games) > _PAGE}


def _pairing(tournament: Tournament, number: int) -> Pairing:
    if not 0 <= number < len(tournament.pairings):
        raise LookupError(number)
    return tournament.pairings[number]


def show_game(path: Path, pairing: int, pair: int, seat: int) -> dict[str, Any]:
    """Return the timeline of a game of a run.

    Raises LookupError for a pairing that the run does not have, InputError for a game that
    has not been played.
    """
    with opened(path) as (tournament, store):
        bot, opponent = _pairing(tournament, pairing)
        return to_timeline(
            find_game(tournament, store, (bot, opponent), pair, seat), f"pair {pair}"
        )


def to_timeline(game: Game, title: str = "") -> dict[str, Any]:
    """Return the timeline of a game for the viewer, with the strongest bot's chances to win."""
    return game_timeline(game, title=title, by=resolve(VALUER))


def find_record(file: Path, number: int) -> dict[str, Any]:
    """Return the timeline of the game in a line of a file of records.

    Raises LookupError if the line does not exist, EngineError for a line without a game.
    """
    line = find_line(file, number)
    return line_timeline(line, title=f"line {number}", by=resolve(VALUER))


async def follow_run(path: Path) -> AsyncIterator[dict[str, Any]]:
    """Yield the progress of a run now and after each change, until it is no longer written.

    `rate` is the number of games per second since the last reading, None in the first document;
    `faults` are the faults that were not in an earlier document.
    """
    told: set[str] = set()
    before: tuple[float, int] | None = None
    stamp: object = None
    while True:
        started = time.monotonic()
        goes_on, latest = is_under_way(path), _stamp(path)
        if latest != stamp or not goes_on:
            stamp = latest
            try:
                progress = await run_in_threadpool(describe_progress, path)
            except ArenaError as error:  # nothing has been written yet
                yield {"error": str(error), "over": not goes_on}
            else:
                games = progress["played"]
                rate = None
                if before is not None:
                    rate = (games - before[1]) / (started - before[0])
                before = started, games
                faults = [fault for fault in progress["faults"] if fault["game"] not in told]
                told.update(fault["game"] for fault in faults)
                yield {**progress, "faults": faults, "rate": rate, "over": not goes_on}
            if not goes_on:
                return
        await asyncio.sleep(max(_EVERY, _SHARE * (time.monotonic() - started)))


def _stamp(path: Path) -> list[tuple[int, int]]:
    """Return the times and sizes of the store's files, which change whenever games are added."""
    stamps = []
    for name in (NAME, f"{NAME}-wal"):
        try:
            facts = (path / name).stat()
        except OSError:
            continue
        stamps.append((facts.st_mtime_ns, facts.st_size))
    return stamps


def find_hint(seen: View) -> dict[str, Any]:
    """Return the adviser's action, and its chance to win after each action that it tried.

    The adviser runs in a process of its own, within the limits of a game, and gets only the view.
    Raises ArenaError if it gives no answer.
    """
    entry = replace(resolve(ADVISER), lane="process")
    try:
        with _one_at_a_time, asked(entry, seen.seat, _LUCK, seen.rules) as bot:
            action = bot.choose(seen)
            thoughts = bot.thoughts(seen) or ()
    except Forfeit as forfeit:
        raise ArenaError(f"{ADVISER} gives no hint: {forfeit.fault.message}") from None
    return {"by": ADVISER, "action": action, "thoughts": write_chosen(thoughts, action)}
