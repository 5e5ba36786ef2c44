"""The commands that play a tournament or a game, compare two bots, or plan a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena.cli import options as cli
from arena.cli import starting
from arena.entries.spec import LANES
from arena.errors import InputError, arena_command, naming, wrapped
from arena.tournament import config_keys as keys

if TYPE_CHECKING:
    from arena.differences.comparison import SprtResult
    from arena.entries.spec import Lane
    from arena.runs.run import Outcome, Playing
    from arena.tournament.config import BotEntry
    from arena.tournament.tournament import Tournament

_T = TypeVar("_T")
_PAIRS = 100
_SHOWN = 5  # games in which the change decided
_NOT_OF_A_MANIFEST = (
    *("pairs", "more", "against", "anchor", "until", "max_pairs", "replace", "seed", "lane"),
    *("rules", "limits", "deals"),
)


@click.command(cls=cli.Command)
@click.argument("config", type=cli.PATH)
@cli.key_option("pairs", "the config's")
@cli.MORE_BOTS
@cli.AGAINST
@cli.ANCHOR
@cli.key_option("until", "the config's")
@cli.key_option("max_pairs", "the config's, or 100 times --pairs")
@cli.key_option("deals", "the config's, or random ones")
@cli.REPLACE
@cli.NO_REPEAT
@cli.add_config_options("results/NAME")
def run(config: Path, **options: Any) -> None:
    """Play the tournament of a CONFIG file, and write its results.

    CONFIG can be the name of one that comes with the arena, such as quickstart or ladder, or the
    manifest.json of a run, which plays the same games again. The results go to results/NAME, where
    NAME is the config's. An interrupted run continues; a finished one is not played again. Options
    override the config. A BOT is a name in bots/, a file ./my_bot.py, a package.module or
    cmd:COMMAND, with parameters in brackets: name(depth=3); label=BOT names it.

    \b
    Example:
      arena run quickstart --pairs 50 --bot ./my_bot.py
    """
    from arena.runs.rerun import find_manifest, play_as
    from arena.tournament.yaml_text import find_config

    path = find_config(config)
    if manifest := find_manifest(path):
        how = starting.make_playing(options)
        cli.refuse_options(*_NOT_OF_A_MANIFEST, why="a manifest is played as it is")
        with naming(path):
            tournament = play_as(manifest)
        config = path
    else:
        tournament, how = starting.read_tournament(config, path, options)
    how = replace(how, out=how.out or Path("results") / tournament.name)
    _play(tournament, how, options, config)


@click.command(cls=cli.Command)
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT ...]")
@cli.key_option("pairs", "100")
@cli.AGAINST
@cli.key_option("deals", "random ones")
@cli.ANCHOR
@cli.REPLACE
@cli.NO_REPEAT
@cli.add_run_options("none, nothing is written")
def play(bots: Sequence[str], **options: Any) -> None:
    """Play bots against each other without a config.

    Nothing is written without --out. For what a BOT can be, see `arena run --help`.

    \b
    Example:
      arena play greedy uniform --pairs 100
    """
    from arena.tournament.config import Config, make_tournament

    how = starting.make_playing(options)
    settings = cli.with_options(Config([], _PAIRS, name="play"), options)
    tournament = make_tournament(settings, bots, options["against"], options["lane"])
    _play(tournament, how, options)


def _play(
    tournament: Tournament, how: Playing, options: Mapping[str, Any], place: Path | None = None
) -> None:
    """Play a tournament or a comparison, and print its result; `place` is its config."""
    problems = starting.prepare(tournament, how, options, place)
    with starting.stoppable(how.out):
        outcome = how.play(tournament)
    quiet, found = options["quiet"], outcome.comparison
    if found and options["as_json"]:
        played = {"folder": str(how.out), "played": outcome.played, "kept": outcome.kept}
        cli.print_json(found.document() | played | {"warnings": [*problems]})
    elif found and how.out:
        _print_comparison(found, outcome, how.out, quiet=quiet)
    elif options["as_json"]:
        cli.print_json(outcome.document(tournament.name, how.out, problems))
    else:
        starting.print_report(outcome, tournament, how.out, quiet=quiet)


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT ...]")
@click.option("--gap", type=float, required=True, metavar="ELO", help="Gap between neighbours.")
@cli.default_option("--power", float, keys.POWER, "The chance to find the gap.")
@cli.json_option
def plan(bots: Sequence[str], gap: float, power: float, *, as_json: bool) -> None:
    """Say before a run how many pairs of games separate the bots.

    --gap is the difference in Elo between neighbours in the ranking that is to be detected. A
    number can stand for the BOTs.

    \b
    Example:
      arena plan 4 --gap 20
    """
    import arena

    found = arena.plan(_read_bots(bots), gap=gap, power=power)
    cli.print_found(found._asdict(), [str(found)], as_json=as_json)


def _read_bots(bots: Sequence[str]) -> Sequence[str] | int:
    """Return the bots, or their number if only that is given."""
    is_number = len(bots) == 1 and bots[0].isascii() and bots[0].isdigit() and len(bots[0]) < 10
    return int(bots[0]) if is_number else bots


@click.command(cls=cli.Command)
@click.argument("new")
@click.argument("old")
@cli.AGAINST
@cli.default_option("--elo0", float, keys.ELO0, "Elo difference under H0.")
@cli.default_option("--elo1", float, keys.ELO1, "Elo difference under H1.")
@cli.default_option("--alpha", float, keys.ERROR_RATE, "Wrong verdicts under H0, at most.")
@cli.default_option("--beta", float, keys.ERROR_RATE, "Wrong verdicts under H1, at most.")
@cli.default_option(
    "--max-pairs", cli.PAIRS, keys.COMPARED_PAIRS, "Stop, undecided, after this many pairs."
)
@cli.REPLACE
@cli.NO_REPEAT
@cli.add_run_options("results/compare-NEW-OLD")
def compare(new: str, old: str, **options: Any) -> None:
    """Say whether NEW is stronger than OLD, with as few games as needed.

    The two play each other until a sequential probability ratio test decides for H1, that NEW
    leads by elo1 Elo points, or for H0, that it leads by elo0. With --against both meet other
    bots on the same deals, and the difference by deal is tested. A comparison that was stopped
    continues where it stopped.

    \b
    Example:
      arena compare denier uniform --against greedy --max-pairs 32
    """
    from arena.tournament.config import Config, make_tournament
    from arena.tournament.sprt_rounds import as_comparison
    from arena.tournament.stop import make_sprt

    how = starting.make_playing(options)
    stop = make_sprt(*map(options.pop, ("elo0", "elo1", "alpha", "beta", "max_pairs")))
    settings = cli.with_options(Config([], stop.max_pairs, name="compare"), options)
    bots = (new, old), options["against"], options["lane"]
    tournament = as_comparison(make_tournament(settings, *bots), stop)
    how = replace(how, out=how.out or Path("results") / tournament.name)
    _play(tournament, how, options)


def _print_comparison(comparison: SprtResult, outcome: Outcome, out: Path, *, quiet: bool) -> None:
    """Print the statement, the lead, the counts, what differs, and the command that repeats it."""
    from arena.differences.common_deals import say_decided

    statement, *lines = comparison.lines()
    if quiet:
        cli.say(statement)
        return
    cli.say(*wrapped(statement), *lines)
    cli.say(*(f"{label} was out after {outcome.out[label]}" for label in comparison.out))
    cli.say(*comparison.difference_lines(cli.terminal_room()))
    if paired := comparison.paired:
        columns = ["game", "ply", "new_score", "old_score"]
        for game, *rest in paired.decided[columns].head(_SHOWN).itertuples(index=False):
            said = say_decided(comparison.new, comparison.old, *rest)
            cli.say(f"  {arena_command('show', [out, game])}   {said}")
    cli.say(starting.count_games(outcome))
    if comparison.command:
        cli.say(f"repeat with: {comparison.command}")
    cli.say(starting.describe_folder(out))


@click.command(cls=cli.Command)
@click.argument("bot")
@click.argument("opponent")
@cli.default_option("--seed", cli.SEED, 0, "The run's seed.")
@cli.default_option("--pair", cli.PAIR, 0, "Which deal.")
@click.option("--deal", help="The deal, of a run with fixed deals.  [default: that of the pair]")
@cli.default_option("--seat", cli.SEAT, 0, "The seat of BOT; seat 0 begins.")
@click.option(
    "--lane",
    "lanes",
    type=click.Choice(LANES),
    multiple=True,
    help="For both, or for each.  [default: as fits the bot]",
)
@click.option("--needs", multiple=True, help="A JSON list of paths, for both or for each.")
@click.option(
    "--label", "labels", multiple=True, help="Label of BOT, then of OPPONENT, as in the run."
)
@cli.RULES
@cli.LIMITS
@click.option("--thoughts", is_flag=True, help="Add what bots thought of each action.")
@cli.venue_options("workers", *cli.ON_THIS_MACHINE)
def game(
    bot: str,
    opponent: str,
    seed: int,
    pair: int,
    deal: str | None,
    seat: int,
    lanes: Sequence[Lane],
    needs: Sequence[str],
    labels: Sequence[str],
    thoughts: bool,
    **options: Any,
) -> None:
    """Play one game of a run again, and print its record.

    A fault is printed with its evidence. The deal follows from the labels of the bots, the seed and
    the pair. The record goes to standard output, ready for `arena show -`. With --thoughts the bots
    report after the game what they thought; the game stays the same.

    \b
    Example:
      arena game greedy uniform --seed 7 --pair 3 --seat 1 | arena show -
    """
    from arena.runs.rerun import add_thoughts, play_again, prepare
    from arena.tournament.config import Config, make_tournament

    bots = _describe_bots((bot, opponent), labels, lanes, needs)
    settings = cli.with_options(Config([], pair + 1, name="game", seed=seed), options)
    tournament = make_tournament(settings, bots)
    tournament = tournament if deal is None else tournament.on_deal(deal)
    cli.warn(prepare(tournament))
    again = play_again(tournament, pair, seat, starting.find_venue(options | {"workers": 1}))
    cli.say(*again.evidence(), err=True)
    if thoughts:
        again, note = add_thoughts(tournament, tournament.fixture(0, pair, seat), again)
        if note:
            cli.say(f"note: {note}", err=True)
    cli.say_json(again.to_json())


def _describe_bots(
    specs: Sequence[str], labels: Sequence[str], lanes: Sequence[Lane], needs: Sequence[str]
) -> list[BotEntry]:
    """Return the two bots, with their labels, lanes and needed files."""
    from arena.tournament.config import BotEntry

    both = zip(
        specs,
        _give_each("label", labels),
        _give_each("lane", lanes),
        (cli.parse_json("--needs", text or "[]", list[str]) for text in _give_each("needs", needs)),
        strict=True,
    )
    return [BotEntry(spec, label, {}, lane, paths) for spec, label, lane, paths in both]


def _give_each(name: str, values: Sequence[_T]) -> Sequence[_T | None]:
    """Return one value for each of two bots: one value is for both, no value is None for both."""
    if len(values) > 2 or (name == "label" and len(values) == 1):
        raise InputError(f"--{name}: give it twice, once for each bot")
    return (*values, *values)[:2] if values else (None, None)
