"""The command `arena`: what can be asked for on the command line."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from arena.errors import ArenaError, InputError

if TYPE_CHECKING:
    from arena.config import Config
    from arena.load import Entry
    from arena.tournament import Results, Tournament

_SEED = click.IntRange(0, 2**63 - 1)
_POSITIVE = click.IntRange(1)
_WORKERS = click.IntRange(1, 256)
_INTERRUPTED = 130

_Command = Callable[..., Any]


def _run_options(command: _Command) -> _Command:
    """Add the options that `run` and `play` share."""
    options = [
        click.option("--workers", type=_WORKERS, help="Worker processes.  [default: all cores]"),
        click.option("--seed", type=_SEED, help="Seed of all randomness.  [default: 0]"),
        click.option("--out", type=click.Path(path_type=Path), help="Folder for the results."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="district-noir-arena")
def cli() -> None:
    """Tournaments between bots that play District Noir.

    \b
    Example:
      arena play greedy uniform --pairs 100
    """


@cli.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--pairs", type=_POSITIVE, help="Deals for each two bots, each played twice.")
@click.option("--bot", "more", multiple=True, metavar="BOT", help="One more bot; repeatable.")
@_run_options
def run(
    config: Path,
    pairs: int | None,
    more: Sequence[str],
    workers: int | None,
    seed: int | None,
    out: Path | None,
) -> None:
    """Play the tournament of a CONFIG file, and write its results.

    The results go to results/NAME, the config's name, in place of an earlier run's.
    Options override the config. A BOT is a name in bots/, a file ./my_bot.py or a
    package.module, with parameters in brackets: name(depth=3); label=BOT names it.

    \b
    Example:
      arena run configs/quickstart.yaml --pairs 50 --bot ./my_bot.py
    """
    from arena.config import read

    settings = read(config)
    tournament = _from_config(config, settings, more, seed=seed, pairs=pairs)
    _play(tournament, workers or settings.workers, out or Path("results") / settings.name)


@cli.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT ...]")
@click.option(
    "--pairs", type=_POSITIVE, default=100, show_default=True, help="Deals for each two bots."
)
@_run_options
def play(
    bots: Sequence[str], pairs: int, workers: int | None, seed: int | None, out: Path | None
) -> None:
    """Play bots against each other without a config; nothing is written without --out.

    \b
    Example:
      arena play greedy uniform --pairs 100
    """
    from arena.load import load
    from engine import STANDARD

    tournament = _tournament("play", seed or 0, pairs, [load(spec) for spec in bots], STANDARD)
    _play(tournament, workers, out)


@cli.command()
def bots() -> None:
    """List the bots in bots/, one line each.

    \b
    Example:
      arena bots
    """
    from arena.load import installed

    rows = installed()
    width = max([len(name) for name, _ in rows], default=0)
    for name, description in rows:
        click.echo(f"{name:<{width}}  {description}")


@cli.command()
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
    from arena import replay as replays

    shown = replays.as_json if as_json else replays.as_text
    bad = False
    for judgement in replays.judged(file):
        bad |= "error" in judgement
        click.echo(shown(judgement))
    sys.exit(1 if bad else 0)


@cli.command()
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
    from arena import show as shows
    from engine import EngineError, Record

    text = next(islice(record, line - 1, None), None)
    if text is None:
        raise InputError(f"{record.name}: there is no line {line}")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without suits or umlauts
    try:
        for shown in shows.shown(Record.from_json(text), names):
            click.echo(shown)
    except EngineError as error:
        ply = getattr(error, "ply", None)
        place = f"line {line}" if ply is None else f"line {line}, ply {ply}"
        raise InputError(f"{record.name}: {place}: {error}") from None


def _from_config(
    path: Path, config: Config, more: Sequence[str], *, seed: int | None, pairs: int | None
) -> Tournament:
    from arena.config import entries

    try:
        return _tournament(
            config.name,
            config.seed if seed is None else seed,
            pairs or config.pairs,
            entries(config, more),
            config.game_rules(),
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _tournament(
    name: str, seed: int, pairs: int, entries: Sequence[Entry], rules: Any
) -> Tournament:
    from arena.load import check_labels
    from arena.tournament import Tournament

    if len(entries) < 2:
        raise InputError(f"bots: a tournament needs two, there is {len(entries)}")
    check_labels(entries)
    return Tournament(name, seed, pairs, entries, rules)


def _play(tournament: Tournament, workers: int | None, out: Path | None) -> None:
    import os

    from arena.folder import RunFolder
    from arena.tournament import run

    folder = RunFolder(out) if out else None
    results = run(tournament, workers or os.cpu_count() or 1, folder)
    _report(results, out)


def _report(results: Results, folder: Path | None) -> None:
    from arena import summary

    standings = results.tables["standings.csv"]
    games = len(results.tables["games.csv"])
    click.echo(
        f"{games:,} games in {results.seconds:.1f} s, {games / results.seconds:,.0f} games/s"
    )
    for line in summary.lines(standings):
        click.echo(line)
    forfeits = int(standings["forfeits"].sum())
    if forfeits:
        click.echo(f"{forfeits} forfeits" + (f": see {folder}/run.log" if folder else ""))
    if folder:
        click.echo(f"results in {folder}/")


def main() -> None:
    """Run the command; every error is one line and exit status 2, or 1 where a run failed."""
    try:
        status = cli.main(standalone_mode=False)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(_INTERRUPTED)
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        sys.exit(error.exit_code)
    except ArenaError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except OSError as error:  # a full disk, a folder that is gone
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)
