"""Check that bots can play, and play again: a game, games of a run, or the run of a manifest."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from arena.entries.entry import Entry, check_labels
from arena.entries.resolve import resolve
from arena.entries.spec import is_address, parse
from arena.errors import ChangedBots, InputError, escape
from arena.executors.local import open_executor
from arena.executors.log import run_log
from arena.files import read_file
from arena.lanes.limits import Limits
from arena.lanes.load_check import find_problems, probe
from arena.replays.finished_game import Game
from arena.store.folder import LEAGUE, MANIFEST
from arena.store.manifest import MOST_BYTES, make_tournament, other_versions
from arena.store.reader import find_changed
from arena.store.store import Store
from arena.tournament.asking import find_thoughts
from arena.tournament.config import check_name
from arena.tournament.config_keys import MOST_BOTS, Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.schedule import Fixture, Strikes
from arena.tournament.tournament import Tournament
from arena.tournament.versions import maker_of
from engine import STANDARD, Rules, State
from engine.notation import parse_actions
from engine.seeds import stream
from engine.state import Seat


def play_again(tournament: Tournament, pair: int, seat: Seat, venue: Venue) -> Game:
    """Play the game in which the tournament's first bot has this seat, as a run plays it."""
    fixture = Fixture(tournament.pairings[0], pair, seat)
    plan = plan_again(tournament, [[range(pair, pair + 1)], *([] for _ in tournament.pairings[1:])])
    with run_log(None) as log, open_executor(venue) as executor:
        (played,) = executor.play(plan, tournament, log)
    return Game.of(tournament, fixture, played.results[seat])


def plan_again(
    tournament: Tournament, pairs: Sequence[list[range]], seats: tuple[Seat, ...] = (0, 1)
) -> Plan:
    """Return a plan of these pairs of each pairing, in which faults drop no bot."""
    strikes = Strikes(tournament.pairings, tournament.most_pairs, most=sys.maxsize)
    return Plan(pairs, strikes, seats)


def home_of(folder: Path | None) -> Path | None:
    """Return the folder to which files of a run's bots are relative, None for the current one."""
    return folder if folder and (folder / LEAGUE).is_file() else None


def resolve_same(entry: Entry, home: Path | None = None) -> Entry:
    """Return the playable bot for an entry of a manifest, which has no source.

    Files are relative to `home`. Raises InputError if the bot no longer exists, or its source has
    changed, and for one that lives elsewhere.
    """
    if entry.lane == "remote":
        raise InputError("it lives elsewhere, so what it plays cannot be repeated")
    target = entry.target
    if home and target.startswith(f"{os.curdir}/"):
        target = os.path.join(os.curdir, home / target)
    resolved = resolve(target, entry.label, entry.params, entry.lane, entry.needs)
    if resolved.sha256 != entry.sha256:
        raise InputError("its source has changed")
    return resolved


def add_thoughts(tournament: Tournament, fixture: Fixture, game: Game) -> tuple[Game, str]:
    """Return a game with the thoughts of its bots, and a note on which are missing.

    The bots repeat their choices with the game's random seeds; the game itself is not changed. The
    note is empty if all choices were the same. Raises InputError for a bot that fails.
    """
    entries = [tournament.by_label[label] for label in fixture.labels]
    bots = dict(enumerate(zip(entries, tournament.draw(fixture).lucks, strict=True)))
    thoughts, strayed = find_thoughts(game.record, bots, tournament.limits)
    note = ""
    if strayed:
        plies = "ply" if len(strayed) == 1 else "plies"
        where = ", ".join(map(str, strayed))
        note = f"no thoughts at {plies} {where}: asked again, the bot chose another action"
    return replace(game, thoughts=thoughts), note


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


LEAST: Final = 100
"""The least number of games of a run for a repetition."""

_SHARE = 100  # one game of this many is played again


def choose_pairs(tournament: Tournament, lengths: Sequence[int]) -> list[list[range]]:
    """Draw the pairs of each pairing of which a game is played again, each as a range.

    They come from the later half of a pairing's pairs, whose processes have played games before.
    Every bot has at least one, but those that live elsewhere: an answer may have its price there.
    `lengths` are the numbers of pairs of the pairings.
    """
    rng = stream(tournament.seed, "repeat")
    away = {entry.label for entry in tournament.entries if entry.lane == "remote"}
    chosen: list[list[range]] = []
    seen: set[str] = set()
    for pairing, pairs in zip(tournament.pairings, lengths, strict=True):
        games = int(2 * pairs / _SHARE + rng.random())
        if not {*pairing} <= seen:
            games = max(1, games)
        later = range(pairs // 2, pairs)
        drawn = sorted(rng.sample(later, min(games, len(later))))
        seen |= {*pairing} if drawn else set()
        chosen.append([range(one, one + 1) for one in drawn if away.isdisjoint(pairing)])
    return chosen


def find_varying(
    tournament: Tournament, store: Store, again: Played
) -> Iterator[tuple[str, Fixture, int]]:
    """Yield each bot whose moves differ in a repeated game, with the game and the ply."""
    for game in again.results:
        stored = store.game(again.chunk.pairing, game.pair, game.seat)
        if stored is None or stored.fault or stored.actions == game.actions:
            continue
        fixture = Fixture(tournament.pairings[again.chunk.pairing], *game[:2])
        label, ply = _find_difference(tournament, fixture, stored.actions, game.actions)
        yield label, fixture, ply


def _find_difference(
    tournament: Tournament, fixture: Fixture, first: str, second: str
) -> tuple[str, int]:
    """Return the bot whose action differs first between two games on one deal, and the ply."""
    both = enumerate(zip_longest(first, second))
    ply = next(ply for ply, (one, other) in both if one != other)
    state = State(tournament.draw(fixture).deal, tournament.rules)
    state.follow(parse_actions(first[:ply]))
    return fixture.labels[state.to_act], ply


def prepare(tournament: Tournament, kept: Path | None = None, *, strict: bool = False) -> list[str]:
    """Return a line for each bot that does not load; it would forfeit all its games.

    `kept` is the folder of a run to continue: raises ChangedBots, before any bot is started, if
    other bots have played its games. Raises InputError for too few or too many bots, for two bots
    with the same label, for parameters that a bot does not take and for a lane that this machine
    does not have. Also raises it for a bot that is passed as a class or function and does not load,
    with its traceback as a note, and with `strict` for any bot that does not load.
    """
    count = len(tournament.entries)
    if count < 2:
        raise InputError(f"bots: a tournament needs two, there is {count}")
    if count > MOST_BOTS:
        raise InputError(f"bots: at most {MOST_BOTS:,}, and there are {count:,}")
    check_labels(tournament.entries)
    if kept and (changed := find_changed(kept, tournament.manifest()["bots"])):
        raise ChangedBots(kept, changed)
    for entry in tournament.entries:
        if entry.note:
            logging.getLogger("arena").warning("warning: %s", describe_note(entry))
    entries = [entry for entry in tournament.entries if not entry.is_held]
    problems = [*probe(entries, tournament.rules, tournament.limits)]
    for problem in problems:
        error = InputError(str(problem))
        if problem.entry.is_code:
            error.add_note(problem.fault.traceback)
        if problem.entry.is_code or strict:
            raise error
    return [str(problem) for problem in problems]


def describe_note(entry: Entry) -> str:
    """Return the advice for a command whose folder is copied only in part."""
    return (
        f"bot {escape(entry.target)!r}: only the files that it names or needs: are copied: "
        f"{entry.home or 'its folder'}: {entry.note}; give it a folder of its own"
    )


def find_opponent(
    person: str, spec: str, lane: str | None = None, rules: Rules = STANDARD
) -> Entry:
    """Return the bot of a spec, in a process of its own, so that it does not print on the board.

    Nor does Ctrl-C reach it there. Raises InputError for a bot that does not load under the rules,
    and for one with the person's label.
    """
    if lane == "inproc":
        raise InputError("--lane inproc: against a person a bot plays in a process or a jail")
    entry = resolve(spec, lane=None if is_address(parse(spec).target) else lane)
    if entry.label == person:
        raise InputError(
            f"bot {spec!r}: has the person's label {person!r}; name one of them, as in Ann=human"
        )
    return start_apart(entry, rules)


def start_apart(entry: Entry, rules: Rules = STANDARD) -> Entry:
    """Return a bot in a process of its own; raises InputError if it does not load."""
    if entry.lane == "inproc":
        entry = replace(entry, lane="process")
    for problem in find_problems([entry], rules, Limits()):
        raise InputError(problem)
    return entry
