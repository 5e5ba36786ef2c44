"""Commands that play a tournament: of a config, or of a few bots."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import person
from arena.cli.options import (
    AGAINST,
    NAMES,
    PAIRS,
    PATH,
    REPLACE,
    add_run_options,
    count_cores,
    warn,
)
from arena.errors import ChangedBots, InputError

if TYPE_CHECKING:
    from arena.runs.run import Outcome
    from arena.tournament.tournament import Tournament

_GAMES = click.IntRange(1, 1_000)


@click.command()
@click.argument("config", type=PATH)
@click.option("--pairs", type=PAIRS, help="Deals for each two bots, each played twice.")
@click.option("--bot", "more", multiple=True, metavar="BOT", help="One more bot; repeatable.")
@AGAINST
@REPLACE
@add_run_options
def run(
    config: Path,
    pairs: int | None,
    more: Sequence[str],
    against: Sequence[str],
    seed: int | None,
    lane: str | None,
    out: Path | None,
    **how: Any,
) -> None:
    """Play the tournament of a CONFIG file, and write its results.

    CONFIG can be the name of one that comes with the arena, such as quickstart or ladder.
    The results go to results/NAME, the config's name. A run that was stopped goes on from
    where it was; one that is finished is not played again. Options override the config. A
    BOT is a name in bots/, a file ./my_bot.py, a package.module or cmd:COMMAND, with
    parameters in brackets: name(depth=3); label=BOT names it.

    \b
    Example:
      arena run quickstart --pairs 50 --bot ./my_bot.py
    """
    from arena.runs.prepare import prepare
    from arena.tournament.config import make_tournament, read
    from arena.tournament.shipped import find_config

    settings = read(find_config(config))
    how["workers"] = how["workers"] or settings.workers
    try:
        tournament = make_tournament(settings, more, against, seed=seed, pairs=pairs, lane=lane)
        problems = prepare(tournament)
    except InputError as error:
        raise InputError(f"{config}: {error}") from None
    _play(tournament, problems, out or Path("results") / settings.name, **how)


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT ...]")
@click.option(
    "--pairs", type=PAIRS, default=100, show_default=True, help="Deals for each two bots."
)
@click.option(
    "--games", type=_GAMES, default=1, show_default=True, help="With `human`: how many games."
)
@click.option(
    "--names",
    type=NAMES,
    default="english",
    show_default=True,
    help="With `human`: what the cards are called.",
)
@AGAINST
@REPLACE
@add_run_options
def play(
    bots: Sequence[str],
    pairs: int,
    games: int,
    names: str,
    against: Sequence[str],
    seed: int | None,
    lane: str | None,
    out: Path | None,
    **how: Any,
) -> None:
    """Play bots against each other without a config; nothing is written without --out.

    With `human` for one of two bots, you play against the other: `arena play human greedy`.
    Every game is added to results/human/games.jsonl, even one that you leave with quit (exit
    status 0), with Ctrl-C (130) or by the end of the input (1). The seed, a new one if you
    give none, decides the deals; options for a person are --games, --names, --seed, --lane
    and --out.

    \b
    Example:
      arena play greedy uniform --pairs 100
    """
    from arena.entries.resolve import resolve
    from arena.runs.prepare import prepare
    from arena.tournament.tournament import Tournament
    from engine import STANDARD

    if person.is_asked_for(bots):
        person.play(bots, seed=seed, lane=lane, out=out, games=games, names=names)
        return
    person.refuse_options("games", "names", why="only for a game with a person")
    entries = [resolve(spec, lane=lane) for spec in (*bots, *against)]
    tournament = Tournament("play", seed or 0, pairs, entries, STANDARD, panel=len(against))
    _play(tournament, prepare(tournament), out, **how)


def _play(
    tournament: Tournament,
    problems: Sequence[str],
    out: Path | None,
    *,
    workers: int | None,
    fresh: bool,
    replace: bool,
    verbose: bool,
    quiet: bool,
) -> None:
    from arena.executors import log
    from arena.executors.local import LocalExecutor
    from arena.lanes.cleanup import adopt_orphans
    from arena.results.folder import RunFolder
    from arena.runs.run import run

    if verbose and quiet:
        raise InputError("--verbose and --quiet: choose one of them")
    if not quiet:
        warn(problems)
    folder = RunFolder(out) if out else None
    if folder and fresh:
        with folder.locked():
            removed = folder.clear()
        if removed and not quiet:
            click.echo(f"removed from {out}/: {', '.join(removed)}", err=True)
    adopt_orphans()
    shown = log.VERBOSE if verbose else log.QUIET if quiet else log.NORMAL
    executor = LocalExecutor(workers or count_cores())
    try:
        outcome = run(tournament, executor, folder, shown, replace=replace)
    except ChangedBots as changed:
        if not _agrees_to_replace(changed):
            raise
        outcome = run(tournament, executor, folder, shown, replace=True)
    if not quiet:
        _report(outcome, tournament, out)


def _agrees_to_replace(changed: ChangedBots) -> bool:
    """Ask whether the games of changed bots are to be played again, where somebody can answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    click.echo(str(changed).partition("; --replace")[0], err=True)
    return click.confirm("Delete their games, and play them again?", err=True)


def _report(outcome: Outcome, tournament: Tournament, folder: Path | None) -> None:
    from arena.results.summary import format_standings

    rate = f"{outcome.played / outcome.seconds:,.0f} games/s"
    kept = f", {outcome.kept:,} kept from before" if outcome.kept else ""
    click.echo(f"{outcome.played:,} games in {outcome.seconds:.1f} s, {rate}{kept}")
    for line in format_standings(outcome.standings):
        click.echo(line)
    forfeits = int(outcome.standings["forfeits"].sum())
    if forfeits:
        click.echo(f"{forfeits:,} forfeits" + (f": see {folder}/faults.csv" if folder else ""))
    for label in outcome.out:
        click.echo(f"{label} was out after {tournament.max_faults} faults")
    if folder:
        click.echo(f"results in {folder}/")


COMMANDS: list[click.Command] = [run, play]
