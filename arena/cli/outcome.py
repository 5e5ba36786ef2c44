"""Outcome: what a command says of a tournament that it has played, or that was interrupted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.errors import counted, escape

_FAST = 10  # games a second, which are shown without a decimal

if TYPE_CHECKING:
    from arena.runs.run import Interrupted, Outcome
    from arena.tournament.tournament import Tournament


def print_report(outcome: Outcome, folder: Path | None, *, quiet: bool) -> None:
    """Print how many games were played, the standings, the forfeits and the folder.

    When nothing else is asked for, the standings are printed where no file has them.
    """
    from arena.insight.summary import format_standings

    if quiet and folder:
        return
    if not quiet:
        click.echo(count_games(outcome))
    for line in format_standings(outcome.standings):
        click.echo(line)
    if quiet:
        return
    for warning in outcome.findings.warnings():
        click.echo(f"warning: {escape(warning)}", err=True)
    for line in _notes(outcome, folder):
        click.echo(line)


def _notes(outcome: Outcome, folder: Path | None) -> Iterator[str]:
    """Yield what is said below the standings."""
    yield from outcome.findings.lines()
    yield from outcome.progress.describe_end(outcome.out)
    forfeits = int(outcome.standings["forfeits"].sum())
    if forfeits:
        yield counted(forfeits, "forfeit") + (f": see {folder}/faults.csv" if folder else "")
    for label, faults in outcome.out.items():
        yield f"{label} was out after {faults}"
    if folder:
        yield f"results in {folder}/"


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
    from arena.insight.summary import plain_rows

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
    return f"{kept}; go on with: {shlex.join(['arena', *words])}"
