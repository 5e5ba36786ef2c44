"""Commands that read: bots, records, runs, the machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from arena.cli.options import NAMES, PATH, count_cores, tolerate_any_terminal
from arena.cli.whole import WORKERS
from arena.errors import InputError

if TYPE_CHECKING:
    from arena.records.naming import Naming

_POSITIVE = click.IntRange(1, sys.maxsize)


@click.command()
def bots() -> None:
    """List the bots in bots/, one line each.

    \b
    Example:
      arena bots
    """
    from arena.entries.resolve import installed

    rows = installed()
    width = max([len(name) for name, _ in rows], default=0)
    for name, description in rows:
        click.echo(f"{name:<{width}}  {description}")


@click.command()
@click.argument("file", type=PATH)
@click.option("--json", "json_lines", is_flag=True, help="One JSON object a line.")
def replay(file: Path, json_lines: bool) -> None:
    """Judge the game records of FILE, one JSON object a line; - is standard input.

    The exit status is 1 if a record is bad.

    \b
    Example:
      echo '{"deal": "555556666667777777888888882222334xxxyyyyzzCCC", "actions": "56T"}' |
        arena replay --json -
    """
    from arena.records.judge import judge, to_json, to_text
    from arena.records.lines import read_lines

    format_judgement = to_json if json_lines else to_text
    bad = False
    with _open_records(file) as records:
        for judgement in judge(read_lines(records)):
            bad |= "error" in judgement
            click.echo(format_judgement(judgement))
    sys.exit(1 if bad else 0)


@click.command()
@click.argument("record", type=PATH)
@click.option("--line", default=1, type=_POSITIVE, show_default=True, help="Which record.")
@click.option(
    "--names",
    type=NAMES,
    default="english",
    show_default=True,
    help="What the cards are called; deck is a standard deck of 52.",
)
def show(record: Path, line: int, names: Naming) -> None:
    """Print a game ply by ply: the row, hands, piles and the score so far.

    RECORD is a file with one game record a line; - is standard input.

    \b
    Example:
      echo '{"deal": "555556666667777777888888882222334xxxyyyyzzCCC", "actions": "56T"}' |
        arena show --names deck -
    """
    from arena.records.judge import parse_record
    from arena.records.lines import read_lines
    from arena.records.show import format_game
    from engine import EngineError

    with _open_records(record) as records:
        text = next(islice(read_lines(records), line - 1, None), None)
    if text is None:
        raise InputError(f"{record}: there is no line {line}")
    tolerate_any_terminal()
    try:
        for row in format_game(parse_record(text), names):
            click.echo(row)
    except EngineError as error:
        ply = getattr(error, "ply", None)
        place = f"line {line}" if ply is None else f"line {line}, ply {ply}"
        raise InputError(f"{record}: {place}: {error}") from None


@contextmanager
def _open_records(path: Path) -> Iterator[BinaryIO]:
    """Open a file of records; - is standard input."""
    from arena.entries.file import open_file

    if str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        file = open_file(path)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    with file:
        yield file


@click.command()
@click.argument("bot", required=False)
def doctor(bot: str | None) -> None:
    """Say what this machine offers to a run, and what to install.

    With BOT, say what this bot can read in the lane jail. The exit status is 1 if something
    that the arena needs is missing.

    \b
    Example:
      arena doctor
    """
    from arena.doctor import examine, examine_bot, format_findings

    tolerate_any_terminal()
    missing = False
    for finding in examine_bot(bot) if bot else examine():
        missing |= finding.ok is False and finding.what != "bubblewrap"  # needed only for the jail
        for line in format_findings([finding]):
            click.echo(line)
    sys.exit(1 if missing else 0)


@click.command()
@click.argument("run", type=PATH)
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Games of each pairing that the bots play again.",
)
@click.option("--workers", type=WORKERS, help="Worker processes for these games.")
def verify(run: Path, sample: int, workers: int | None) -> None:
    """Check the folder of a finished RUN: every game, every file.

    Replays every record with the engine, lets the bots play a sample of the games again,
    and makes every file again. Names the first thing that differs, with exit status 1.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/check &&
        arena verify results/check
    """
    from arena.executors.local import LocalExecutor
    from arena.runs.verify import verify as verify_run

    for line in verify_run(run, sample, LocalExecutor(workers or count_cores())):
        click.echo(line)


COMMANDS: list[click.Command] = [bots, replay, show, doctor, verify]
