"""Run a tournament: play the games missing in its store, and write its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import count_of
from arena.executors.local import Executor, LocalExecutor, open_executor
from arena.executors.log import NORMAL, QUIET, RunLog, logger, run_log
from arena.processes import exit_on_termination, signals_held
from arena.runs.next_round import RunProgress
from arena.runs.progress_bar import FirstFaults, show_progress
from arena.runs.rerun import LEAST, choose_pairs, find_varying
from arena.runs.stored_run import Waiting, open_store, write_files
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tables.standings_text import format_standings
from arena.tournament.config_keys import HERE, MOST_PAIRS, Venue
from arena.tournament.plan import Plan, Played
from arena.tournament.schedule import PairRange, Strikes
from arena.tournament.timing import Clocks, Spending, Timing
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.differences.comparison import SprtResult
    from arena.differences.run_files import RunTables
    from arena.tables.findings import Findings


@dataclass(frozen=True)
class Outcome:
    """The result of a run: games played now, games kept from before, seconds to the last file.

    `standings` are the rows of standings.csv, with None in empty cells. `progress` has the pairs of
    each pairing, and their scores if the run had several rounds; `out` has the faults of bots that
    had too many, as text by label; `timings` are by label. `spending` is None if nothing was
    played, or on other machines. `comparison` is set if the run is a comparison, and `sentence` is
    its finding, the first one of its report.
    """

    standings: Sequence[Mapping[str, Any]]
    findings: Findings
    progress: RunProgress
    played: int
    kept: int
    out: Mapping[str, str]
    seconds: float
    timings: Mapping[str, Timing]
    spending: Spending | None
    comparison: SprtResult | None = None
    sentence: str = ""

    @property
    def forfeits(self) -> int:
        """The number of games that were forfeited."""
        return sum(row["forfeits"] for row in self.standings)

    def lines(self, room: int | None = None) -> Iterator[str]:
        """Return the standings as lines of text, of at most `room` columns."""
        return format_standings(self.standings, room)

    def document(self, name: str, folder: Path | None, problems: Sequence[str]) -> dict[str, Any]:
        """Return the result as plain data, without a reading of a clock.

        `name` is the tournament's; `problems` has a line for each bot that does not load.
        """
        found = self.progress.find_open(self.out)
        return {
            "run": name,
            "folder": None if folder is None else str(folder),
            "games": 2 * self.progress.scheduled,
            "played": self.played,
            "kept": self.kept,
            "standings": [*self.standings],
            "forfeits": self.forfeits,
            "out": [*self.out],
            "unresolved": None if found is None else [one._asdict() for one in found],
            **self.findings.document(),
            "warnings": [*problems, *self.findings.warnings()],
        }


class Interrupted(KeyboardInterrupt):
    """Raised at Ctrl-C; `kept` of the run's `games` are in the store, which may be the most."""

    def __init__(self, kept: int, games: int, done: str = "kept", *, at_most: bool = False) -> None:
        super().__init__(f"{count_of(kept, games, at_most=at_most)} are {done}")
        self.kept = kept
        self.games = games


@dataclass(frozen=True)
class Playing:
    """How games are played: where, into which folder, with which earlier games, and what is shown.

    Without `out` they are in no folder. `fresh` removes a run that is there; `replace` and `repeat`
    are those of `run`, `shown` is the level of the log, and `tell` gets lines about the progress.
    """

    venue: Venue = HERE
    out: Path | None = None
    fresh: bool = False
    replace: bool = False
    repeat: bool = True
    shown: int = NORMAL
    tell: Callable[[str], object] = lambda _: None

    @property
    def kept(self) -> Path | None:
        """The folder whose games are part of the run, None if it begins anew."""
        return None if self.fresh or self.replace else self.out

    def play(self, tournament: Tournament, store: Store | None = None) -> Outcome:
        """Play what is left of a tournament; without `out` its games go to `store`.

        Raises what `run` raises.
        """
        folder = RunFolder(self.out) if self.out else None
        with open_executor(self.venue) as executor:
            if folder and self.fresh and (removed := folder.clear()):
                self.tell(f"removed from {folder.path}/: {', '.join(removed)}")
            at = tournament, executor, folder, self.shown
            return run(*at, store=store, replace=self.replace, repeat=self.repeat)


def run(
    tournament: Tournament,
    executor: Executor,
    folder: RunFolder | None = None,
    shown: int = NORMAL,
    *,
    store: Store | None = None,
    replace: bool = False,
    repeat: bool = False,
) -> Outcome:
    """Play the missing games of a tournament, and write its files to the folder.

    However the run ends, the folder's store keeps the finished games. A stored run with fewer bots
    or pairs is extended. With `replace`, the games of bots that have changed are played again. With
    `repeat`, some games are repeated at the end, to find bots whose moves differ. `shown` is the
    level from which the log is shown on the terminal. Without a folder the games are kept in
    `store`, which stays open, or are lost.

    Raises ChangedBots, InputError for a folder of another run, WorkerDied if workers die and no bot
    is to blame, ArenaError if the store cannot be written, and Interrupted after Ctrl-C.
    """
    started = time.perf_counter()
    opened = _start(tournament, folder, shown, f"{executor}", store, replace=replace)
    with opened as (under_way, log):
        under_way.repeats = repeat
        under_way.play(executor, log)
        under_way.clocks.end_play()
        tables = under_way.write(folder)
        spending = None
        if under_way.played and isinstance(executor, LocalExecutor):  # its workers are our children
            spending = under_way.clocks.read(log.played)
        outcome = under_way.outcome(tables, time.perf_counter() - started, spending)
        played = f"played {outcome.played} games in {outcome.seconds:.1f} s"
        logger.info("run %s: %s", tournament.name, played)
        if outcome.spending:
            logger.info("%s", outcome.spending)
    return outcome


def play_games(
    tournament: Tournament, executor: Executor, folder: RunFolder, shown: int = NORMAL
) -> tuple[int, int]:
    """Play the missing games of a tournament into the folder's store; write no other files.

    Returns the numbers of games played now and kept from before. Raises what `run` raises.
    """
    with _start(tournament, folder, shown, f"{executor}") as (under_way, log):
        under_way.play(executor, log)
    return under_way.played, under_way.kept


@contextmanager
def _start(
    tournament: Tournament,
    folder: RunFolder | None,
    shown: int,
    where: str,
    store: Store | None = None,
    *,
    replace: bool = False,
) -> Iterator[tuple[_Run, RunLog]]:
    """Open a run: yield it with its log; at the end close both."""
    with (
        run_log(folder.log if folder else None, shown) as log,
        exit_on_termination(),
        open_store(tournament, folder, store, replace=replace) as (store, tournament),
    ):
        games = f"{'at most ' if tournament.stop else ''}{tournament.games} games"
        logger.info("run %s: %s, %s", tournament.name, games, where)
        under_way = _Run(tournament, store, show_progress=shown < QUIET)
        log.tell = under_way.first_faults.tell
        try:
            yield under_way, log
        except BaseException as error:
            logger.info("run %s ended early: %s", tournament.name, type(error).__name__)
            store.roll_back()
            if isinstance(error, KeyboardInterrupt):
                kept, stop = store.count_games(), tournament.stop
                raise Interrupted(kept, tournament.games, at_most=bool(stop)) from None
            raise


class _Run:
    """The state of one run: its store, rounds, strikes and counts so far."""

    def __init__(self, tournament: Tournament, store: Store, *, show_progress: bool) -> None:
        self.tournament = tournament
        self.store = store
        self.show_progress = show_progress
        self.pairings = tournament.pairings
        self.progress = RunProgress(tournament, store)
        self.strikes = Strikes(self.pairings, 0, tournament.max_faults)
        self.timings: dict[str, Timing] = {}
        self.clocks = Clocks()
        self.played = self.kept = 0
        self.status: Callable[[], str] = str
        self.announced: set[str] = set()
        self.repeats = False
        self.varying: set[str] = set()
        self.waiting = Waiting()
        self.first_faults = FirstFaults(tournament)

    def play(self, executor: Executor, log: RunLog) -> None:
        """Play the games missing in the store, round by round, and store them."""
        plan = Plan([], self.strikes)
        goes_on = self._go_on(plan)
        with show_progress(
            *(self.tournament.games, self.kept, lambda: self.status(), log.terminal),
            shown=self.show_progress,
            at_most=bool(self.tournament.stop),
        ) as shown:
            while goes_on:
                with self._kept(), closing(executor.play(plan, self.tournament, log)) as games:
                    for played in games:
                        if played.chunk.again:
                            plan.learn(played)
                            self._warn_of_varying(played)
                            continue
                        self._take(played)
                        plan.learn(played)
                        shown.add(len(played.results))
                        if not (plan.is_finished or self.waiting.are_due):
                            continue
                        with signals_held():
                            self._keep()
                            if plan.is_finished and self._go_on(plan):
                                shown.kept = self.kept
                goes_on = self._go_on(plan)
        self.store.trim(self.pairings, self.progress.lengths)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Store the chunks that wait at the end of the block, however it ends."""
        try:
            yield
        finally:
            with signals_held():
                self._keep()

    def _go_on(self, plan: Plan) -> bool:
        """Begin rounds until one has missing games; return whether there is anything to play.

        A round begins when all games of the previous one are in the store. After the last one some
        games are repeated, to find bots whose moves differ.
        """
        while plan.is_finished:  # the missing games of a round may be forfeits by rule
            self._carry_out_forfeits()
            self.store.commit()
            ranges = self.progress.next_round(self.strikes.out)
            if not ranges:
                return self._repeat(plan)
            self.strikes.extend(ranges)
            if self.show_progress:
                self.status = cache(self.progress.snapshot())
            plan.add(self._find_missing(ranges), spread=self.progress.number > 1)
        return True

    def _find_missing(self, ranges: Sequence[PairRange]) -> list[tuple[int, range]]:
        """Return the pairs of a round that are not in the store, in ranges by pairing."""
        missing = []
        finished, forfeits = self.store.finished(ranges), self.store.forfeits(ranges)
        for number, start, end in ranges:
            for pairs in [*finished[number], range(end, end)]:
                if start < pairs.start:
                    missing.append((number, range(start, pairs.start)))
                if pairs:
                    self.kept += 2 * len(pairs)
                    self.strikes.finish(number, pairs.start, len(pairs), forfeits[number])
                start = pairs.stop
        return missing

    def _take(self, played: Played) -> None:
        """Take a chunk, to be stored together with others."""
        self.waiting.add(played)
        self.played += len(played.results)
        for label, timing in played.timings.items():
            self.timings.setdefault(label, Timing()).merge(timing)

    def _keep(self) -> None:
        """Store and commit the chunks that wait: 1 ms at least, whatever their number."""
        if not (chunks := self.waiting.take()):
            return
        self.store.add(*chunks)
        for played in chunks:
            for result in played.forfeits:
                self.first_faults.tell(played.chunk.pairing, result)
        self._carry_out_forfeits()
        self.store.commit()

    def _repeat(self, plan: Plan) -> bool:
        """Begin to repeat some games, if enough have been played, but only once."""
        if not self.repeats or plan.again or self.played < LEAST:
            return False
        logger.info("some games are played again")
        lengths = [self.progress.lengths.get(number, 0) for number in range(len(self.pairings))]
        strikes = Strikes(self.pairings, max(lengths), MOST_PAIRS)  # faults drop no bot here
        plan.repeat(choose_pairs(self.tournament, lengths), strikes)
        return not plan.is_finished

    def _warn_of_varying(self, again: Played) -> None:
        for label, fixture, ply in find_varying(self.tournament, self.store, again):
            if label not in self.varying:
                self.varying.add(label)
                logger.warning(
                    "%s: its moves differ when a game is repeated (%s, ply %d): they depend on "
                    "earlier games, its clock or its own randomness",
                    label,
                    fixture.name,
                    ply,
                )

    def _carry_out_forfeits(self) -> None:
        """Store the forfeits by rule of bots that have just had too many faults."""
        for forfeits in self.strikes.take_due():
            self.store.forfeit(forfeits)
            label = self.pairings[forfeits.pairing][forfeits.loser]
            if label not in self.announced:
                self.announced.add(label)
                faults = self.strikes.describe_out()[label]
                logger.warning(
                    "%s is out after %s: its remaining games are forfeits", label, faults
                )

    def write(self, folder: RunFolder | None) -> RunTables:
        """Write all files of the run except the store and the log; return its tables."""
        from arena.differences.run_files import RunTables
        from arena.store.csv_files import csv_writer, make_timings

        files = RunTables(self.tournament, self.store)
        if folder:
            timings = csv_writer(make_timings(self.timings, self.tournament.labels))
            write_files(
                folder, self.tournament, self.store, files, timings if self.played else None
            )
            folder.replaced.unlink(missing_ok=True)
        return files

    def outcome(self, tables: RunTables, seconds: float, spending: Spending | None) -> Outcome:
        """Return the result of the run, with these tables of its games."""
        from arena.tables.headline import headline_of

        found = tables.comparison
        sentence = found.sentence if found else ""
        if not found and tables.counts.total:
            sentence = headline_of(self.tournament, tables, finished=True).sentence()
        own = self.progress, self.played, self.kept, self.strikes.describe_out(), seconds
        rows = tables.rows
        return Outcome(rows, tables.findings, *own, self.timings, spending, found, sentence)
