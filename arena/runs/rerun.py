"""Repeat one game, or the whole run of a manifest, with bots that are unchanged."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.entries.entry import Entry
from arena.entries.file import read_file
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.contract import Executor
from arena.executors.log import run_log
from arena.games.thinking import find_thoughts
from arena.store.finished import Game
from arena.store.folder import MANIFEST
from arena.store.manifest import MOST_BYTES, make_tournament, other_versions
from arena.tournament.config import check_name
from arena.tournament.plan import Plan
from arena.tournament.schedule import Fixture
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from arena.tournament.versions import maker_of
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
    """Return the playable bot for an entry of a manifest, which has no source.

    Raises InputError if the bot no longer exists, or its source has changed.
    """
    resolved = resolve(entry.target, entry.label, entry.params, entry.lane, entry.needs)
    if resolved.sha256 != entry.sha256:
        raise InputError("its source has changed")
    return resolved


def add_thoughts(tournament: Tournament, fixture: Fixture, game: Game) -> tuple[Game, str]:
    """Return a game with the thoughts of its bots, and a note on which are missing.

    The bots repeat their choices with the game's random seeds; the game itself is not changed. The
    note is empty if all choices were the same. Raises InputError for a bot that fails.
    """
    bots = dict(enumerate(_players(tournament, fixture)))
    thoughts, strayed = find_thoughts(game.record, bots, tournament.limits)
    note = ""
    if strayed:
        plies = "ply" if len(strayed) == 1 else "plies"
        where = ", ".join(map(str, strayed))
        note = f"no thoughts at {plies} {where}: asked again, the bot chose another action"
    return replace(game, thoughts=thoughts), note


def _players(tournament: Tournament, fixture: Fixture) -> list[tuple[Entry, int]]:
    """Return the bot of each seat, and the seed of its generator in this game."""
    lucks = tournament.draw(fixture).lucks
    bots = [tournament.by_label[label] for label in fixture.labels]
    return [*zip(bots, lucks, strict=True)]


def find_players(tournament: Tournament, fixture: Fixture) -> list[tuple[Entry, int]]:
    """Return the playable bots of a game of a stored run, with their seeds.

    Raises InputError for a bot that no longer exists, or has changed.
    """
    return _players(_with_bots(tournament, fixture), fixture)


def add_thoughts_of_run(tournament: Tournament, fixture: Fixture, game: Game) -> tuple[Game, str]:
    """Do the same as `add_thoughts` for a game of a stored run, whose bots are resolved first.

    Also raises InputError for a bot that no longer exists, or has changed.
    """
    return add_thoughts(_with_bots(tournament, fixture), fixture, game)


def _with_bots(tournament: Tournament, fixture: Fixture) -> Tournament:
    """Return the tournament of a manifest with playable bots for one game."""
    entries = []
    for entry in tournament.entries:
        if entry.label in fixture.labels:
            try:
                entry = resolve_same(entry)
            except InputError as error:
                raise InputError(f"{entry.label}: it cannot be asked: {error}") from None
        entries.append(entry)
    return replace(tournament, entries=entries)


def find_manifest(config: object) -> Mapping[str, Any] | None:
    """Return the manifest in a file or a mapping, None if it is anything else.

    Raises InputError for the folder of a run; the message names its manifest.
    """
    if isinstance(config, Path):
        if os.path.isfile(path := config / MANIFEST):
            command = f"arena run {path} --out FOLDER"
            raise InputError(f"{config}: a folder; to play its run again: {command}")
        try:
            config = json.loads(read_file(config, MOST_BYTES))
        except (InputError, ValueError, RecursionError):
            return None
    return config if isinstance(config, Mapping) and "versions" in config else None


def play_as(manifest: Mapping[str, Any]) -> Tournament:
    """Return the tournament that plays the games of a manifest again.

    Raises InputError if something has changed, and names it: the arena, the engine, Python's minor
    version, or bots that are different or missing.
    """
    if differs := other_versions(manifest):
        why = "; ".join(differs)
        raise InputError(f"a manifest {maker_of(manifest)}, whose games may differ: {why}")
    tournament = make_tournament(manifest)
    check_name(tournament.name)
    entries, changed = [], []
    for entry in tournament.entries:
        try:
            entries.append(resolve_same(entry))
        except InputError as error:
            changed.append(f"{entry.label}: {error}")
    if changed:
        raise InputError(f"bots are not those of the manifest: {'; '.join(changed)}")
    return replace(tournament, entries=entries)
