"""Verify: a finished run's folder checked, from its records to the last byte of its files."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, TextIO, cast

import msgspec
from tqdm import tqdm

from arena.entries.entry import Entry, load
from arena.errors import ArenaError, InputError
from arena.executors import local as executors
from arena.executors import log
from arena.games.match import Finished, GameResult, result
from arena.lanes.faults import BY_RULE, Fault
from arena.lanes.limits import Limits
from arena.results import files as results
from arena.results.folder import MANIFEST, RunFolder
from arena.results.store import Store
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import EngineError, Rules
from engine.notation import parse_actions
from engine.play import deal_at
from engine.state import State

_UNREPEATABLE = ("timeout", "crash", "memory", BY_RULE)


class Difference(ArenaError):
    """Something in a run's folder that is not as its games and rules have it."""


def verified(path: Path, sample: int, workers: int | None = None) -> Iterator[str]:
    """Check the run in a folder, and yield a line for each thing that has been checked.

    `sample` games of each pairing are played again by the bots that still are what they
    were. Raises Difference for the first thing that differs, InputError for no run.
    """
    for name in (MANIFEST, "run.sqlite"):
        if not (path / name).is_file():
            raise InputError(f"{path}: no run: there is no {name}")
    folder = RunFolder(path)
    with folder.locked():
        store = Store(folder.store)
        try:
            kept = json.loads(store.manifest or "{}")
            tournament = _tournament(kept)
            yield f"games: {_check_games(tournament, store):,} replayed"
            yield f"files: {_check_files(tournament, store, path)} compared"
            yield from _check_bots(tournament, store, sample, workers)
        except Difference as difference:
            raise Difference(f"{path}/{difference}") from None
        finally:
            store.close()


def _tournament(manifest: dict[str, Any]) -> Tournament:
    """Return what a manifest describes; its bots have no sources."""
    try:
        entries = [
            Entry(
                label=bot["label"],
                target=bot["bot"],
                lane=bot["lane"],
                module="",
                filename="",
                sha256=bot["sha256"],
                params=bot["params"],
            )
            for bot in manifest["bots"]
        ]
        rules = Rules.from_changes(manifest["rules"])
        limits = msgspec.convert(manifest["limits"], Limits)
        numbers = (manifest["seed"], manifest["pairs"])
        return Tournament(
            manifest["name"], *numbers, entries, rules, limits, manifest["max_faults"]
        )
    except (KeyError, TypeError, EngineError, msgspec.ValidationError) as error:
        raise Difference(f"run.sqlite: its manifest is not one: {error!r}") from None


def _check_games(tournament: Tournament, store: Store) -> int:
    """Replay every game, and return how many there are."""
    referee = _Referee(tournament, store)
    rows = store.games()
    total = tournament.job.games
    with tqdm(total=total, unit=" games", disable=None, leave=False) as bar:
        for number in range(len(tournament.pairings)):
            for pair in range(tournament.pairs):
                for wanted in referee.pair(number, pair, rows):
                    place = (number, *wanted[:2])
                    raise Difference(f"run.sqlite: game {_name(tournament, place)}: {wanted[2]}")
                bar.update(2)
    if next(rows, None) is not None:
        raise Difference("run.sqlite: more games than the run has")
    return total


class _Referee:
    """Knows what the record of every game of a run must lead to."""

    def __init__(self, tournament: Tournament, store: Store) -> None:
        self.tournament = tournament
        self.pairings = tournament.pairings
        self.faults: dict[tuple[int, int, int], tuple[Any, ...]] = {}
        for number, pair, seat, *fault in store.faults():
            if fault[0] is not None:
                self.faults[number, pair, seat] = tuple(fault)
        strikes = Strikes(self.pairings, tournament.pairs, tournament.max_faults)
        for number in range(len(self.pairings)):
            every = range(tournament.pairs)
            strikes.finish(number, 0, tournament.pairs, store.strikes(number, every))
        self.by_rule = {due.pairing: due for due in strikes.taken()}

    def pair(
        self, number: int, pair: int, rows: Iterator[tuple[Any, ...]]
    ) -> Iterator[tuple[int, int, str]]:
        """Yield pair, seat and what is wrong with the record of a game of this pair."""
        pairing, run = self.pairings[number], self.tournament
        deal = deal_at(run.seed, pairing.deal_address(pair), run.rules)
        for seat in (0, 1):
            row = next(rows, None)
            if row is None or row[:3] != (number, pair, seat):
                yield pair, seat, "is missing"
            else:
                try:
                    wanted = self._wanted(row, State(deal, run.rules))
                except EngineError as error:
                    yield pair, seat, f"its record cannot be played: {error}"
                    continue
                if told := _difference(GameResult(*row[1:]), wanted):
                    yield pair, seat, told

    def _wanted(self, row: tuple[Any, ...], state: State) -> GameResult | None:
        """Return the result that a record leads to, None if it leads to none."""
        number, pair, seat = row[:3]
        due = self.by_rule.get(number)
        if due and due.first <= 2 * pair + seat < due.end:
            return GameResult(pair, seat, 1 - due.loser, "forfeit", 0, 0, 0, BY_RULE, "")
        state.follow(parse_actions(row[-1]))
        fault = None
        if found := self.faults.get((number, pair, seat)):
            label, kind, ply, message = found[:4]
            guilty = self.pairings[number].index(label)
            fault = Fault(guilty if seat == 0 else 1 - guilty, kind, ply, message)
            if ply != len(state.history):
                return None
        elif not state.over:
            return None
        return result(Finished(state, fault), pair, seat)


def _difference(row: GameResult, wanted: GameResult | None) -> str:
    if wanted is None:
        return "its record ends in the middle of the game"
    for name, there, right in zip(GameResult._fields, row, wanted, strict=True):
        if there != right:
            return f"{name} is {there!r}, and the record gives {right!r}"
    return ""


def _name(tournament: Tournament, place: tuple[int, int, int]) -> str:
    return "/".join([*tournament.pairings[place[0]], str(place[1]), str(place[2])])


def _check_files(tournament: Tournament, store: Store, path: Path) -> int:
    """Compare every file that a run writes with what the store adds up to."""
    files = dict(results.of(tournament, store).files)
    kept = store.manifest or ""
    files[MANIFEST] = lambda file: file.write(kept)
    for name, write in files.items():
        try:
            with (path / name).open(encoding="utf-8", newline="") as there:
                comparison = _Comparison(name, there)
                write(cast(TextIO, comparison))
                comparison.finish()
        except (OSError, UnicodeDecodeError) as error:
            raise Difference(f"{name}: cannot be read: {error}") from None
    return len(files)


class _Comparison(io.TextIOBase):
    """Takes what ought to be written, and compares it with what is there."""

    def __init__(self, name: str, there: TextIO) -> None:
        self.name = name
        self.there = there
        self.line = 1

    def write(self, text: str) -> int:
        """Compare as much of the file as the text is long."""
        found = self.there.read(len(text))
        if found != text:
            same = next(n for n, two in enumerate(zip_longest(found, text)) if two[0] != two[1])
            line = self.line + text.count("\n", 0, same)
            raise Difference(f"{self.name}: line {line} is not what the games add up to")
        self.line += text.count("\n")
        return len(text)

    def finish(self) -> None:
        """See that the file ends here."""
        if self.there.read(1):
            raise Difference(f"{self.name}: line {self.line} is one too many")


def _check_bots(
    tournament: Tournament, store: Store, sample: int, workers: int | None
) -> Iterator[str]:
    """Let the bots play a sample of their games again."""
    loaded = {}
    for entry in tournament.entries:
        try:
            found = load(entry.target, entry.label, entry.params, entry.lane)
        except InputError as error:
            yield f"{entry.label}: plays nothing again: {error}"
            continue
        if found.sha256 != entry.sha256:
            yield f"{entry.label}: plays nothing again: its source has changed"
        else:
            loaded[entry.label] = found
    replayable = replace(tournament, entries=[loaded.get(e.label, e) for e in tournament.entries])
    missing = [
        _sampled(tournament.pairs, sample) if {*pairing} <= {*loaded} else []
        for pairing in tournament.pairings
    ]
    first = _replayed(replayable, missing, workers)
    kept = {row[:3]: row[1:] for row in store.games() if row[:3] in first}
    odd = {place for place, row in first.items() if _differs(kept[place], row)}
    again = _replayed(replayable, _pairs_of(odd, len(missing)), workers)
    changing = {tournament.pairings[place[0]] for place in odd if again[place] != first[place]}
    for place in sorted(odd):
        if tournament.pairings[place[0]] not in changing:
            told = _difference(GameResult(*kept[place]), GameResult(*first[place]))
            raise Difference(f"game {_name(tournament, place)}: played again: {told}")
    yield f"bots: {len(first):,} games played again"
    for pairing in sorted(changing):
        yield f"{' - '.join(pairing)}: do not play the same game twice"


def _sampled(pairs: int, games: int) -> list[range]:
    """Return single pairs, evenly spread, of so many games."""
    wanted = min(pairs, (games + 1) // 2)
    return [range(n, n + 1) for n in (k * pairs // wanted for k in range(wanted))]


def _pairs_of(places: set[tuple[int, int, int]], pairings: int) -> list[list[range]]:
    found = sorted({place[:2] for place in places})
    return [
        [range(pair, pair + 1) for n, pair in found if n == number] for number in range(pairings)
    ]


def _replayed(
    tournament: Tournament, missing: list[list[range]], workers: int | None
) -> dict[tuple[int, int, int], tuple[Any, ...]]:
    """Return the results of these pairs by pairing, pair and seat."""
    plan = Plan(missing, Strikes(tournament.pairings, tournament.pairs, most=sys.maxsize))
    found = {}
    with log.run_log(None) as run_log:
        for played in executors.play_all(
            plan, tournament.job, workers or os.cpu_count() or 1, run_log
        ):
            for row in played.results:
                found[played.chunk.pairing, row[0], row[1]] = row
    return found


def _differs(kept: tuple[Any, ...], row: tuple[Any, ...]) -> bool:
    """Return whether a replayed game differs, where it can be expected not to."""
    faults = GameResult(*kept).fault, GameResult(*row).fault
    return kept != row and not {*faults} & {*_UNREPEATABLE}
