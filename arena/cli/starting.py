"""Starting: what all commands have in common that play tournaments."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import warn
from arena.cli.outcome import describe_interruption
from arena.errors import ChangedBots, InputError, NoSites

if TYPE_CHECKING:
    from arena.executors.contract import Executor
    from arena.store.folder import RunFolder
    from arena.tournament.keys import ExecutorChoice, ExecutorKind
    from arena.tournament.tournament import Tournament


@dataclass(frozen=True)
class How:
    """The values of the options that `add_run_options` and REPLACE add, but for seed, lane, out."""

    workers: int | None
    executor: ExecutorKind | None
    scheduler: str | None
    scheduler_file: str | None
    fresh: bool
    replace: bool
    strict: bool
    as_json: bool
    verbose: bool
    quiet: bool

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
            click.echo(f"removed from {folder.path}/: {', '.join(removed)}", err=True)

    def choose(self, of_config: ExecutorKind | ExecutorChoice | None = None) -> ExecutorChoice:
        """Return where games are played; raises InputError.

        A rank of MPI that is not the first serves here, and ends the command.
        """
        from arena.tournament.keys import choose_executor

        choice = choose_executor(of_config, self.executor, self.scheduler, self.scheduler_file)
        if choice.kind == "mpi":
            from arena.executors.pool import serve_if_not_root

            if serve_if_not_root():
                raise click.exceptions.Exit(0)
        return choice

    def prepare(
        self, tournament: Tournament, out: Path | None, place: Path | None = None
    ) -> tuple[How, list[str]]:
        """Return how a tournament is played, and a line for each bot that does not load.

        Where bots have changed since their games were played, asks whether to replace those.
        Raises InputError, which names the `place` that the tournament is from.
        """
        from arena.runs.prepare import prepare

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


@contextmanager
def stoppable(
    out: Path | None, choice: ExecutorChoice, workers: int | None, default: int | None = None
) -> Iterator[Executor]:
    """Yield what plays into a folder; Ctrl-C ends the command and says what is kept.

    Processes that bots have left are this program's children from now on.
    """
    from arena.executors.contract import open_executor
    from arena.lanes.cleanup import adopt_orphans
    from arena.runs.run import Interrupted

    adopt_orphans()
    try:
        with open_executor(choice, workers, default) as executor:
            yield executor
    except Interrupted as interrupted:
        raise click.Abort(describe_interruption(interrupted, out)) from None
    except NoSites as error:
        kept = f"; what was played is kept in {out}/, and the same command goes on" if out else ""
        raise NoSites(f"{error}{kept}") from None


def _agrees_to_replace(changed: ChangedBots) -> bool:
    """Ask whether the games of changed bots are to be played again, where somebody can answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    click.echo(str(changed).partition("; --replace")[0], err=True)
    return click.confirm("Play their games again? Those of before are kept until then", err=True)
