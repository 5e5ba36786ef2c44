"""Saving: from the games of a run to its folder."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from functools import partial
from itertools import starmap, zip_longest
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import InputError
from arena.runs.run_progress import follow
from arena.store.folder import GAMES, TIMINGS, RunFolder, Writer, part_of
from arena.store.reader import read_run
from arena.store.store import NAME, Store
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

    from arena.insight.run_files import Files


def save(tournament: Tournament, store: Store, path: Path, timings: pd.DataFrame) -> None:
    """Write the folder that a run with these games leaves; an unfinished one leaves its games.

    `timings` has no rows where they are not known. Raises InputError for a folder that holds
    anything but these games, and where nothing can be written.
    """
    from arena.insight.run_files import make_files
    from arena.store.cells import csv_writer

    _check(path, store)
    folder = RunFolder(path)
    with folder.locked():
        if not folder.store.exists():
            copy_store(store, folder.store)
        strikes = Strikes(tournament.pairings, 0, tournament.max_faults)
        if follow(tournament, store, strikes).ended:
            writer = None if timings.empty else csv_writer(timings)
            with closing(Store(folder.store)) as kept:
                write_files(folder, tournament, kept, make_files(tournament, kept), writer)


def _check(path: Path, store: Store) -> None:
    """Raise InputError for a folder that is neither empty nor one with these games."""
    try:
        is_free = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    if is_free:
        return
    if not os.path.isfile(path / NAME):
        raise InputError(f"{path}: holds something else than this run; choose a new folder")
    _, there = read_run(path)
    with closing(there):
        pairs = zip_longest(store.results(), there.results())
        if store.manifest != there.manifest or not all(starmap(eq, pairs)):
            raise InputError(f"{path}: holds other games than these; choose a new folder")


def copy_store(store: Store, path: Path) -> None:
    """Copy the games of a store to a file in which a run can go on."""
    part = part_of(path)
    try:
        part.unlink(missing_ok=True)
        store.copy_to(part)
        with closing(sqlite3.connect(part)) as database:
            database.execute("PRAGMA journal_mode = WAL")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_files(
    folder: RunFolder, tournament: Tournament, store: Store, files: Files, timings: Writer | None
) -> None:
    """Write all files of a run that is in this folder except the store and the log."""
    from arena.reports.writers import report_writers
    from arena.store.game_rows import write_games
    from arena.store.parquet import parquet_writers

    writers = {**files.writers, **report_writers(tournament, store, files)}
    if timings:
        writers[TIMINGS] = timings
    del writers[GAMES]
    with store.lines_apart(tournament.pairings) as (lines, stop):
        games: dict[str, Writer] = {GAMES: partial(write_games, lines=lines)}
        games |= parquet_writers()
        folder.write(writers, games, stop)
