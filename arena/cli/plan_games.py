"""The command that estimates how many games a run needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from arena.cli.completion import complete_bots, complete_runs
from arena.cli.options import AGAINST, PATH, json_option, print_json, say
from arena.tournament.keys import POWER


@click.command()
@click.argument(
    "bots", nargs=-1, required=True, metavar="BOT BOT [BOT ...]", shell_complete=complete_bots
)
@click.option("--gap", type=float, metavar="ELO", help="Gap between neighbours.  [default: none]")
@click.option(
    "--width", type=float, metavar="ELO", help="Half of the ratings' intervals.  [default: none]"
)
@click.option(
    "--power", type=float, default=POWER, show_default=True, help="The chance to find the gap."
)
@AGAINST
@click.option(
    "--like",
    type=PATH,
    metavar="RUN",
    shell_complete=complete_runs,
    help="A similar run, for the spread and the time of pairs.  [default: none]",
)
@json_option
def plan(
    bots: Sequence[str],
    gap: float | None,
    width: float | None,
    power: float,
    against: Sequence[str],
    like: Path | None,
    *,
    as_json: bool,
) -> None:
    """Estimate before a run how many games it takes to tell bots apart.

    Give --gap, the difference in Elo between neighbours in the ranking that is to be detected, or
    --width, half of the interval that each rating is to have. A number can stand for the BOTs, and
    for those of --against, the panel of a gauntlet.

    \b
    Example:
      arena plan 4 --gap 20
    """
    import arena

    those, panel = _number(bots), _number(against)
    found = arena.plan(those, gap=gap, width=width, power=power, against=panel, like=like)
    if as_json:
        print_json(found.document())
    else:
        say(str(found))


def _number(bots: Sequence[str]) -> Sequence[str] | int:
    """Return the bots, or their number if only that is given."""
    is_number = len(bots) == 1 and bots[0].isascii() and bots[0].isdigit() and len(bots[0]) < 10
    return int(bots[0]) if is_number else bots


COMMANDS: list[click.Command] = [plan]
