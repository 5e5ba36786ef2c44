"""Runner: one run, from a tournament to its files, going on where an earlier one stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tqdm import tqdm

from arena.executors import local as executors
from arena.executors import log
from arena.games.timing import Timing
from arena.lanes.signals import terminated_like_interrupted
from arena.results.folder import TIMINGS, RunFolder, as_text
from arena.results.store import Store
from arena.tournament.chunk import Played
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Results:
    """What a run came to: games played now, and kept from before; seconds to the last file.

    `out` are the labels of the bots that had too many faults.
    """

    standings: pd.DataFrame
    played: int
    kept: int
    out: list[str]
    seconds: float


def run(
    tournament: Tournament,
    workers: int,
    folder: RunFolder | None = None,
    shown: int = log.NORMAL,
) -> Results:
    """Play what is left of the tournament on so many workers, and write it to the folder.

    However the run ends, the folder's store keeps the games that were finished. `shown` is
    the level from which the log is shown on the terminal. Raises InputError for a folder of
    another run, WorkerDied if workers die and no bot is to blame, and ArenaError where the
    store cannot be written.
    """
    with (
        _current_folder_not_imported_from(),
        log.run_log(folder.log if folder else None, shown) as run_log,
        terminated_like_interrupted(),
        opened(tournament, folder) as store,
    ):
        games = tournament.job.games
        log.logger.info("run %s: %d games, %d workers", tournament.name, games, workers)
        started = time.perf_counter()
        try:
            under_way = _Run(tournament, store, show_progress=shown < log.QUIET)
            under_way.play(workers, run_log)
            standings = under_way.write(folder)
        except BaseException as error:
            log.logger.info("run %s ended early: %s", tournament.name, type(error).__name__)
            raise
        seconds = time.perf_counter() - started
        played, kept = under_way.played, under_way.kept
        log.logger.info("run %s: played %d games in %.1f s", tournament.name, played, seconds)
    return Results(standings, played, kept, [*under_way.strikes.out], seconds)


@contextmanager
def opened(tournament: Tournament, folder: RunFolder | None) -> Iterator[Store]:
    """Give the store of the folder, which is this tournament's, and nobody else writes to.

    Without a folder the store goes when it is closed.
    """
    manifest = tournament.manifest()
    text = as_text(manifest)
    with folder.locked() if folder else nullcontext():
        store = Store(folder.store if folder else None)
        try:
            if folder:
                folder.check(manifest, store.manifest)
            if store.manifest is None:
                store.manifest = text
            yield store
        finally:
            store.close()


class _Run:
    """The games of one tournament, and what has become of them so far."""

    def __init__(self, tournament: Tournament, store: Store, *, show_progress: bool) -> None:
        self.tournament = tournament
        self.store = store
        self.show_progress = show_progress
        self.pairings = tournament.pairings
        self.strikes = Strikes(self.pairings, tournament.pairs, tournament.max_faults)
        self.timings: dict[str, Timing] = {}
        self.played = self.kept = 0
        self.announced: set[str] = set()

    def play(self, workers: int, run_log: log.RunLog) -> None:
        """Play what the store does not have, and keep it there."""
        plan = Plan([self._missing(number) for number in range(len(self.pairings))], self.strikes)
        job = self.tournament.job
        with tqdm(
            total=job.games,
            initial=self.kept,
            unit=" games",
            disable=None if self.show_progress else True,
            dynamic_ncols=True,
            leave=False,
        ) as bar:
            for played in executors.play_all(plan, job, workers, run_log):
                self._keep(played, plan)
                bar.update(len(played.results))
        self._forfeit()
        self.store.commit()

    def _missing(self, number: int) -> list[range]:
        """Return the ranges of a pairing's pairs that are not in the store."""
        missing = []
        pairs = self.tournament.pairs
        start = 0
        for found in [*self.store.finished(number), range(pairs, pairs)]:
            if start < found.start:
                missing.append(range(start, found.start))
            if found:
                self.kept += 2 * len(found)
                strikes = self.store.strikes(number, found)
                self.strikes.finish(number, found.start, len(found), strikes)
            start = found.stop
        return missing

    def _keep(self, played: Played, plan: Plan) -> None:
        self.store.add(played)
        plan.learn(played)
        self._forfeit()
        self.played += len(played.results)
        for label, timing in played.timings.items():
            self.timings.setdefault(label, Timing()).merge(timing)

    def _forfeit(self) -> None:
        """Carry out the forfeits by rule that have become due."""
        for forfeits in self.strikes.taken():
            self.store.forfeit(forfeits)
            label = self.pairings[forfeits.pairing][forfeits.loser]
            if label not in self.announced:
                self.announced.add(label)
                log.logger.warning(
                    "%s is out after %d faults: its remaining games are forfeits",
                    label,
                    self.tournament.max_faults,
                )

    def write(self, folder: RunFolder | None) -> pd.DataFrame:
        """Return the standings, and write all files but the store and the log."""
        from arena.results import files as results

        found = results.of(self.tournament, self.store)
        if folder:
            files = dict(found.files)
            if self.played:
                files[TIMINGS] = results.timings(self.timings, self.tournament.labels)
            folder.write(files)
        return found.standings


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
