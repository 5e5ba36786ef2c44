"""Prepare, start and stop a tournament for a command, and print what it came to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import say, warn
from arena.errors import ChangedBots, InputError, NoSites, counted, shell_line

if TYPE_CHECKING:
    from arena.executors.contract import Executor
    from arena.runs.run import Interrupted, Outcome
    from arena.store.folder import RunFolder
    from arena.tournament.keys import Venue
    from arena.tournament.tournament import Tournament
    from engine import Rules

_RANKS = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"))
"""The variables by which MPI tells a process its rank, and how many there are."""

_FAST = 10  # games a second, which are shown without a decimal


def print_report(outcome: Outcome, rules: Rules, folder: Path | None, *, quiet: bool) -> None:
    """Print how many games were played, the standings, changed rules, the forfeits and the folder.

    When nothing else is asked for, the standings are printed where no file has them.
    """
    from arena.tables.summary import format_standings

    if quiet and folder:
        return
    if not quiet:
        say(count_games(outcome))
    say(*format_standings(outcome.standings))
    if quiet:
        return
    say(*(f"warning: {warning}" for warning in outcome.findings.warnings()), err=True)
    say(*_notes(outcome, rules, folder))


def _notes(outcome: Outcome, rules: Rules, folder: Path | None) -> Iterator[str]:
    """Yield what is said below the standings."""
    from arena.tournament.rule_changes import describe_changes

    if changed := describe_changes(rules):
        yield changed
    yield from outcome.findings.lines()
    yield from outcome.progress.describe_end(outcome.out)
    forfeits = int(outcome.standings["forfeits"].sum())
    if forfeits:
        yield counted(forfeits, "forfeit") + (f": see {folder}/faults.csv" if folder else "")
    for label, faults in outcome.out.items():
        yield f"{label} was out after {faults}"
    if folder:
        yield say_where(folder)


def say_where(folder: Path) -> str:
    """Return in which folder the files are; its name may hold anything."""
    return f"results in {folder}/"


def count_games(outcome: Outcome) -> str:
    """Return how many games were played, and how fast."""
    if not outcome.played:
        return f"nothing was left to play: all {outcome.kept:,} games were played before"
    speed = outcome.played / outcome.seconds
    rate = f"{speed:,.0f} games/s" if speed >= _FAST else f"{speed:.1f} games/s"
    kept = f", {outcome.kept:,} kept from before" if outcome.kept else ""
    return f"{outcome.played:,} games in {outcome.seconds:.1f} s, {rate}{kept}"


def to_document(
    outcome: Outcome, tournament: Tournament, folder: Path | None, problems: Sequence[str]
) -> dict[str, Any]:
    """Return what a run came to as plain data, without a reading of a clock."""
    from arena.tables.summary import plain_rows

    found = outcome.progress.find_open(outcome.out)
    return {
        "run": tournament.name,
        "folder": None if folder is None else str(folder),
        "games": 2 * outcome.progress.scheduled,
        "played": outcome.played,
        "kept": outcome.kept,
        "standings": plain_rows(outcome.standings),
        "forfeits": int(outcome.standings["forfeits"].sum()),
        "out": [*outcome.out],
        "unresolved": None if found is None else [one._asdict() for one in found],
        **outcome.findings.document(),
        "warnings": [*problems, *outcome.findings.warnings()],
    }


def describe_interruption(interrupted: Interrupted, folder: Path | None) -> str:
    """Return what is kept of an interrupted run, and the command that goes on with it."""
    if folder is None:
        return "nothing is kept without --out"
    words = [word for word in sys.argv[1:] if word != "--fresh"]
    kept = f"{interrupted.kept:,} of {interrupted.games:,} games are kept in {folder}/"
    return f"{kept}; go on with: {shell_line(['arena', *words])}"


@dataclass(frozen=True)
class How:
    """The values of the options that `add_run_options`, REPLACE and NO_REPEAT add.

    Without those of seed, lane and out.
    """

    venue: Venue
    fresh: bool = False
    replace: bool = False
    strict: bool = False
    as_json: bool = False
    verbose: bool = False
    quiet: bool = False
    no_repeat: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any], config: Venue | None = None) -> How:
        """Return what the options of a command say, whose defaults are those of a config.

        A rank of MPI that is not the first serves here, and ends the command.
        """
        own = {one.name: options[one.name] for one in fields(cls) if one.name in options}
        return cls(find_venue(options, config), **own)

    def __post_init__(self) -> None:
        if self.verbose and self.quiet:
            raise InputError("--verbose and --quiet: choose one of them")

    @property
    def shown(self) -> int:
        """The level from which the log is shown on the terminal."""
        from arena.executors import log

        return log.VERBOSE if self.verbose else log.QUIET if self.quiet else log.NORMAL

    def say(self, problems: Sequence[str]) -> None:
        """Warn of bots that do not load; raises InputError if nothing is to be played then."""
        if self.strict and problems:
            raise InputError(f"{problems[0]}; with --strict nothing is played")
        if not self.quiet:
            warn(problems)

    def clear(self, folder: RunFolder) -> None:
        """Remove an earlier run if that is asked for, and say so."""
        if not self.fresh:
            return
        removed = folder.clear()
        if removed and not self.quiet:
            say(f"removed from {folder.path}/: {', '.join(removed)}", err=True)

    def prepare(
        self, tournament: Tournament, out: Path | None, place: Path | None = None
    ) -> tuple[How, list[str]]:
        """Return how a tournament is played, and a line for each bot that does not load.

        Where bots have changed since their games were played, asks whether to replace those.
        Raises InputError, which names the `place` that the tournament is from.
        """
        from arena.runs.rerun import prepare

        try:
            problems = prepare(tournament, None if self.fresh or self.replace else out)
        except ChangedBots as changed:
            if not _agrees_to_replace(changed):
                raise
            return replace(self, replace=True).prepare(tournament, out, place)
        except InputError as error:
            raise InputError(f"{place}: {error}") if place else error from None
        self.say(problems)
        return self, problems

    def play(self, tournament: Tournament, out: Path | None) -> Outcome:
        """Play a tournament, into a folder if there is one, and return what it came to."""
        from arena.runs.run import run
        from arena.store.folder import RunFolder

        with stoppable(out, self.venue) as executor:
            if folder := RunFolder(out) if out else None:
                self.clear(folder)
            asked, again = self.replace, not self.no_repeat
            return run(tournament, executor, folder, self.shown, replace=asked, repeat=again)


def find_venue(options: Mapping[str, Any], config: Venue | None = None) -> Venue:
    """Return where the games of a command are played; raises InputError.

    A rank of MPI that is not the first serves here, and ends the command: so it comes before
    anything is read or written.
    """
    from arena.tournament.keys import HERE, choose_venue

    venue = choose_venue(options, config or HERE)
    if venue.kind == "mpi":
        from arena.addons import hook

        if hook("serve_if_not_root")():
            raise click.exceptions.Exit(0)
    elif venue.kind == "local" and "executor" in options:
        _refuse_ranks()
    return venue


@contextmanager
def stoppable(out: Path | None, venue: Venue) -> Iterator[Executor]:
    """Yield what plays into a folder; Ctrl-C and SIGTERM end the command and say what is kept.

    Processes that bots have left are this program's children from now on.
    """
    from arena.executors.contract import open_executor
    from arena.lanes.cleanup import adopt_orphans, interrupt_on_termination
    from arena.runs.run import Interrupted

    adopt_orphans()
    try:
        with interrupt_on_termination(), open_executor(venue) as executor:
            yield executor
    except Interrupted as interrupted:
        raise click.Abort(describe_interruption(interrupted, out)) from None
    except NoSites as error:
        kept = f"; what was played is kept in {out}/, and the same command goes on" if out else ""
        raise NoSites(f"{error}{kept}") from None


def _refuse_ranks() -> None:
    """Raise InputError on one of several ranks of MPI: each would play the whole run."""
    for of_rank, of_size in _RANKS:
        size = os.environ.get(of_size, "1")
        if size != "1":
            rank = os.environ.get(of_rank, "?")
            raise InputError(f"this is rank {rank} of {size}: --executor mpi is missing")


def _agrees_to_replace(changed: ChangedBots) -> bool:
    """Ask whether the games of changed bots are to be played again, where somebody can answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    say(str(changed).partition("; --replace")[0], err=True)
    return click.confirm("Play their games again? Those of before are kept until then", err=True)
