"""The command that looks for an opponent to which a bot loses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from arena.cli.completion import complete_bots
from arena.cli.options import (
    ON_THIS_MACHINE,
    PAIRS,
    PATH,
    QUIET,
    SEED,
    json_option,
    key_option,
    print_json,
    say,
    venue_options,
)
from arena.cli.starting import find_venue
from arena.tournament import keys

if TYPE_CHECKING:
    from arena.addons.learn.probe_bot import Probed


def _check_minutes(
    _context: click.Context, _option: click.Parameter, minutes: float | None
) -> float | None:
    if minutes is not None and not 0 < minutes < float("inf"):
        raise click.BadParameter(f"{minutes:g} is not a number above 0")
    return minutes


@click.command()
@click.argument("bot", shell_complete=complete_bots)
@key_option("pairs", f"{keys.PROBED_PAIRS}")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Draws the deals.")
@click.option(
    "--minutes",
    type=float,
    metavar="M",
    callback=_check_minutes,
    help="Learn to beat BOT for so long; without scores, to play as BOT.  [default: none]",
)
@click.option(
    "--learn",
    type=PAIRS,
    metavar="PAIRS",
    help="The same, from so many pairs of games.  [default: none]",
)
@venue_options(*ON_THIS_MACHINE)
@click.option(
    "--out", "-o", type=PATH, metavar="FILE.py", help="The opponent.  [default: probe-BOT.py]"
)
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@json_option
@QUIET
def probe(bot: str, *, as_json: bool, quiet: bool, **options: Any) -> None:
    """Say how much BOT loses at least, to an opponent that knows it.

    The opponent weighs the hands that BOT may hold by what BOT plays, and tries its own actions
    against the likeliest of them. It asks BOT's method scores(games). With --minutes a network
    learns to beat BOT, too, and the better opponent is kept; if BOT has no scores, a network learns
    to play as BOT, and is asked instead. Then the opponent meets BOT itself in fresh pairs, and is
    kept as a bot. Another opponent may win more: see docs/probe.md.

    \b
    Example:
      arena probe greedy --pairs 10 --out responds.py &&
        arena play ./responds.py greedy --pairs 10
    """
    found = _probe(bot, options, quiet=quiet)
    if as_json:
        print_json(found.document())
        return
    say(*([found.sentence] if quiet else found.lines()))


def _probe(bot: str, options: Mapping[str, Any], *, quiet: bool) -> Probed:
    """Return the result of a probe; at Ctrl-C say what is kept."""
    from arena.addons.learn.probe_bot import find_opponent, probe
    from arena.entries.resolve import resolve
    from arena.executors import log
    from arena.executors.contract import open_executor
    from arena.lanes.cleanup import adopt_orphans
    from arena.runs.run import Interrupted

    victim, seed, how = resolve(bot), options["seed"], (options["learn"], options["minutes"])
    shown = log.QUIET if quiet else log.NORMAL
    adopt_orphans()
    kept = "nothing is kept"
    if any(how):
        kept = "what was learned or played is kept in results/, and the same command goes on"
    pairs = options["pairs"] or keys.PROBED_PAIRS
    with open_executor(find_venue(options)) as executor:
        try:
            opponent = find_opponent(
                victim, executor, options["out"], *how, pairs, seed, shown, force=options["force"]
            )
            kept = f"the opponent is kept in {opponent.file}"
            return probe(victim, opponent, pairs, seed, executor, shown)
        except Interrupted:
            raise click.Abort(kept) from None
