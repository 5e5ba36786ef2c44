"""Starting: what all commands have in common that play tournaments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from arena.cli.options import warn
from arena.cli.outcome import describe_interruption
from arena.errors import ChangedBots, InputError, NoSites

if TYPE_CHECKING:
    from arena.executors.base import Executor
    from arena.results.folder import RunFolder
    from arena.tournament.bounds import ExecutorKind
    from arena.tournament.executor import ExecutorChoice

_T = TypeVar("_T")


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
        """Return where games are played; raises InputError."""
        from arena.tournament.executor import choose_executor

        return choose_executor(of_config, self.executor, self.scheduler, self.scheduler_file)

    def play(self, play: Callable[[bool], _T]) -> _T:
        """Return what `play` returns; where bots have changed, ask whether to replace their games.

        `play` is called with whether they are to be replaced, and raises ChangedBots.
        """
        try:
            return play(self.replace)
        except ChangedBots as changed:
            if not _agrees_to_replace(changed):
                raise
            return play(True)


@contextmanager
def stoppable(
    out: Path | None, choice: ExecutorChoice, workers: int | None, default: int | None = None
) -> Iterator[Executor]:
    """Yield what plays into a folder; Ctrl-C ends the command and says what is kept.

    Processes that bots have left are this program's children from now on.
    """
    from arena.executors.choice import open_executor
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
    return click.confirm("Delete their games, and play them again?", err=True)
