"""Commands on bots: a new one, a check of the contract, and the list of those with a name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.check import GAMES, LEAST_GAMES
from arena.cli import options as cli
from arena.cli.starting import find_venue
from arena.errors import InputError

if TYPE_CHECKING:
    from arena.check.item import Item, Order
    from arena.entries.entry import Entry
    from arena.entries.spec import Lane


@click.command()
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=cli.PATH,
    default=Path(),
    help="The folder to write to.  [default: the current one]",
)
def new(name: str, folder: Path) -> None:
    """Write NAME.py, a complete bot, and test_NAME.py, its test.

    Existing files are not overwritten.

    \b
    Example:
      arena new my_first_bot && arena play ./my_first_bot.py uniform --pairs 10
    """
    from arena.entries.new_bot import write_draft

    bot, test = write_draft(name, folder)
    spec = bot if "/" in str(bot) else f"./{bot}"
    cli.say(f"wrote {bot} and {test}; now:")
    next_steps = {
        f"arena play {spec} greedy": "let it play",
        f"arena check {spec}": "does it keep the contract?",
        f"python {test}": "run its test",
    }
    width = max(map(len, next_steps))
    cli.say(*(f"  {command:<{width}}  {what}" for command, what in next_steps.items()))


@click.command(cls=cli.Command)
@click.argument("bot")
@cli.default_option(
    "--games",
    cli.Whole(LEAST_GAMES, 100_000),
    GAMES,
    "Games in its lane; about five times as many in all.",
)
@cli.default_option("--seed", cli.SEED, 0, "Of the deals.")
@click.option(
    "--lane",
    type=click.Choice(["jail", "process"]),
    help="The lane of its processes.  [default: the jail, if there is one]",
)
@cli.LIMITS
@cli.venue_options("workers", *cli.ON_THIS_MACHINE)
@cli.json_option
def check(
    bot: str,
    games: int,
    seed: int,
    lane: Lane | None,
    limits: dict[str, Any],
    as_json: bool,
    **options: Any,
) -> None:
    """Check each item of the contract for BOT, and estimate its rating.

    Its code runs in separate processes, in the jail if this machine has one. Outside the jail a bot
    could forge its report, so it is never accepted there. The exit status is 0 if no item failed, 1
    if one did or the check was cut short, 2 if BOT does not exist.

    \b
    Example:
      arena check ./my_bot.py --games 8
    """
    from arena.check.inspector import run_check
    from arena.check.item import Order, format_item, safest_lane
    from arena.check.sparring import CutShort
    from arena.entries.resolve import resolve
    from arena.lanes.jail_support import find_bubblewrap
    from arena.processes import adopt_orphans

    entry = resolve(bot)
    if entry.lane == "remote":
        raise InputError(f"bot {bot!r}: a check needs its program, and it lives elsewhere")
    if lane == "jail":
        find_bubblewrap()
    venue = find_venue(options)
    order = Order(bot, lane or safest_lane(), games, seed, cli.change_limits(limits), venue)
    adopt_orphans()
    items = []
    try:
        with _Progress() as progress:
            for item in run_check(order, progress.show):
                items.append(item)
                progress.show("")
                if not as_json:
                    cli.say("\n".join(format_item(item)))
    except CutShort as error:
        raise CutShort(f"{error}; play fewer games with --games") from None
    sys.exit(_say_verdict(order, entry, items, as_json=as_json))


def _say_verdict(order: Order, entry: Entry, items: list[Item], *, as_json: bool) -> int:
    """Print what a check has found, and return its exit status."""
    from arena.check.item import NOT_JAILED

    refused = [item.name for item in items if item.status == "fail"]
    if as_json:
        cli.print_json(_make_document(order, entry, items))
    else:
        accepted = "accepted" if order.jailed else "no verdict: nothing has failed"
        cli.say(f"refused: {', '.join(refused)}" if refused else accepted)
        if not order.jailed:
            cli.say(NOT_JAILED)
    return 1 if refused else 0


def _make_document(order: Order, entry: Entry, items: list[Item]) -> dict[str, Any]:
    """Return the whole report as plain data."""
    from arena.check.item import NOT_JAILED, to_data

    return {
        "bot": entry.target,
        "params": entry.params,
        "sha256": entry.sha256,
        "games": order.games,
        "seed": order.seed,
        "ok": all(item.status != "fail" for item in items),
        "jailed": order.jailed,
        "warning": "" if order.jailed else NOT_JAILED,
        "items": [to_data(item) for item in items],
    }


class _Progress:
    """Shows on a terminal which item is being checked, in a line that disappears again."""

    def __enter__(self) -> _Progress:
        self.shown = ""
        return self

    def show(self, what: str) -> None:
        """Show a text in place of the previous one."""
        if what != self.shown and sys.stderr.isatty():
            click.echo(f"\r{what:<{len(self.shown)}}\r{what}", nl=False, err=True)
            self.shown = what

    def __exit__(self, *_: object) -> None:
        self.show("")


@click.command()
@cli.json_option
def bots(as_json: bool) -> None:
    """List the bots available by name: in bots/, and from packages.

    A bot of an installed package is one of its entry points in the group arena.bots.

    \b
    Example:
      arena bots
    """
    from arena.entries.catalogue import catalogue

    known = catalogue()
    if as_json:
        cli.print_json({"bots": [bot._asdict() for bot in known]})
        return
    width = max([len(bot.name) for bot in known], default=0)
    for bot in known:
        origin = f" [{bot.package}]" if bot.package else ""
        cli.say(f"{bot.name:<{width}}  {bot.description}{origin}")
