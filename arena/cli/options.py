"""Options: what several commands ask for in the same way."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from arena.entries.lane import LANES
from arena.errors import InputError
from arena.records.naming import NAMINGS
from arena.tournament.bounds import MOST_PAIRS, MOST_SEED, MOST_WORKERS

SEED: Final = click.IntRange(0, MOST_SEED)
PAIRS: Final = click.IntRange(1, MOST_PAIRS)
WORKERS: Final = click.IntRange(1, MOST_WORKERS)
LANE: Final = click.Choice(LANES)
NAMES: Final = click.Choice(NAMINGS)
PATH: Final = click.Path(path_type=Path)

AGAINST: Final = click.option(
    "--against",
    multiple=True,
    metavar="BOT",
    help="Play only against this bot, not one another; repeatable.",
)
REPLACE: Final = click.option(
    "--replace", is_flag=True, help="Play the games of bots that have changed again."
)

_Command = Callable[..., Any]
_T = TypeVar("_T")


def add_run_options(command: _Command) -> _Command:
    """Add the options that `run` and `play` share."""
    options = [
        click.option("--workers", type=WORKERS, help="Worker processes.  [default: all cores]"),
        click.option("--seed", type=SEED, help="Seed of all randomness.  [default: 0]"),
        click.option("--lane", type=LANE, help="How all bots are executed."),
        click.option("--out", type=PATH, help="Folder for the results."),
        click.option("--fresh", is_flag=True, help="Remove what is there, and start over."),
        click.option("--verbose", "-v", is_flag=True, help="Show the log."),
        click.option("--quiet", "-q", is_flag=True, help="Show only errors."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def parse_json(option: str, text: str, wanted: type[_T]) -> _T:
    """Return the value of an option that is JSON; raises InputError."""
    import msgspec

    try:
        return msgspec.json.decode(text, type=wanted)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise InputError(f"{option}: {error}") from None


def warn(problems: Iterable[str]) -> None:
    """Print a line for each bot that does not load."""
    for problem in problems:
        click.echo(f"warning: {problem}; its games are forfeits", err=True)


def count_cores() -> int:
    """Return how many workers there are by default."""
    return os.cpu_count() or 1


def tolerate_any_terminal() -> None:
    """Let a terminal without suits or umlauts show something else in their place."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
