"""The commands of a league: submissions, rounds, pages, and playing until it is stopped."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.addons.league.evening_commands import (
    FOLDER,
    final,
    freeze,
    open_league,
    serve,
)
from arena.addons.league.web_commands import invite, web
from arena.cli.options import (
    LIMITS,
    ON_THIS_MACHINE,
    QUIET,
    RULES,
    Command,
    Whole,
    change_limits,
    change_rules,
    json_option,
    key_option,
    print_found,
    print_json,
    say,
    venue_options,
)
from arena.cli.starting import find_venue
from arena.errors import InputError, counted, quote

if TYPE_CHECKING:
    from arena.addons.league.league import RoundResult


_MOST_GAMES = 1_000_000_000


@click.group(invoke_without_command=True)
@click.pass_context
def league(context: click.Context) -> None:
    """Run a league: bots join at any time, play rounds, and are rated.

    \b
    Example:
      arena league new results/friday && arena league play results/friday
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@league.command(cls=Command)
@FOLDER
@key_option("seed", "drawn, and secret")
@key_option("lane", "jail")
@click.option("--panel", metavar="A,B,C", help="The bots of the arena that fix the scale.")
@click.option("--target", type=float, help="Wanted precision of ratings, in Elo points.")
@RULES
@LIMITS
@json_option
def new(
    folder: Path,
    seed: int | None,
    lane: str | None,
    panel: str | None,
    target: float | None,
    rules: dict[str, Any],
    limits: dict[str, Any],
    as_json: bool,
) -> None:
    """Create a league in a new FOLDER, with bots of the arena.

    FOLDER/league.yaml has its settings; those that decide its games are fixed.

    \b
    Example:
      arena league new results/club --panel uniform,greedy,majority
    """
    import msgspec

    from arena.addons.league.league import make_league
    from arena.addons.league.league_settings import Settings, new_settings
    from arena.cli.options import split_bots

    given: dict[str, Any] = {"seed": seed, "lane": lane}
    given |= {"target": target, "panel": split_bots(panel, "--panel") if panel else None}
    values = {name: value for name, value in given.items() if value is not None}
    values["rules"] = change_rules(rules).changes()
    values["limits"] = msgspec.to_builtins(change_limits(limits, Settings().limits))
    settings = new_settings(values)
    make_league(folder, settings)
    if as_json:
        print_json({"folder": str(folder), "panel": [*settings.panel], "lane": settings.lane})
        return
    say(f"made {folder}/ with {counted(len(settings.panel), 'bot')} of the arena; now:")
    place = quote(str(folder))
    say(f"  arena league submit {place} ./my_bot.py --name NAME")
    say(f"  arena league play {place}")


def _find_name(bot: str) -> str:
    """Return the name of a bot's file or folder; raises InputError for any other spec."""
    from arena.addons.league.inbox import name_of
    from arena.entries.program import ZIP, is_program
    from arena.entries.spec import COMMAND, default_label

    if bot.startswith(COMMAND):  # its refusal says what to hand in
        return default_label(bot, {})
    path = Path(bot)
    if path.suffix not in (".py", ZIP) and not path.is_dir() and not is_program(path):
        raise InputError(f"bot {bot!r}: no file; say with --name what the league calls it")
    return name_of(Path(os.path.realpath(path)))


@league.command()
@FOLDER
@click.argument("bot")
@click.option(
    "--name",
    help="Its name in the league; a new version keeps it.  [default: the file's name]",
)
@click.option("--by", "owner", default="", metavar="OWNER", help="Its owner.  [default: NAME]")
@json_option
def submit(folder: Path, bot: str, name: str | None, owner: str, as_json: bool) -> None:
    """Check BOT, and enter it as the newest version of NAME.

    BOT is a .py file, a folder, a program's file such as hasty.js, or a bot of the arena. A folder
    with a bot.toml is built in the jail. The league keeps a copy. The exit status is
    1 if the check refuses it.

    \b
    Example:
      arena league submit results/club 'greedy(patience=11)' --name patient
    """
    from arena.addons.league.submission import Refused
    from arena.processes import adopt_orphans

    name = name or _find_name(bot)
    adopt_orphans()
    with open_league(folder) as opened:
        try:
            version = opened.desk.submit(bot, name, owner)
        except Refused as refused:
            if as_json:
                print_json({"accepted": False, "bot": name, "why": str(refused)})
            else:
                say(f"refused: {refused}", err=True)
            sys.exit(1)
    if as_json:
        shown = {"accepted": True, "bot": name, "version": version.number}
        print_json({**shown, "sha256": version.sha256})
    else:
        say(f"accepted: {version.title}, by {version.owner}; it plays in the next round")


@league.command(cls=Command)
@FOLDER
@click.option("--games", type=Whole(1, _MOST_GAMES), help="Stop after about this many games.")
@click.option("--seconds", type=float, help="Begin no round after this many seconds.")
@click.option("--until-precise", is_flag=True, help="Continue until ratings are within the target.")
@venue_options("scheduler", "scheduler_file")
@QUIET
@json_option
def play(
    folder: Path,
    games: int | None,
    seconds: float | None,
    until_precise: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Play a round of the league, or more.

    An interrupted round is finished first. Bots submitted meanwhile play, too.

    \b
    Example:
      arena league play results/club --until-precise
    """
    from arena.addons.league.shown import format_summary, to_document
    from arena.executors.log import NORMAL, QUIET
    from arena.processes import adopt_orphans
    from arena.runs.run import Interrupted

    if sum(one is not None for one in (games, seconds, until_precise or None)) > 1:
        raise InputError("--games, --seconds and --until-precise: choose one of them")
    if seconds is not None and not seconds > 0:
        raise InputError(f"--seconds: {seconds:g} is not a number above 0")
    adopt_orphans()
    venue = find_venue(options)
    shown, results = QUIET if quiet or as_json else NORMAL, []
    how: Any = {"games": games, "seconds": seconds, "until_precise": until_precise}
    with open_league(folder) as opened:
        try:
            for result in opened.play_rounds(venue, shown, **how):
                results.append(result)
                if shown == NORMAL:
                    _report_round(result)
        except Interrupted:
            raise click.Abort("the same command goes on with this round") from None
        played = sum(max(2 * result.pairs, 1) for result in results)
        document = {"rounds": len(results), "games": played, **to_document(opened)}
        print_found(document, [] if quiet else format_summary(opened), as_json=as_json)


def _report_round(result: RoundResult) -> None:
    say(f"round {result.number:,}: {2 * result.pairs:,} games")
    say(
        *(
            f"  {name} is suspended: `arena league show` with its name says why"
            for name in result.suspended
        )
    )


@league.command()
@FOLDER
@click.argument("name", required=False)
@click.option("--why", is_flag=True, help="Of NAME: why it lost; judges its lost games.")
@venue_options(*ON_THIS_MACHINE)
@json_option
def show(folder: Path, name: str | None, why: bool, as_json: bool, **options: Any) -> None:
    """Show how the league stands, or the course of NAME.

    The standings are those after the last round. Of NAME it shows versions, ratings and refusals.
    With --why, it shows the three decisions that cost it most against each opponent, in up to four
    lost games of each as `arena analyse` judges them, the games in which it was out of time, and
    its course by version on common deals. The page of the bot shows it, too.

    \b
    Example:
      arena league show results/club patient --why
    """
    from arena.addons.league import answer, shown

    if why and name is None:
        raise InputError("--why: name a bot, too")
    with open_league(folder) as opened:
        if name is None:
            data, lines = shown.to_document(opened), [*shown.format_summary(opened)]
        elif not why:
            data = shown.history(opened, name)
            lines = [*shown.format_history(data)]
        else:
            from arena.processes import adopt_orphans

            adopt_orphans()
            found = answer.why(opened, name, find_venue(options), progress=not as_json)
            data, lines = answer.why_to_data(found), [*answer.format_why(found)]
    print_found(data, lines, as_json=as_json)


@league.command()
@FOLDER
@click.argument("name")
@click.option("--by", "owner", default="", metavar="OWNER", help="Only if this is its owner.")
@json_option
def withdraw(folder: Path, name: str, owner: str, as_json: bool) -> None:
    """Withdraw NAME from play; its games stay.

    \b
    Example:
      arena league withdraw results/club patient
    """
    with open_league(folder) as opened:
        version = opened.withdraw(name, owner)
    gone = {"bot": name, "version": version.number, "state": "withdrawn"}
    print_found(gone, [f"{version.title} is withdrawn"], as_json=as_json)


for command in (serve, freeze, final, invite, web):
    league.add_command(command)
