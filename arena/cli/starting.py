"""Prepare, start and stop a tournament for a command, and print its result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena import errors
from arena.cli.options import say, terminal_room, warn, with_options
from arena.errors import ChangedBots, InputError, NoSites, Unreachable, counted, naming, wrapped

if TYPE_CHECKING:
    from arena.runs.run import Interrupted, Outcome, Playing
    from arena.tournament.config_keys import Venue
    from arena.tournament.tournament import Tournament

_RANKS = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"))
"""The variables by which MPI tells a process its rank, and how many there are."""

_FAST = 10  # games a second, which are shown without a decimal


def print_report(
    outcome: Outcome, tournament: Tournament, folder: Path | None, *, quiet: bool
) -> None:
    """Print how many games were played, what was found, the standings, remarks and the folder.

    Without another option, the standings are printed where no file has them.
    """
    if quiet and folder:
        return
    if not quiet:
        say(count_games(outcome))
        say(*wrapped(outcome.sentence))
    say(*outcome.lines(terminal_room()))
    if quiet:
        return
    say(*(f"warning: {warning}" for warning in outcome.findings.warnings()), err=True)
    say(*_list_notes(outcome, tournament, folder))


def _list_notes(outcome: Outcome, tournament: Tournament, folder: Path | None) -> Iterator[str]:
    """Yield what is said below the standings."""
    from arena.tournament.rules_and_deals import describe_changes, describe_deals

    said = describe_changes(tournament.rules), describe_deals(tournament.deals, tournament.pairs)
    yield from filter(None, said)
    yield from outcome.findings.lines()
    yield from outcome.progress.describe_end(outcome.out)
    if outcome.forfeits:
        yield counted(outcome.forfeits, "forfeit") + (
            f": see {folder}/faults.csv" if folder else ""
        )
    for label, faults in outcome.out.items():
        yield f"{label} was out after {faults}"
    if folder:
        yield describe_folder(folder)
    if outcome.spending:
        yield str(outcome.spending)


def describe_folder(folder: Path) -> str:
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


def describe_interruption(interrupted: Interrupted, folder: Path | None) -> str:
    """Return what is kept of an interrupted run, and the command that continues it."""
    if folder is None:
        return "nothing is kept without --out"
    words = [word for word in sys.argv[1:] if word != "--fresh"]
    return f"{interrupted} in {folder}/; go on with: {errors.shell_line(['arena', *words])}"


def make_playing(options: Mapping[str, Any], config: Venue | None = None) -> Playing:
    """Return how the options of a command say to play, whose defaults are those of a config."""
    from arena.executors import log
    from arena.runs.run import Playing

    venue, verbose, quiet = find_venue(options, config), options["verbose"], options["quiet"]
    if verbose and quiet:
        raise InputError("--verbose and --quiet: choose one of them")
    return Playing(
        venue,
        options["out"],
        options["fresh"],
        options.get("replace", False),
        not options.get("no_repeat"),
        log.VERBOSE if verbose else log.QUIET if quiet else log.NORMAL,
        (lambda _: None) if quiet else partial(say, err=True),
    )


def read_tournament(
    config: Path, path: Path, options: Mapping[str, Any]
) -> tuple[Tournament, Playing]:
    """Return the tournament of a config, which is in this file, and how options say to play it."""
    from arena.tournament.config import made_from, make_tournament, read

    own = list[Any]() if options["more"] else None  # which are added below
    settings = with_options(read(path, pairs=options["pairs"], bots=own), options)
    how = make_playing(options, settings)
    with naming(config), made_from(settings, path):
        bots = options["more"], options["against"], options["lane"]
        return make_tournament(settings, *bots), how


def prepare(
    tournament: Tournament, how: Playing, options: Mapping[str, Any], place: Path | None = None
) -> list[str]:
    """Return a line for each bot that does not load, after a warning.

    Raises ChangedBots, and InputError, which names the `place` that the tournament is from.
    """
    from arena.runs import rerun

    try:
        problems = rerun.prepare(tournament, how.kept)
    except ChangedBots:
        raise
    except InputError as error:
        raise InputError(f"{place}: {error}") if place else error from None
    report_problems(problems, options)
    return problems


def report_problems(problems: Sequence[str], options: Mapping[str, Any]) -> None:
    """Warn of bots that do not load; raises InputError if nothing is to be played then."""
    if options["strict"] and problems:
        raise InputError(f"{problems[0]}; with --strict nothing is played")
    if not options["quiet"]:
        warn(problems)


def find_venue(options: Mapping[str, Any], config: Venue | None = None) -> Venue:
    """Return where the games of a command are played; raises InputError."""
    from arena.tournament.config_keys import HERE, choose_venue

    venue = choose_venue(options, config or HERE)
    if venue.kind == "local" and "executor" in options:
        _refuse_ranks()
    return venue


@contextmanager
def stoppable(out: Path | None) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end what plays into a folder, and say what is kept.

    Processes that bots have left are this program's children from now on.
    """
    from arena.lanes.signals import interrupt_on_termination
    from arena.processes import adopt_orphans
    from arena.runs.run import Interrupted

    adopt_orphans()
    try:
        with interrupt_on_termination():
            yield
    except Interrupted as interrupted:
        raise click.Abort(describe_interruption(interrupted, out)) from None
    except (NoSites, Unreachable) as error:
        kept = f"; what was played is kept in {out}/, and the same command goes on" if out else ""
        raise type(error)(f"{error}{kept}") from None


def _refuse_ranks() -> None:
    """Raise InputError on one of several ranks of MPI: each would play the whole run."""
    for of_rank, of_size in _RANKS:
        size = os.environ.get(of_size, "1")
        if size != "1":
            rank = os.environ.get(of_rank, "?")
            raise InputError(f"this is rank {rank} of {size}: --executor mpi is missing")
