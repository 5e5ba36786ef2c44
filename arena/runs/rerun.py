"""Rerun: one game of a run played again, and what its bots thought in it."""

from __future__ import annotations

import sys
from dataclasses import replace

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.contract import Executor
from arena.executors.log import run_log
from arena.games.thinking import find_thoughts
from arena.store.finished import Game
from arena.tournament.plan import Plan
from arena.tournament.schedule import Fixture
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine.state import Seat


def play_again(tournament: Tournament, pair: int, seat: Seat, executor: Executor) -> Game:
    """Play the game in which the tournament's first bot has this seat, as a run plays it."""
    fixture = Fixture(tournament.pairings[0], pair, seat)
    strikes = Strikes(tournament.pairings, tournament.most_pairs, most=sys.maxsize)
    missing = [[range(pair, pair + 1)], *([] for _ in tournament.pairings[1:])]
    with run_log(None) as log:
        (played,) = executor.play(Plan(missing, strikes), tournament, log)
    return Game.of(tournament, fixture, played.results[seat])


def resolve_same(entry: Entry) -> Entry:
    """Return a bot of a manifest, which has no source, as it can be played.

    Raises InputError where there is no such bot any more, or its source has changed.
    """
    resolved = resolve(entry.target, entry.label, entry.params, entry.lane, entry.needs)
    if resolved.sha256 != entry.sha256:
        raise InputError("its source has changed")
    return resolved


def add_thoughts(tournament: Tournament, fixture: Fixture, game: Game) -> tuple[Game, str]:
    """Return a game of this place with what its bots thought, and a note of what is missing.

    The bots make the game's choices again, with its luck; the game stays what it is. The note
    is empty where they chose as in the game. Raises InputError for a bot that fails.
    """
    bots = {
        seat: (tournament.by_label[label], luck)
        for seat, label, luck in zip(
            (0, 1), fixture.labels, tournament.draw(fixture).lucks, strict=True
        )
    }
    thoughts, strayed = find_thoughts(game.record, bots, tournament.limits)
    note = ""
    if strayed:
        plies = "ply" if len(strayed) == 1 else "plies"
        where = ", ".join(map(str, strayed))
        note = f"no thoughts at {plies} {where}: asked again, the bot chose another action"
    return replace(game, thoughts=thoughts), note


def add_thoughts_of_run(tournament: Tournament, fixture: Fixture, game: Game) -> tuple[Game, str]:
    """Do as `add_thoughts` for a game of a run that was read: its bots are looked for first.

    Raises InputError also for a bot that is not there any more, or has changed.
    """
    entries = []
    for entry in tournament.entries:
        if entry.label in fixture.labels:
            try:
                entry = resolve_same(entry)
            except InputError as error:
                raise InputError(f"{entry.label}: no thoughts: {error}") from None
        entries.append(entry)
    return add_thoughts(replace(tournament, entries=entries), fixture, game)
