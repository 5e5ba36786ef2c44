"""The commands of a league: hosting it, submissions, rounds, the deadline and the final."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import (
    LIMITS,
    ON_THIS_MACHINE,
    PATH,
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
from arena.errors import InputError, arena_command, counted, not_installed

if TYPE_CHECKING:
    from arena.addons.league.league import League

FOLDER = click.argument("folder", type=PATH)
_MOST_PAIRS = 100_000
_HERE = "127.0.0.1"


def open_league(folder: Path) -> closing[League]:
    """Return the league of a folder, which is closed at the end of a block."""
    from arena.addons.league.league import League

    return closing(League(folder))


@click.group(invoke_without_command=True)
@click.pass_context
def league(context: click.Context) -> None:
    """Run a league: bots join at any time, play rounds, and are rated.

    \b
    Example:
      arena league host results/friday --once
    """
    from arena.processes import adopt_orphans

    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    adopt_orphans()  # what bots leave behind


@league.command(cls=Command)
@FOLDER
@click.option("--rest", is_flag=True, help="Play no round while all ratings are precise.")
@click.option("--once", is_flag=True, help="Take all that was handed in, play a round, and end.")
@click.option("--port", type=Whole(0, 65_535), default=8080, help="Of the page (8080); 0: any.")
@click.option("--host", "address", default=_HERE, show_default=True, help="Its IP address.")
@venue_options("scheduler", "scheduler_file")
def host(folder: Path, rest: bool, once: bool, port: int, address: str, **options: Any) -> None:
    """Host a league: make or open it, take bots, play, write the pages.

    It runs until Ctrl-C, and the same command continues it, also after kill -9. Bots are
    handed in at the web page, with a token from `arena league invite`, or as FOLDER/inbox/NAME.py
    or a folder FOLDER/inbox/NAME. The web page needs the extra `table`; --once has none, and its
    exit status is 1 if something waits, or if no round could be played.

    \b
    Example:
      arena league host results/club --once
    """
    from arena.addons.league.hosting import host as go_on
    from arena.addons.league.league import make_league
    from arena.addons.league.league_settings import new_settings
    from arena.executors.local import open_executor
    from arena.processes import exit_on_termination
    from arena.threads import count_cores

    venue = find_venue(options)
    if not folder.exists():
        make_league(folder, new_settings({}))
    with ExitStack() as opened:
        league = opened.enter_context(open_league(folder))
        opened.enter_context(exit_on_termination())
        opened.enter_context(league.playing())
        executor = opened.enter_context(open_executor(venue))

        def tell(text: str) -> None:
            say(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ} {text}")

        where = "" if once else _serve(opened, folder, port, address)
        tell(f"{folder}: submit {where}in {folder}/inbox/; Ctrl-C stops it")
        rounds, checks = 1 if once else None, venue.workers or count_cores()
        try:
            hosted = go_on(league, executor, tell, rests=rest, rounds=rounds, checks=checks)
        except KeyboardInterrupt:
            raise click.Abort("the same command goes on with this league") from None
        for line in hosted.lines:
            tell(line)
    if hosted.waiting or not (hosted.rounds or rest):
        sys.exit(1)


def _serve(opened: ExitStack, folder: Path, port: int, address: str) -> str:
    """Serve the web page until the end, and return where; without its libraries say so.

    Raises InputError.
    """
    if importlib.util.find_spec("starlette") is None:
        say(f"no web page: {not_installed('starlette', 'table')}", err=True)
        return ""
    from arena.addons.league.web import serving

    url, _ = opened.enter_context(serving(folder, port, address))
    if address != _HERE:
        say("warning: without a proxy with TLS, tokens can be read on the way", err=True)
    return f"at {url} or "


@league.command(cls=Command)
@FOLDER
@key_option("seed", "drawn, and secret")
@key_option("lane", "jail")
@click.option("--panel", metavar="A,B,C", help="The bots of the arena that fix the scale.")
@RULES
@LIMITS
@json_option
def new(folder: Path, panel: str | None, as_json: bool, **keys: Any) -> None:
    """Create a league in a new FOLDER, with bots of the arena.

    FOLDER/league.yaml has its settings; those that decide its games are fixed.

    \b
    Example:
      arena league new results/club --panel uniform,greedy,majority
    """
    import msgspec

    from arena.addons.league.inbox import INBOX
    from arena.addons.league.league import make_league
    from arena.addons.league.league_settings import Settings, new_settings
    from arena.cli.options import split_bots

    keys["panel"] = split_bots(panel, "--panel") if panel else None
    keys["rules"] = change_rules(keys["rules"]).changes()
    keys["limits"] = msgspec.to_builtins(change_limits(keys["limits"], Settings().limits))
    settings = new_settings({key: value for key, value in keys.items() if value is not None})
    make_league(folder, settings)
    (folder / INBOX).mkdir()
    made = f"made {folder}/ with {counted(len(settings.panel), 'bot')} of the arena; now:"
    lines = [made, f"  {arena_command('league', ['host', folder])}"]
    data = {"folder": str(folder), "panel": [*settings.panel], "lane": settings.lane}
    print_found(data, lines, as_json=as_json)


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
    from arena.addons.league.inbox import name_of
    from arena.addons.league.submission import Refused

    name = name or name_of(Path(os.path.realpath(bot)))
    with open_league(folder) as opened:
        try:
            version = opened.desk.submit(bot, name, owner)
        except Refused as refused:
            if as_json:
                print_json({"accepted": False, "bot": name, "why": str(refused)})
            else:
                say(f"refused: {refused}", err=True)
            sys.exit(1)
    said = f"accepted: {version.title}, by {version.owner}; it plays in the next round"
    found = {"accepted": True, "bot": name, "version": version.number, "sha256": version.sha256}
    print_found(found, [said], as_json=as_json)


@league.command()
@FOLDER
@click.argument("name", required=False)
@click.option("--why", is_flag=True, help="Of NAME: why it lost; judges its lost games.")
@venue_options(*ON_THIS_MACHINE)
@json_option
def show(folder: Path, name: str | None, why: bool, as_json: bool, **options: Any) -> None:
    """Show how the league stands, or the course of NAME.

    The standings are those after the last round. Of NAME it shows versions, ratings and refusals.
    With --why, it shows the decisions that cost its newest version most, as `arena analyse` judges
    them.

    \b
    Example:
      arena league show results/club patient --why
    """
    from arena.addons.league import league_site, league_standing

    if why and name is None:
        raise InputError("--why: name a bot, too")
    with open_league(folder) as opened:
        if name is None:
            data, lines = league_standing.to_document(opened), league_site.format_opening(opened)
        elif not why:
            data = league_standing.history(opened, name)
            lines = league_standing.format_history(data)
        else:
            data = league_standing.why(opened, name, find_venue(options), progress=not as_json)
            lines = league_standing.format_why(data)
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


@league.command()
@FOLDER
@click.option("--undo", is_flag=True, help="Accept submissions again.")
@json_option
def freeze(folder: Path, undo: bool, as_json: bool) -> None:
    """Accept no submissions from now on, as at a deadline.

    Rounds can still be played; `arena league final` plays the final. What lies in the inbox stays
    there, and is taken if this is undone.

    \b
    Example:
      arena league freeze results/club
    """
    from arena.addons.league.hosting import freeze as end_submissions
    from arena.addons.league.inbox import find_waiting
    from arena.addons.league.ledger import ACTIVE

    with open_league(folder) as opened:
        end_submissions(opened, undo=undo)
        until, bots = opened.ledger.frozen(), len(opened.ledger.versions("state = ?", ACTIVE))
    waiting = len(find_waiting(folder))
    found = {"frozen": not undo, "until": until, "bots": bots, "waiting": waiting}
    left = counted(waiting, "submission")
    said = f"in the final: {counted(bots, 'bot')}; handed in but not counted: {left}"
    print_found(found, ["submissions count again" if undo else said], as_json=as_json)


@league.command(cls=Command)
@FOLDER
@click.option("--pairs", type=Whole(1, _MOST_PAIRS), default=20, help="Of every two bots (20).")
@venue_options("scheduler", "scheduler_file")
@QUIET
@json_option
def final(folder: Path, pairs: int, quiet: bool, as_json: bool, **options: Any) -> None:
    """Play the final of a frozen league.

    All play against all, equally many games. It is a run with its report in FOLDER/finals/. The
    same command continues an interrupted final.

    \b
    Example:
      arena league final results/club --pairs 50
    """
    from arena.addons.league.hosting import play_final
    from arena.executors.log import NORMAL, QUIET
    from arena.runs.run import Interrupted, Playing

    how = Playing(find_venue(options), shown=QUIET if quiet or as_json else NORMAL)
    with open_league(folder) as opened, opened.playing():
        try:
            outcome, report = play_final(opened, pairs, how)
        except Interrupted:
            raise click.Abort("the same command goes on with this final") from None
    found = {"folder": str(report.parent), "report": str(report)}
    document = {**found, "played": outcome.played, "kept": outcome.kept}
    said = f"the final: {counted(outcome.played + outcome.kept, 'game')}; see {report}"
    print_found(document, [said], as_json=as_json)


@league.command()
@FOLDER
@click.argument("owners", nargs=-1, metavar="[OWNER]...")
@click.option("--revoke", is_flag=True, help="Make the tokens of these owners invalid.")
@json_option
def invite(folder: Path, owners: tuple[str, ...], revoke: bool, as_json: bool) -> None:
    """Give owners tokens for the web page of a league, or list who has one.

    A token is shown once: the league keeps only its hash. A new token replaces the one before.

    \b
    Example:
      arena league invite results/club Ann
    """
    from arena.addons.league import inbox
    from arena.addons.league.league_settings import read_settings
    from arena.addons.league.ledger import check_owner

    read_settings(folder)
    given = inbox.invited(folder)
    for owner in owners:
        check_owner(owner)
        if revoke and owner not in given:
            raise InputError(f"owner {owner}: no token was given")
    if revoke:
        for owner in owners:
            (folder / inbox.TOKENS / owner).unlink(missing_ok=True)
        print_found({"revoked": [*owners]}, [f"{one}: revoked" for one in owners], as_json=as_json)
    elif owners:
        tokens = {owner: inbox.invite(folder, owner) for owner in owners}
        print_found({"tokens": tokens}, map("  ".join, tokens.items()), as_json=as_json)
    else:
        print_found({"invited": given}, given or ["nobody has a token"], as_json=as_json)
