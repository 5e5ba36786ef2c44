"""Tournament: one run from its bots to its results."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from arena import executors, log
from arena.folder import TABLES, RunFolder
from arena.load import Entry
from arena.match import GameResult
from arena.schedule import Pairing, round_robin
from engine import Rules

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Tournament:
    """A round robin: every two bots play `pairs` deals twice, seats swapped."""

    name: str
    seed: int
    pairs: int
    entries: Sequence[Entry]
    rules: Rules

    @property
    def labels(self) -> list[str]:
        """The bots' labels, in the order they were named."""
        return [entry.label for entry in self.entries]

    def manifest(self) -> dict[str, Any]:
        """Return what was asked for and with what: enough to run it again."""
        return {
            "name": self.name,
            "seed": self.seed,
            "pairs": self.pairs,
            "rules": self.rules.changes(),
            "bots": [entry.described() for entry in self.entries],
            "versions": {
                "arena": metadata.version("district-noir-arena"),
                "python": platform.python_version(),
            },
        }


@dataclass(frozen=True)
class Results:
    """What a run came to: its tables by file name, and how long its games took to play."""

    tables: dict[str, pd.DataFrame]
    seconds: float


def run(tournament: Tournament, workers: int, folder: RunFolder | None = None) -> Results:
    """Play the tournament on so many worker processes, and write it to the folder.

    Raises WorkerDied if a worker process ends by itself; nothing is written then but the log.
    """
    pairings = round_robin(tournament.labels)
    entries = {entry.label: entry for entry in tournament.entries}
    job = executors.Job(tournament.seed, tournament.rules, entries, pairings, tournament.pairs)
    with (
        _current_folder_not_imported_from(),
        log.to_file(folder.log if folder else None) as queue,
        _terminated_like_interrupted(),
    ):
        log.logger.info("run %s: %d games, %d workers", tournament.name, job.games, workers)
        try:
            started = time.perf_counter()
            played = _play(job, workers, queue)
            seconds = time.perf_counter() - started
            found = _tables(tournament, pairings, played)
            if folder:
                csv = {name: _csv(table) for name, table in found.items()}
                folder.write(tournament.manifest(), csv)
        except BaseException as error:
            log.logger.error("run %s ended early: %s", tournament.name, type(error).__name__)
            raise
        log.logger.info("run %s: played in %.1f s", tournament.name, seconds)
    return Results(found, seconds)


def _play(job: executors.Job, workers: int, queue: Any) -> list[list[GameResult]]:
    """Return the games of each pairing, with a progress bar where there is a terminal."""
    results: list[list[GameResult]] = [[] for _ in job.pairings]
    with tqdm(total=job.games, unit=" games", disable=None, dynamic_ncols=True, leave=False) as bar:
        for played in executors.play_all(job, workers, queue):
            results[played.chunk.pairing] += played.results
            bar.update(len(played.results))
    return results


def _tables(
    tournament: Tournament, pairings: list[Pairing], played: list[list[GameResult]]
) -> dict[str, pd.DataFrame]:
    """Return the tables of the run by file name."""
    from arena import tables

    games = tables.games(pairings, played)
    found = (
        games,
        tables.standings(games, tournament.labels),
        tables.head_to_head(games),
        tables.win_types(games),
    )
    return dict(zip(TABLES, found, strict=True))


def _csv(table: pd.DataFrame) -> str:
    return str(table.to_csv(index=False, lineterminator="\n"))


@contextmanager
def _current_folder_not_imported_from() -> Iterator[None]:
    """Keep a bot called random.py from being imported by the processes that start workers."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the run as Ctrl-C does: cleaned up."""

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
