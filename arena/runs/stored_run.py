"""Open the store of a run, and write the files of its folder."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from itertools import starmap, zip_longest
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import ChangedBots, InputError
from arena.executors.log import logger
from arena.files import replacing
from arena.runs.next_round import follow, measure_extent
from arena.store.column_titles import TIMINGS
from arena.store.database import FRESH, NAME, connect
from arena.store.folder import REPLACED, RunFolder, Writer, list_names, part_of
from arena.store.manifest import read_tournament
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament.plan import Played
from arena.tournament.schedule import Strikes
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.differences.run_files import RunTables
    from arena.reports.first_screen import Opening
    from arena.store.columns import Columns


_UNSTORED = 1.0  # seconds of play, of all workers together, that a crash may lose


class Waiting:
    """Played chunks that are to be stored together, when they are worth a second of play.

    Games of a second wait for no others; so a crash loses little, and it is played again.
    """

    def __init__(self) -> None:
        self._chunks: list[Played] = []
        self._seconds = 0.0
        self._taken = time.monotonic()

    def add(self, played: Played) -> None:
        """Add a chunk."""
        self._chunks.append(played)
        self._seconds += played.seconds

    @property
    def are_due(self) -> bool:
        """Whether they are to be stored now; also if a time that was measured is not a number."""
        return not self._seconds < _UNSTORED or time.monotonic() - self._taken > _UNSTORED

    def take(self) -> list[Played]:
        """Return the chunks; none wait any more."""
        chunks, self._chunks = self._chunks, []
        self._seconds, self._taken = 0.0, time.monotonic()
        return chunks


def read_opening(path: Path) -> tuple[Opening, str]:
    """Return the first screen of a run's report, as far as it is played, and its first bot's label.

    Raises InputError for a folder without a run or without a game.
    """
    from arena.differences.run_files import RunTables
    from arena.reports.run_report import make_opening

    tournament, store = read_run(path)
    with closing(store):
        files = RunTables(tournament, store)
        if not files.counts.total:
            raise InputError(f"{path}: no game has been played yet")
        state = measure_extent(tournament, store).describe()
        return make_opening(tournament, store, files, state), tournament.labels[0]


def save(tournament: Tournament, store: Store, path: Path, timings: Columns) -> None:
    """Write the folder of a run with these games; for an unfinished run, only its games.

    `timings` is empty if they are unknown. Raises InputError for a folder that holds anything but
    these games, or cannot be written.
    """
    from arena.differences.run_files import RunTables
    from arena.store.csv_files import csv_writer

    _check(path, store)
    folder = RunFolder(path)
    with folder.locked():
        if not folder.store.exists():
            copy_store(store, folder.store)
        strikes = Strikes(tournament.pairings, 0, tournament.max_faults)
        if follow(tournament, store, strikes).ended:
            writer = csv_writer(timings) if len(timings) else None
            with closing(Store(folder.store)) as kept:
                write_files(folder, tournament, kept, RunTables(tournament, kept), writer)


def _check(path: Path, store: Store) -> None:
    """Raise InputError for a folder that is neither empty nor that of a run with these games."""
    if not list_names(path):
        return
    if not os.path.isfile(path / NAME):
        raise InputError(f"{path}: holds something else than this run; choose a new folder")
    _, there = read_run(path)
    with closing(there):
        pairs = zip_longest(store.results(), there.results())
        if store.manifest != there.manifest or not all(starmap(eq, pairs)):
            raise InputError(f"{path}: holds other games than these; choose a new folder")


def copy_store(store: Store, path: Path) -> None:
    """Copy the games of a store to a file in which a run can continue."""
    with replacing(path, part_of(path)) as part:
        store.copy_to(part)
        with closing(connect(part)) as database:
            database.execute("PRAGMA journal_mode = WAL")


def write_files(
    folder: RunFolder,
    tournament: Tournament,
    store: Store,
    files: RunTables,
    timings: Writer | None,
) -> None:
    """Write all files of the run in this folder, except the store and the log.

    The list of runs beside the folder is renewed, too.
    """
    from arena.reports.html import renew_index
    from arena.reports.run_report import report_writers

    writers = {**files.writers, **report_writers(tournament, store, files)}
    if timings:
        writers[TIMINGS.file] = timings
    folder.write(writers)
    renew_index(folder.path)


@contextmanager
def open_store(
    tournament: Tournament,
    folder: RunFolder | None,
    store: Store | None = None,
    *,
    replace: bool = False,
) -> Iterator[tuple[Store, Tournament]]:
    """Yield the folder's store, locked until the end, and the tournament that it now stores.

    The tournament is the one passed, perhaps marked as an extension of the stored one. A store that
    is passed is used in place of the folder's, and stays open. Without a folder the store is
    deleted when it is closed.
    """
    with folder.locked() if folder else nullcontext():
        owned = store is None
        if folder and folder.replaced.exists() and folder.store.exists():
            _take_back(folder, tournament)
        store = store or Store(folder.store if folder else None)
        try:
            if folder:
                folder.check(tournament.manifest(), store.manifest)
            yield store, _adapt(store, tournament, folder, replace=replace)
        finally:
            if owned:
                store.close()


def _take_back(folder: RunFolder, tournament: Tournament) -> None:
    """Restore the games that were replaced, if the bots are the earlier ones again."""
    manifest = tournament.manifest()
    with closing(Store(folder.replaced, copied=True)) as before:
        if before.find_changed(manifest):
            return
    with closing(Store(folder.store)) as now:
        if not now.find_changed(manifest):
            return
        now.copy_from(folder.replaced)
    folder.replaced.unlink()
    logger.info("the bots are those of before: their games are taken from %s", REPLACED)


def _adapt(
    store: Store, tournament: Tournament, folder: RunFolder | None, *, replace: bool
) -> Tournament:
    """Make a store that of this tournament, with its games; return the tournament."""
    manifest = tournament.manifest()
    stored = store.manifest
    if stored is None:
        store.check_games(0, 0)
        store.begin(manifest)
        return tournament
    try:
        before = read_tournament(stored)
    except InputError as error:
        raise InputError(f"{store.path}: {error}{FRESH}") from None
    store.check_games(len(before.pairings), before.most_pairs)
    changed = store.find_changed(manifest)
    if changed and not replace:
        raise ChangedBots(folder.path if folder else store.path, changed)
    if changed and folder and not folder.replaced.exists():
        copy_store(store, folder.replaced)
    is_same = _schedule(before) == _schedule(tournament)
    if before.extended or (not is_same and store.count_games()):
        tournament = dataclasses.replace(tournament, extended=True)
        manifest = tournament.manifest()
    if changed or not is_same:
        pairings = before.pairings, tournament.pairings
        store.extend(manifest, *pairings, tournament.most_pairs, changed)
        _log_bots(before.labels, tournament.labels, changed)
    else:
        store.begin(manifest)
    return tournament


def _schedule(tournament: Tournament) -> tuple[object, ...]:
    """Return the values that decide which games a run has."""
    size = tournament.pairs, tournament.rounds, tournament.stop, [*map(list, tournament.meetings)]
    return tournament.pairings, *size


def _log_bots(before: Sequence[str], after: Sequence[str], replaced: Iterable[str]) -> None:
    """Log which bots are new, replaced or left out, compared with the stored run."""
    for what, labels in (
        ("a new bot", [label for label in after if label not in before]),
        ("replaced: its games are played again", replaced),
        ("left out: its games stay in the store", [one for one in before if one not in after]),
    ):
        for label in labels:
            logger.info("%s: %s", label, what)
