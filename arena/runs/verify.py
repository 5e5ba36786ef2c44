"""Verify a finished run: replay the games, make the files again, and compare."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TextIO, cast

from arena.differences.run_files import RunTables
from arena.errors import ArenaError, InputError, counted, naming, shorten
from arena.executors.local import Executor
from arena.executors.log import read_spending, run_log
from arena.files import read_file
from arena.lanes.faults import Fault
from arena.reports.run_report import report_writers
from arena.runs.next_round import follow
from arena.runs.progress_bar import show_progress
from arena.runs.rerun import home_of, plan_again, resolve_same
from arena.statistics.counts import BY_RULE
from arena.store.csv_files import parse_timings, read_timings
from arena.store.database import NAME
from arena.store.folder import LOG, MANIFEST, RunFolder, Writer, locate
from arena.store.manifest import MOST_BYTES, other_versions, read_manifest, read_tournament
from arena.store.reader import why_no_run
from arena.store.store import Store, forfeit_by_rule
from arena.tables.losses import read_judged
from arena.tournament.match import Finished, GameResult, result_of
from arena.tournament.schedule import Fixture, Forfeits, Strikes
from arena.tournament.tournament import Tournament
from arena.tournament.versions import maker_of
from engine import EngineError
from engine.notation import parse_actions
from engine.state import Seat, State


class Difference(ArenaError):
    """A file or result in a run's folder differs from what its games and rules give."""

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message))


def check_files(tournament: Tournament, store: Store, path: Path) -> int:
    """Compare every file of a run with one generated from the store.

    Returns the number of files compared. Raises Difference.
    """
    files = RunTables(tournament, store)
    writers = dict(files.writers)
    manifest = store.manifest or ""
    writers[MANIFEST] = lambda file: file.write(manifest)
    for name, write in writers.items():
        _compare(path, name, write)
    reports = dict(report_writers(tournament, store, files))
    again = cache(lambda: _reports_again(tournament, store, files, path))
    for name, write in reports.items():
        try:
            _compare(path, name, write)
        except Difference as difference:
            try:
                _compare(path, name, again()[name])
            except Difference:
                raise Difference(f"{difference} ({_REPORT})") from None
    return len(writers) + len(reports)


_REPORT = "or it is of another version of the arena: `arena report` writes it again"


def _reports_again(
    tournament: Tournament, store: Store, files: RunTables, path: Path
) -> Mapping[str, Writer]:
    """Return the writers of the reports of `arena report`: with times, and judged decisions."""
    content = read_timings(path)
    timings = None if content is None else parse_timings(content)
    judged = read_judged(path)
    return report_writers(tournament, store, files, timings, judged, read_spending(path / LOG))


def _compare(folder: Path, name: str, write: Writer) -> None:
    """Compare a file of a run with what the writer writes; raises Difference."""
    place = locate(folder, name)
    shown = place.relative_to(folder).as_posix()
    try:
        with place.open(encoding="utf-8", newline="") as file:
            comparison = _Comparison(shown, file)
            write(cast(TextIO, comparison))
            comparison.finish()
    except (OSError, UnicodeDecodeError) as error:
        raise Difference(f"{shown}: cannot be read: {error}") from None


class _Comparison(io.TextIOBase):
    """A stand-in for a file to write, which compares the written text with an existing file."""

    def __init__(self, name: str, file: TextIO) -> None:
        self.name = name
        self.file = file
        self.line = 1

    def write(self, text: str) -> int:
        """Compare the text with the next part of the file."""
        part = self.file.read(len(text))
        if part != text:
            same = next(n for n, two in enumerate(zip_longest(part, text)) if two[0] != two[1])
            line = self.line + text.count("\n", 0, same)
            raise Difference(f"{self.name}: line {line} is not what the games add up to")
        self.line += text.count("\n")
        return len(text)

    def finish(self) -> None:
        """Raise Difference unless the file ends here."""
        if self.file.read(1):
            raise Difference(f"{self.name}: line {self.line} is one too many")


_UNREPEATABLE = ("timeout", "idle", "crash", "memory", BY_RULE)
_UNFINISHED = "the run has not finished; start it again to go on"
_HINT = "(do its moves depend on the games that its process played before?)"

Place = tuple[int, int, int]
"""The place of a game: the number of its pairing, its pair and its seat."""


def verify(path: Path, sample: int, executor: Executor) -> Iterator[str]:
    """Check the run in a folder, and yield a line for each check that has passed.

    `sample` games of each pairing are played again by the bots whose source is unchanged. Raises
    Difference for the first difference, and InputError for a folder without a run, or with one of
    another version of the arena.
    """
    if not (path / NAME).is_file():
        why = why_no_run(path) if path.exists() else f"no run: there is no {NAME}"
        raise InputError(f"{path}: {why}")
    has_files = home_of(path) is None
    if has_files and not (path / MANIFEST).is_file():
        raise InputError(f"{path}: {_UNFINISHED}")
    if has_files:
        _check_versions(path / MANIFEST)
    folder = RunFolder(path)
    with folder.locked():
        store = Store(folder.store)
        try:
            if store.manifest is None:
                raise InputError(f"{path}: no run has begun there")
            with naming(store.path):
                tournament = read_tournament(store.manifest)
            if has_files and _is_being_extended(path, tournament, store):
                raise InputError(f"{path}: {_UNFINISHED}")
            lengths = _check_games(tournament, store)
            yield f"games: {2 * sum(lengths.values()):,} replayed"
            if has_files:
                yield f"files: {check_files(tournament, store, path)} compared"
            yield from _check_bots(tournament, store, lengths, sample, executor, home_of(path))
        except Difference as difference:
            raise Difference(f"{path}/{difference}") from None
        finally:
            store.close()


def _check_versions(manifest: Path) -> None:
    """Raise InputError for a run of a version of the arena with other games or other files."""
    try:
        data = read_manifest(read_file(manifest, MOST_BYTES))
    except InputError:
        return  # the file is later compared with the store's
    if differs := other_versions(data, python=False):
        why = f"{maker_of(data)}, which can verify it"
        raise InputError(f"{manifest.parent}: {why}: {'; '.join(differs)}")


def _is_being_extended(path: Path, tournament: Tournament, store: Store) -> bool:
    """Return whether a run is an interrupted extension, with the files of the smaller run."""
    missing = store.count_games() < tournament.games
    written = (path / MANIFEST).read_text(encoding="utf-8", errors="replace")
    return missing and written != store.manifest


def _check_games(tournament: Tournament, store: Store) -> dict[int, int]:
    """Replay every game, and return the number of pairs of each pairing."""
    strikes = Strikes(tournament.pairings, 0, tournament.max_faults)
    progress = follow(tournament, store, strikes)
    by_rule: dict[int, list[Forfeits]] = {}
    for forfeits in strikes.take_due():
        by_rule.setdefault(forfeits.pairing, []).append(forfeits)
    rows = store.results()
    with show_progress(2 * progress.scheduled) as bar:
        for number, length in sorted(progress.lengths.items()):
            for pair in range(length):
                for seat in (0, 1):
                    fixture = tournament.fixture(number, pair, seat)
                    row = next(rows, None)
                    is_here = row is not None and (row[0], *row[1][:2]) == (number, pair, seat)
                    result = row[1] if row is not None and is_here else None
                    due = by_rule.get(number, [])
                    if problem := _find_problem(tournament, fixture, result, due):
                        raise Difference(f"{NAME}: game {fixture.name}: {problem}")
                bar.add(2)
    if next(rows, None) is not None:
        raise Difference(f"{NAME}: more games than the run has")
    return progress.lengths


def _find_problem(
    tournament: Tournament, fixture: Fixture, result: GameResult | None, by_rule: Iterable[Forfeits]
) -> str:
    """Return what is wrong with the stored result of a game, "" if it is right."""
    if result is None:
        return "is missing"
    for due in by_rule:
        if due.first <= 2 * fixture.pair + fixture.seat < due.end:
            expected = forfeit_by_rule(fixture.pair, fixture.seat, 1 - due.loser)
            return _difference(result, expected)
    try:
        return _difference(result, _replay(tournament, fixture, result))
    except EngineError as error:
        return f"its record cannot be played: {error}"


def _replay(tournament: Tournament, fixture: Fixture, result: GameResult) -> GameResult | None:
    """Return the result computed from a game's record, None if it stops in the middle.

    A fault ends the game at the turn of the guilty bot, except before the first action, when either
    bot may have failed to start.
    """
    rules = tournament.rules
    state = State(tournament.draw(fixture).deal, rules)
    state.follow(parse_actions(result.actions))
    if result.fault is None or result.fault.kind == BY_RULE:
        return result_of(Finished(state), *fixture[1:]) if state.over else None
    guilty = fixture.labels.index(fixture.pairing[result.winner == 0])
    if state.history and not state.over:
        guilty = state.to_act
    return result_of(Finished(state, result.fault, guilty), *fixture[1:])


def _difference(stored: GameResult, expected: GameResult | None) -> str:
    if expected is None:
        return "its record ends in the middle of the game"
    for name, one, other in zip(GameResult._fields, stored, expected, strict=True):
        if one != other:
            return f"{name} is {one!r}, and the record gives {other!r}"
    return ""


def _check_bots(
    tournament: Tournament,
    store: Store,
    lengths: Mapping[int, int],
    sample: int,
    executor: Executor,
    home: Path | None,
) -> Iterator[str]:
    """Let the bots play a sample of their games again, and yield lines about it."""
    same = {}
    for entry in tournament.entries:
        try:
            same[entry.label] = resolve_same(entry, home)
        except InputError as error:
            yield f"{entry.label}: not played again: {error}"
    replayable = replace(tournament, entries=[same.get(e.label, e) for e in tournament.entries])
    pairs = [
        spread(lengths.get(number, 0), sample) if {*pairing} <= {*same} else []
        for number, pairing in enumerate(tournament.pairings)
    ]
    yield from _replay_sample(replayable, store, pairs, executor)


def _replay_sample(
    tournament: Tournament, store: Store, pairs: list[list[range]], executor: Executor
) -> Iterator[str]:
    """Play some pairs of each pairing again; those that differ are played once more, to be sure.

    The first time the order is the reverse of the run's, to expose moves that depend on earlier
    games. A bot that does not repeat its games is reported, but does not count as a Difference.
    """
    backwards = [ranges[::-1] for ranges in pairs]
    first = _play_pairs(tournament, backwards, executor, seats=(1, 0))
    stored = {place: game for place, game in _places(store.results()) if place in first}
    odd = {place for place in first if _is_odd(stored[place], first[place])}
    again = _play_pairs(tournament, _pairs_of(odd, len(pairs)), executor)
    fickle = {place[0] for place in odd if again[place] != first[place]}
    for place in sorted(odd):
        if place[0] not in fickle:
            name = tournament.fixture(*place).name
            difference = _difference(stored[place], first[place])
            raise Difference(f"game {name}: played again: {difference} {_HINT}")
    yield f"bots: {counted(len(first), 'game')} played again"
    for number in sorted(fickle):
        name = tournament.pairings[number].name
        yield f"{name}: do not play the same game twice {_HINT.replace('its', 'their')}"


def spread(pairs: int, games: int) -> list[range]:
    """Return single pairs with this number of games in all, evenly spread over all pairs.

    >>> spread(10, 5)
    [range(0, 1), range(3, 4), range(6, 7)]
    """
    wanted = min(pairs, (games + 1) // 2)
    return [range(n, n + 1) for n in (k * pairs // wanted for k in range(wanted))]


def _pairs_of(places: set[Place], pairings: int) -> list[list[range]]:
    numbers = sorted({place[:2] for place in places})
    return [
        [range(pair, pair + 1) for of_pairing, pair in numbers if of_pairing == number]
        for number in range(pairings)
    ]


def _play_pairs(
    tournament: Tournament,
    pairs: list[list[range]],
    executor: Executor,
    seats: tuple[Seat, ...] = (0, 1),
) -> dict[Place, GameResult]:
    """Return the results of these pairs, played in this order."""
    plan = plan_again(tournament, pairs, seats)
    results: dict[Place, GameResult] = {}
    with run_log(None) as log, closing(executor.play(plan, tournament, log)) as games:
        for played in games:
            results |= _places((played.chunk.pairing, game) for game in played.results)
    return results


def _places(results: Iterator[tuple[int, GameResult]]) -> Iterator[tuple[Place, GameResult]]:
    """Yield results with their places; faults are reduced to their kind, as evidence may vary."""
    for number, game in results:
        if game.fault:
            game = game._replace(fault=Fault(game.fault.kind, ""))
        yield (number, game.pair, game.seat), game


def _is_odd(stored: GameResult, again: GameResult) -> bool:
    """Return whether a replayed game differs, and has no fault of a kind that may vary."""
    kinds = {game.fault.kind for game in (stored, again) if game.fault}
    return stored != again and not kinds & {*_UNREPEATABLE}
