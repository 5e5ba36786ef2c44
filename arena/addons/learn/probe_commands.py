"""The command that looks for an opponent to which a bot loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from arena.cli import options as cli
from arena.cli.starting import find_venue
from arena.tournament import config_keys as keys

if TYPE_CHECKING:
    from arena.entries.entry import Entry

_PLAYED = ("pairs", "learn", "workers", "out", "force", "blind")


@click.command()
@click.argument("bot")
@cli.key_option("pairs", f"{keys.PROBED_PAIRS}")
@cli.default_option("--seed", cli.SEED, 0, "Draws the deals.")
@click.option(
    "--learn",
    type=cli.PAIRS,
    metavar="PAIRS",
    help="Learn to play as BOT, from so many pairs of games.  [default: none]",
)
@cli.venue_options(*cli.ON_THIS_MACHINE)
@click.option(
    "--out", "-o", type=cli.PATH, metavar="FILE", help="The opponent.  [default: probe-BOT.py]"
)
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@click.option("--blind", is_flag=True, help="Also play without inferring BOT's hand.")
@click.option("--exact", is_flag=True, help="Only say what BOT loses in two solved games.")
@cli.json_option
@cli.QUIET
def probe(bot: str, *, as_json: bool, quiet: bool, **options: Any) -> None:
    """Say how much BOT loses at least, to an opponent that knows it.

    The opponent weighs the hands that BOT may hold by what BOT plays, and tries its own actions
    against the likeliest of them. It asks BOT's method scores(games). With --learn a network learns
    to play as BOT, and answers in place of a BOT that has no scores. Then the opponent meets BOT
    itself in fresh pairs, and is kept as a bot. With --blind an opponent that infers nothing from
    what BOT plays meets it on the same deals. Another opponent may win more: see `arena docs
    probe`.

    With --exact nothing is played: in two small games, which are solved, it is known exactly what
    the best opponent wins from a BOT that has scores, and within an interval from others.

    \b
    Example:
      arena probe greedy --pairs 10 --out responds.py &&
        arena play ./responds.py greedy --pairs 10
    """
    from arena.addons.learn.probe_bot import Asked, probe_entry
    from arena.entries.resolve import resolve
    from arena.executors import log
    from arena.processes import adopt_orphans
    from arena.runs.run import Interrupted

    victim = resolve(bot)
    adopt_orphans()
    if options.pop("exact"):
        cli.refuse_options(*_PLAYED, why="not with --exact, which plays nothing")
        _say_exactly(victim, options["seed"], as_json=as_json, quiet=quiet)
        return
    pairs, shown = options["pairs"] or keys.PROBED_PAIRS, log.QUIET if quiet else log.NORMAL
    given = {name: options.get(name) for name in Asked._fields}
    asked = Asked(**given | {"pairs": pairs, "shown": shown})
    try:
        found = probe_entry(victim, find_venue(options), asked)
    except Interrupted as interrupted:
        raise click.Abort(*interrupted.__notes__) from None
    lines = [found.sentence] if quiet else found.lines()
    cli.print_found(found.document(), lines, as_json=as_json)


def _say_exactly(victim: Entry, seed: int, *, as_json: bool, quiet: bool) -> None:
    from arena.addons.learn.opponents import probe_small

    found: list[dict[str, Any]] = []
    for one in probe_small(victim, seed, shown=not quiet):
        if not (as_json or found):
            cli.say(f"{victim.label} loses to the best opponent that knows it, of 1 at most:")
        if not as_json:
            cli.say(one.line())
        found.append(one._asdict())
    if as_json:
        cli.print_json({"bot": victim.label, "games": found})
