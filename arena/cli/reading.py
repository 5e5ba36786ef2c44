"""Commands that read: bots, records, runs, the machine."""

from __future__ import annotations

import io
import sys
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import click

from arena.errors import InputError

_POSITIVE = click.IntRange(1)


@click.command()
def bots() -> None:
    """List the bots in bots/, one line each.

    \b
    Example:
      arena bots
    """
    from arena.entries.entry import installed

    rows = installed()
    width = max([len(name) for name, _ in rows], default=0)
    for name, description in rows:
        click.echo(f"{name:<{width}}  {description}")


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def replay(file: BinaryIO, as_json: bool) -> None:
    """Judge the game records of FILE, one JSON object a line; - is standard input.

    The exit status is 1 if a record is bad.

    \b
    Example:
      echo '{"deal": "555556666667777777888888882222334xxxyyyyzzCCC", "actions": "56T"}' |
        arena replay --json -
    """
    from arena.records import judge as replays

    shown = replays.as_json if as_json else replays.as_text
    bad = False
    for judgement in replays.judged(file):
        bad |= "error" in judgement
        click.echo(shown(judgement))
    sys.exit(1 if bad else 0)


@click.command()
@click.argument("record", type=click.File("rb"))
@click.option("--line", default=1, type=_POSITIVE, show_default=True, help="Which record.")
@click.option(
    "--names",
    type=click.Choice(["english", "german", "deck"]),
    default="english",
    show_default=True,
    help="What the cards are called; deck is a standard deck of 52.",
)
def show(record: BinaryIO, line: int, names: str) -> None:
    """Print a game ply by ply: the row, hands, piles and the score so far.

    RECORD is a file with one game record a line; - is standard input.

    \b
    Example:
      echo '{"deal": "555556666667777777888888882222334xxxyyyyzzCCC", "actions": "56T"}' |
        arena show --names deck -
    """
    from arena.records import show as shows
    from engine import EngineError, Record

    text = next(islice(record, line - 1, None), None)
    if text is None:
        raise InputError(f"{record.name}: there is no line {line}")
    _printable_anywhere()
    try:
        for shown in shows.shown(Record.from_json(text), names):
            click.echo(shown)
    except EngineError as error:
        ply = getattr(error, "ply", None)
        place = f"line {line}" if ply is None else f"line {line}, ply {ply}"
        raise InputError(f"{record.name}: {place}: {error}") from None


def _printable_anywhere() -> None:
    """Let a terminal without suits or umlauts show something else in their place."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


@click.command()
def doctor() -> None:
    """Say what this machine offers to a run, and what to install.

    The exit status is 1 if something that the arena needs is missing.

    \b
    Example:
      arena doctor
    """
    from arena import doctor as doctors

    _printable_anywhere()
    missing = False
    for finding in doctors.findings():
        missing |= finding.ok is False and finding.what != "bubblewrap"  # for the jail only
        for line in doctors.lines([finding]):
            click.echo(line)
    sys.exit(1 if missing else 0)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Games of each pairing that the bots play again.",
)
@click.option("--workers", type=click.IntRange(1, 256), help="Worker processes for these games.")
def verify(run: Path, sample: int, workers: int | None) -> None:
    """Check the folder of a finished RUN: every game, every file.

    Replays every record with the engine, lets the bots play a sample of the games again,
    and works out every file anew. Names the first thing that differs, with exit status 1.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/check && arena verify results/check
    """
    from arena.runs import verify as verifying

    for line in verifying.verified(run, sample, workers):
        click.echo(line)


COMMANDS: list[click.Command] = [bots, replay, show, doctor, verify]
