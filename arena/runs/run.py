"""Run: from a tournament to its files, going on where an earlier run stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.executors.base import Executor
from arena.executors.log import NORMAL, QUIET, RunLog, logger, run_log
from arena.games.timing import Timing
from arena.lanes.cleanup import exit_on_termination
from arena.results.folder import TIMINGS, RunFolder
from arena.results.store import Store
from arena.results.summary import HEAD, format_rows
from arena.runs.interim import Interim
from arena.runs.opening import open_store
from arena.runs.progress import is_terminal, show_progress
from arena.tournament.chunk import Played
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

    from arena.results.files import Files
    from arena.results.findings import Findings


@dataclass(frozen=True)
class Outcome:
    """What a run came to: games played now, and kept from before; seconds to the last file.

    `out` are the labels of the bots that had too many faults; `timings` are by label.
    """

    standings: pd.DataFrame
    findings: Findings
    played: int
    kept: int
    out: list[str]
    seconds: float
    timings: Mapping[str, Timing]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: so many games of the run are kept."""

    def __init__(self, kept: int, games: int) -> None:
        super().__init__(f"{kept:,} of {games:,} games are kept")
        self.kept = kept
        self.games = games


def run(
    tournament: Tournament,
    executor: Executor,
    folder: RunFolder | None = None,
    shown: int = NORMAL,
    *,
    store: Store | None = None,
    replace: bool = False,
) -> Outcome:
    """Play what is left of a tournament, and write its files to the folder.

    However the run ends, the folder's store keeps the games that were finished. A run with
    fewer bots or pairs is extended. With `replace`, the games of bots that have changed are
    played again. `shown` is the level from which the log is shown on the terminal. Without a
    folder the games are in `store`, which stays open, or are lost.

    Raises ChangedBots, InputError for a folder of another run, WorkerDied if workers die and
    no bot is to blame, ArenaError where the store cannot be written, and Interrupted after
    Ctrl-C.
    """
    with (
        run_log(folder.log if folder else None, shown) as log,
        exit_on_termination(),
        open_store(tournament, folder, store, replace=replace) as store,
    ):
        logger.info("run %s: %d games, %s", tournament.name, tournament.games, executor)
        started = time.perf_counter()
        try:
            under_way = _Run(tournament, store, show_progress=shown < QUIET)
            under_way.play(executor, log)
            files = under_way.write(folder)
        except BaseException as error:
            logger.info("run %s ended early: %s", tournament.name, type(error).__name__)
            if isinstance(error, KeyboardInterrupt):
                kept = sum(tally.games for tally in store.tallies())
                raise Interrupted(kept, tournament.games) from None
            raise
        seconds = time.perf_counter() - started
        played, kept = under_way.played, under_way.kept
        logger.info("run %s: played %d games in %.1f s", tournament.name, played, seconds)
    out = [*under_way.strikes.out]
    what = files.standings, files.findings
    return Outcome(*what, played, kept, out, seconds, under_way.timings)


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
        self.interim = Interim(self.pairings) if show_progress and is_terminal() else None
        self.lock = threading.Lock()  # of `interim`: another thread shows it
        self.importing = threading.Thread(target=_import_files)

    def play(self, executor: Executor, log: RunLog) -> None:
        """Play what the store does not have, and keep it there."""
        plan = Plan([self._missing(number) for number in range(len(self.pairings))], self.strikes)
        if self.interim and self.kept:
            store = self.store
            self.interim.begin(store.tallies(), store.pair_totals(), store.faults())
        with (
            show_progress(
                self.tournament.games,
                self.kept,
                self._standings,
                log.terminal,
                shown=self.show_progress,
            ) as update,
            closing(executor.play(plan, self.tournament, log)) as games,
        ):
            for played in games:
                if not self.played:  # pandas and scipy are imported while the workers play
                    self.importing.start()
                self._keep(played, plan)
                update(len(played.results))
        self._carry_out_forfeits()
        self.store.commit()

    def _standings(self) -> list[str]:
        """Return the standings so far, as soon as scipy has been imported."""
        if self.interim is None or not self.played or self.importing.is_alive():
            return []
        with self.lock:
            return [HEAD, *format_rows(self.interim.rows(), unrated="")]

    def _missing(self, number: int) -> list[range]:
        """Return the ranges of a pairing's pairs that are not in the store."""
        missing = []
        pairs = self.tournament.pairs
        start = 0
        for finished in [*self.store.finished(number), range(pairs, pairs)]:
            if start < finished.start:
                missing.append(range(start, finished.start))
            if finished:
                self.kept += 2 * len(finished)
                forfeits = self.store.forfeits(number, finished)
                self.strikes.finish(number, finished.start, len(finished), forfeits)
            start = finished.stop
        return missing

    def _keep(self, played: Played, plan: Plan) -> None:
        """Store a chunk for good: a commit takes 0.1 to 0.3 ms, and a chunk about 300 ms."""
        self.store.add(played)
        plan.learn(played)
        self._carry_out_forfeits()
        self.store.commit()
        if self.interim:
            with self.lock:
                self.interim.add(played)
        self.played += len(played.results)
        for label, timing in played.timings.items():
            self.timings.setdefault(label, Timing()).merge(timing)

    def _carry_out_forfeits(self) -> None:
        """Store the forfeits by rule that have become due."""
        for forfeits in self.strikes.take_due():
            self.store.forfeit(forfeits)
            label = self.pairings[forfeits.pairing][forfeits.loser]
            if label not in self.announced:
                self.announced.add(label)
                logger.warning(
                    "%s is out after %d faults: its remaining games are forfeits",
                    label,
                    self.tournament.max_faults,
                )

    def write(self, folder: RunFolder | None) -> Files:
        """Return the files of the run, and write them all except the store and the log."""
        from arena.results.files import make_files, timings_writer

        files = make_files(self.tournament, self.store)
        if folder:
            writers = dict(files.writers)
            if self.played:
                writers[TIMINGS] = timings_writer(self.timings, self.tournament.labels)
            folder.write(writers)
        return files


def _import_files() -> None:
    """Import pandas and scipy ahead of time; the files of a run need them."""
    with suppress(Exception):  # the program may be ending; a real fault is seen where they are used
        import arena.results.files  # noqa: F401
