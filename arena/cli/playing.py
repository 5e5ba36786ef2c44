"""Commands that play: a tournament, a few bots, a single game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import person
from arena.cli.options import (
    LANE,
    NAMES,
    PAIRS,
    PATH,
    SEED,
    add_run_options,
    count_cores,
    parse_json,
)
from arena.errors import InputError
from arena.tournament.bounds import MOST_BOTS, MOST_PAIRS

if TYPE_CHECKING:
    from arena.runs.run import Results
    from arena.tournament.config import Config
    from arena.tournament.tournament import Tournament

_GAMES = click.IntRange(1, 1_000)


@click.command()
@click.argument("config", type=PATH)
@click.option("--pairs", type=PAIRS, help="Deals for each two bots, each played twice.")
@click.option("--bot", "more", multiple=True, metavar="BOT", help="One more bot; repeatable.")
@add_run_options
def run(
    config: Path,
    pairs: int | None,
    more: Sequence[str],
    seed: int | None,
    lane: str | None,
    out: Path | None,
    **how: Any,
) -> None:
    """Play the tournament of a CONFIG file, and write its results.

    The results go to results/NAME, the config's name. A run that was stopped goes on from
    where it was; one that is finished is not played again. Options override the config. A
    BOT is a name in bots/, a file ./my_bot.py, a package.module or cmd:COMMAND, with
    parameters in brackets: name(depth=3); label=BOT names it.

    \b
    Example:
      arena run configs/quickstart.yaml --pairs 50 --bot ./my_bot.py
    """
    from arena.tournament.config import read

    settings = read(config)
    how["workers"] = how["workers"] or settings.workers
    try:
        tournament = _from_config(
            settings, more, seed=seed, pairs=pairs, lane=lane, quiet=how["quiet"]
        )
    except InputError as error:
        raise InputError(f"{config}: {error}") from None
    _play(tournament, out or Path("results") / settings.name, **how)


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
@add_run_options
def play(
    bots: Sequence[str],
    pairs: int,
    games: int,
    names: str,
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
    from arena.tournament.tournament import Tournament
    from engine import STANDARD

    if person.is_asked_for(bots):
        person.play(bots, seed=seed, lane=lane, out=out, games=games, names=names)
        return
    person.refuse_options("games", "names", why="only for a game with a person")
    entries = [resolve(spec, lane=lane) for spec in bots]
    tournament = Tournament("play", seed or 0, pairs, entries, STANDARD)
    _play(_check(tournament, quiet=how["quiet"]), out, **how)


@click.command()
@click.argument("bot")
@click.argument("opponent")
@click.option("--seed", type=SEED, default=0, show_default=True, help="The run's seed.")
@click.option(
    "--pair",
    type=click.IntRange(0, MOST_PAIRS - 1),
    default=0,
    show_default=True,
    help="Which deal.",
)
@click.option(
    "--seat", type=click.IntRange(0, 1), default=0, show_default=True, help="Where BOT sits."
)
@click.option("--lane", "lanes", type=LANE, multiple=True, help="For both, or for each.")
@click.option("--needs", multiple=True, help="A JSON list of paths, for both or for each.")
@click.option(
    "--label", "labels", multiple=True, help="Label of BOT, then of OPPONENT, as in the run."
)
@click.option("--rules", default="{}", help="Numbers of the rules to change, as JSON.")
@click.option("--limits", default="{}", help="Seconds and memory, as JSON.")
def game(
    bot: str,
    opponent: str,
    seed: int,
    pair: int,
    seat: int,
    lanes: Sequence[str],
    needs: Sequence[str],
    labels: Sequence[str],
    rules: str,
    limits: str,
) -> None:
    """Play one game of a run again, and print its record; a fault with its evidence.

    The labels of the bots, the seed, the pair and the seat decide the deal. The record
    goes to standard output, ready for `arena show -`.

    \b
    Example:
      arena game greedy uniform --seed 7 --pair 3 --seat 1 | arena show -
    """
    from arena.entries.resolve import resolve
    from arena.executors.local import LocalExecutor
    from arena.lanes.limits import Limits
    from arena.runs.rerun import describe_fault, play_again, to_json
    from arena.tournament.tournament import Tournament
    from engine import Rules
    from engine.errors import RulesError

    both = zip(
        (bot, opponent),
        _for_each("label", labels),
        _for_each("lane", lanes),
        (parse_json("--needs", text or "[]", list[str]) for text in _for_each("needs", needs)),
        strict=True,
    )
    entries = [resolve(spec, label, None, lane, paths) for spec, label, lane, paths in both]
    try:
        changed = Rules.from_changes(parse_json("--rules", rules, dict[str, Any]))
    except RulesError as error:
        raise InputError(f"--rules: {error}") from None
    allowed = parse_json("--limits", limits, Limits)
    tournament = _check(Tournament("game", seed, pair + 1, entries, changed, allowed))
    again = play_again(tournament, pair, seat, LocalExecutor(1))
    for line in describe_fault(again):
        click.echo(line, err=True)
    click.echo(to_json(again))


def _for_each(name: str, values: Sequence[str]) -> Sequence[str | None]:
    """Return one value for each of two bots; no value is None for both."""
    if len(values) > 2 or (name == "label" and len(values) == 1):
        raise InputError(f"--{name}: give it twice, once for each bot")
    return (*values, *values)[:2] if values else (None, None)


def _from_config(
    config: Config,
    more: Sequence[str],
    *,
    seed: int | None,
    pairs: int | None,
    lane: str | None,
    quiet: bool,
) -> Tournament:
    from arena.tournament.config import resolve_bots
    from arena.tournament.tournament import Tournament

    return _check(
        Tournament(
            config.name,
            config.seed if seed is None else seed,
            pairs or config.pairs,
            resolve_bots(config, more, lane),
            config.game_rules(),
            config.limits,
            config.max_faults,
        ),
        quiet=quiet,
    )


def _check(tournament: Tournament, *, quiet: bool = False) -> Tournament:
    """Return a tournament whose bots take their parameters; warn of bots that do not load."""
    from arena.entries.entry import check_labels
    from arena.runs.probe import find_problems

    if len(tournament.entries) < 2:
        raise InputError(f"bots: a tournament needs two, there is {len(tournament.entries)}")
    if len(tournament.entries) > MOST_BOTS:
        raise InputError(f"bots: at most {MOST_BOTS:,}, and there are {len(tournament.entries):,}")
    check_labels(tournament.entries)
    for problem in find_problems(tournament.entries, tournament.rules, tournament.limits):
        if not quiet:
            click.echo(f"warning: {problem}; its games are forfeits", err=True)
    return tournament


def _play(
    tournament: Tournament,
    out: Path | None,
    *,
    workers: int | None,
    fresh: bool,
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
    folder = RunFolder(out) if out else None
    if folder and fresh:
        with folder.locked():
            removed = folder.clear()
        if removed and not quiet:
            click.echo(f"removed from {out}/: {', '.join(removed)}", err=True)
    adopt_orphans()
    shown = log.VERBOSE if verbose else log.QUIET if quiet else log.NORMAL
    results = run(tournament, LocalExecutor(workers or count_cores()), folder, shown)
    if not quiet:
        _report(results, tournament, out)


def _report(results: Results, tournament: Tournament, folder: Path | None) -> None:
    from arena.results.summary import format_standings

    rate = f"{results.played / results.seconds:,.0f} games/s"
    kept = f", {results.kept:,} kept from before" if results.kept else ""
    click.echo(f"{results.played:,} games in {results.seconds:.1f} s, {rate}{kept}")
    for line in format_standings(results.standings):
        click.echo(line)
    forfeits = int(results.standings["forfeits"].sum())
    if forfeits:
        click.echo(f"{forfeits:,} forfeits" + (f": see {folder}/faults.csv" if folder else ""))
    for label in results.out:
        click.echo(f"{label} was out after {tournament.max_faults} faults")
    if folder:
        click.echo(f"results in {folder}/")


COMMANDS: list[click.Command] = [run, play, game]
