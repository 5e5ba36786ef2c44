"""The commands that print the figures of the game, and that make a set of judged games."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import (
    ON_THIS_MACHINE,
    PATH,
    QUIET,
    REPLACE,
    SEED,
    Whole,
    json_option,
    print_found,
    refuse_options,
    say,
    venue_options,
)
from arena.cli.starting import describe_folder, find_venue, stoppable
from arena.errors import counted
from arena.tournament import keys

if TYPE_CHECKING:
    from arena.runs.run import Playing

_OUT = Path("results/facts")
_PLAYED = ("bots", "percent", "seed", "workers", "out", "replace", "quiet")
_SEED = click.option("--seed", type=SEED, default=0, show_default=True, help=keys.TEXTS["seed"])
_WORLDS = Whole(keys.LEAST_WORLDS, keys.MOST_WORLDS)
_TRIED = "Sampled worlds in which each action is tried, an even number."
_PART = "Part of the games to play.  [default: 100]"
BOTS = click.argument("bots", nargs=-1, metavar="[BOT]...")


@click.command()
@click.option("--play", "again", is_flag=True, help="Measure them again.")
@click.option("--percent", type=Whole(1, 10_000), default=100, help=_PART)
@BOTS
@_SEED
@venue_options(*ON_THIS_MACHINE)
@click.option("--out", "-o", type=PATH, help=f"Folder of the games.  [default: {_OUT}]")
@REPLACE
@json_option
@QUIET
def facts(*, again: bool, as_json: bool, quiet: bool, **options: Any) -> None:
    """Print the game on one page: seats, City, leads, luck, cards.

    A column is a bot that plays against its twin, from random play to a strong search. The figures
    are stored. With --play they are measured again, for the named bots if there are any. The same
    command continues what was stopped.

    \b
    Example:
      arena facts &&
        arena facts --play uniform greedy --percent 1
    """
    from arena.addons.facts.game_facts import PLAYERS, Asked, format_facts, play_facts, read_facts

    if again:
        out, bots = options["out"] or _OUT, options["bots"] or PLAYERS
        with stoppable(out):
            asked = Asked(bots, options["percent"], options["seed"])
            found = play_facts(asked, _make_playing(out, options, quiet=quiet))
    else:
        refuse_options(*_PLAYED, why="only with --play")
        found = read_facts()
    document = {"facts": [one._asdict() for one in found]}
    print_found(document, format_facts(found), as_json=as_json)
    if again and not (quiet or as_json):
        say(describe_folder(out))


@click.command()
@click.option("--games", type=Whole(2, 10**7), default=20_000, show_default=True, help="How many.")
@click.option("--worlds", type=_WORLDS, default=keys.WORLDS, show_default=True, help=_TRIED)
@BOTS
@_SEED
@venue_options(*ON_THIS_MACHINE)
@click.option("--out", "-o", type=PATH, default=Path("data"), show_default=True, help="Folder.")
@REPLACE
@QUIET
def dataset(*, out: Path, quiet: bool, **options: Any) -> None:
    """Make a set of games of strong bots with judged decisions.

    The bots, the five strongest if none is named, play a round robin, and every decision is judged
    as by `arena analyse`. The folder gets games.jsonl, a game a line, and with the extra parquet
    decisions/, a row for each decision. The same command continues what was stopped.

    \b
    Example:
      arena dataset greedy uniform --games 20 --worlds 4 --out data
    """
    from arena.addons.facts.judged_dataset import GAMES, STRONG, About, make_dataset

    bots = options["bots"] or STRONG
    wanted = About(bots, options["games"], options["seed"], options["worlds"])
    with stoppable(out):
        made = make_dataset(wanted, _make_playing(out, options, quiet=quiet))
    if not quiet:
        say(f"{counted(made.decisions, 'decision')} of {made.games:,} games: {out / GAMES}")


def _make_playing(out: Path, options: Mapping[str, Any], *, quiet: bool) -> Playing:
    from arena.executors import log
    from arena.runs.run import Playing

    shown = log.QUIET if quiet else log.NORMAL
    return Playing(find_venue(options), out, replace=options["replace"], shown=shown)
