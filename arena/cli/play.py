"""The commands that play a tournament, of a config or of bots, or plan one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.compare import play_comparison
from arena.cli.options import (
    AGAINST,
    ANCHOR,
    MORE_BOTS,
    NO_REPEAT,
    PATH,
    REPLACE,
    Command,
    add_config_options,
    add_run_options,
    json_option,
    key_option,
    print_found,
    print_json,
    refuse_options,
    say,
    with_options,
)
from arena.cli.starting import (
    make_playing,
    prepare,
    print_report,
    read_tournament,
    stoppable,
)
from arena.errors import naming
from arena.tournament.keys import POWER

if TYPE_CHECKING:
    from arena.runs.run import Playing
    from arena.tournament.keys import Venue
    from arena.tournament.tournament import Tournament

_PAIRS = 100
_NOT_OF_A_MANIFEST = (
    *("pairs", "more", "against", "anchor", "until", "max_pairs", "replace", "seed", "lane"),
    *("rules", "limits", "deals"),
)


@click.command(cls=Command)
@click.argument("config", type=PATH)
@key_option("pairs", "the config's")
@MORE_BOTS
@AGAINST
@ANCHOR
@key_option("until", "the config's")
@key_option("max_pairs", "the config's, or 100 times --pairs")
@key_option("deals", "the config's, or random ones")
@REPLACE
@NO_REPEAT
@add_config_options("results/NAME")
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
        how = make_playing(options)
        refuse_options(*_NOT_OF_A_MANIFEST, why="a manifest is played as it is")
        with naming(path):
            tournament = play_as(manifest)
        config = path
    else:
        tournament, how = read_tournament(config, path, options)
    how = replace(how, out=how.out or Path("results") / tournament.name)
    play_it = play_comparison if tournament.comparison else _play
    play_it(tournament, how, options, config)


@click.command(cls=Command)
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT ...]")
@key_option("pairs", "100")
@AGAINST
@key_option("deals", "random ones")
@ANCHOR
@REPLACE
@NO_REPEAT
@add_run_options("none, nothing is written")
def play(bots: Sequence[str], **options: Any) -> None:
    """Play bots against each other without a config.

    Nothing is written without --out. For what a BOT can be, see `arena run --help`.

    \b
    Example:
      arena play greedy uniform --pairs 100
    """
    from arena.runs.rerun import keep_deals
    from arena.tournament.config import Config, make_tournament

    how = make_playing(options)
    settings = with_options(Config([], _PAIRS, name="play"), options)
    settings = keep_deals(settings, how.kept)
    tournament = make_tournament(settings, bots, options["against"], options["lane"])
    _play(tournament, how, options)


def _play(
    tournament: Tournament, how: Playing, options: Mapping[str, Any], place: Path | None = None
) -> None:
    """Play a tournament, and print its result; `place` is the config that it comes from."""
    quiet, as_json = options["quiet"], options["as_json"]
    how, problems = prepare(tournament, how, options, place)
    if not (quiet or as_json):
        say(*_announce(tournament, how.venue), err=True)
    with stoppable(how.out):
        outcome = how.play(tournament)
    if as_json:
        print_json(outcome.document(tournament.name, how.out, problems))
    else:
        print_report(outcome, tournament, how.out, quiet=quiet)


def _announce(tournament: Tournament, venue: Venue) -> Iterator[str]:
    """Yield how long a tournament takes at most, if limits were given."""
    from arena.lanes.limits import Limits

    if venue.kind != "local" or tournament.limits == Limits():
        return
    from arena.lanes.cleanup import count_cores
    from arena.runs.progress_bar import format_duration
    from arena.tournament.tournament import longest_seconds

    most = format_duration(longest_seconds(tournament, venue.workers or count_cores()))
    yield f"by the limits of the bots, {tournament.games:,} games take at most {most}"


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT ...]")
@click.option("--gap", type=float, required=True, metavar="ELO", help="Gap between neighbours.")
@click.option(
    "--power", type=float, default=POWER, show_default=True, help="The chance to find the gap."
)
@json_option
def plan(bots: Sequence[str], gap: float, power: float, *, as_json: bool) -> None:
    """Say before a run how many pairs of games tell bots apart.

    --gap is the difference in Elo between neighbours in the ranking that is to be detected. A
    number can stand for the BOTs.

    \b
    Example:
      arena plan 4 --gap 20
    """
    import arena

    found = arena.plan(_read_bots(bots), gap=gap, power=power)
    print_found(found._asdict(), [str(found)], as_json=as_json)


def _read_bots(bots: Sequence[str]) -> Sequence[str] | int:
    """Return the bots, or their number if only that is given."""
    is_number = len(bots) == 1 and bots[0].isascii() and bots[0].isdigit() and len(bots[0]) < 10
    return int(bots[0]) if is_number else bots


COMMANDS: list[click.Command] = [run, play, plan]
