"""Commands for who writes a bot: a new file, and a look at whether it keeps the contract."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.playing import from_json

if TYPE_CHECKING:
    from arena.check.item import Item
    from arena.check.order import Order
    from arena.entries.entry import Entry


@click.command()
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The folder to write to.  [default: the current one]",
)
def new(name: str, folder: Path) -> None:
    """Write NAME.py, a bot that plays at once, and test_NAME.py, its test.

    Nothing is ever overwritten.

    \b
    Example:
      arena new my_first_bot && arena play ./my_first_bot.py uniform --pairs 10
    """
    from arena.new import draft

    bot, test = draft.write(name, folder)
    spec = bot if "/" in str(bot) else f"./{bot}"
    click.echo(f"wrote {bot} and {test}; now:")
    then = {
        f"arena play {spec} greedy": "let it play",
        f"arena check {spec}": "does it keep the contract?",
        f"pytest {test}": "run its test",
    }
    width = max(map(len, then))
    for command, what in then.items():
        click.echo(f"  {command:<{width}}  {what}")


@click.command()
@click.argument("bot")
@click.option(
    "--games",
    type=click.IntRange(4, 100_000),
    default=200,
    show_default=True,
    help="Games in each lane.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Of the deals."
)
@click.option(
    "--seconds",
    type=click.FloatRange(1, 86_400),
    default=120,
    show_default=True,
    help="About how long; a slow bot plays fewer games.",
)
@click.option("--limits", default="{}", help="Seconds and memory for the bot, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def check(bot: str, games: int, seed: int, seconds: float, limits: str, as_json: bool) -> None:
    """Put BOT through the contract, line by line, and guess its rating.

    Its code runs in processes of its own. The exit status is 0 if nothing has failed, 1 if
    something has, 2 if there is no such bot.

    \b
    Example:
      arena check ./my_bot.py --games 20 --seconds 10
    """
    from arena.check.item import lines
    from arena.check.order import Order
    from arena.check.supervisor import checked
    from arena.entries.entry import load
    from arena.lanes import cleanup as orphans
    from arena.lanes.limits import Limits

    entry = load(bot)
    order = Order(bot, games, seed, seconds, from_json("--limits", limits, Limits))
    orphans.adopt()
    found = []
    with _Progress() as progress:
        for item in checked(order, progress.show):
            found.append(item)
            progress.show("")
            if not as_json:
                click.echo("\n".join(lines(item)))
    refused = [item.name for item in found if item.status == "fail"]
    if as_json:
        click.echo(_document(order, entry, found))
    else:
        click.echo(f"refused: {', '.join(refused)}" if refused else "accepted")
    sys.exit(1 if refused else 0)


def _document(order: Order, entry: Entry, items: list[Item]) -> str:
    """Return the whole report as one JSON document."""
    from arena.check.item import as_json

    report = {
        "bot": entry.target,
        "params": entry.params,
        "sha256": entry.sha256,
        "games": order.games,
        "seed": order.seed,
        "ok": all(item.status != "fail" for item in items),
        "items": [as_json(item) for item in items],
    }
    return json.dumps(report, indent=2)


class _Progress:
    """Shows on a terminal what is being worked on, in a line that goes again."""

    def __enter__(self) -> _Progress:
        self.shown = ""
        return self

    def show(self, what: str) -> None:
        """Show this in place of what is shown."""
        if what != self.shown and sys.stderr.isatty():
            click.echo(f"\r{what:<{len(self.shown)}}\r{what}", nl=False, err=True)
            self.shown = what

    def __exit__(self, *_: object) -> None:
        self.show("")


COMMANDS: list[click.Command] = [new, check]
