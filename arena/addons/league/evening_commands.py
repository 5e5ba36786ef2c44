"""The commands of a league's organiser: serving for a time, the deadline, the final."""

from __future__ import annotations

import math
import re
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import (
    PATH,
    QUIET,
    Command,
    Whole,
    json_option,
    print_found,
    say,
    venue_options,
)
from arena.cli.starting import find_venue
from arena.errors import counted

if TYPE_CHECKING:
    from arena.addons.league.league import League

FOLDER = click.argument("folder", type=PATH)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST = 10_000_000  # seconds
_MOST_PAIRS = 100_000


class Duration(Whole):
    """A time, such as 2h, 90m or 1h30m."""

    name = "time"

    def __init__(self) -> None:
        super().__init__(1, _LONGEST)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return it in seconds; raises click.BadParameter.

        >>> Duration().convert("1h30m", None, None), Duration().convert("45s", None, None)
        (5400, 45)
        """
        if not re.fullmatch(r"([0-9]{1,9}[smhd])+", str(value)):
            self.fail(f"{value!r} is not a time such as 2h, 90m or 1h30m", param, ctx)
        parts = re.findall(r"([0-9]+)([smhd])", value)
        return super().convert(sum(int(n) * _UNITS[unit] for n, unit in parts), param, ctx)


def open_league(folder: Path) -> closing[League]:
    """Return the league of a folder, which is closed at the end of a block."""
    from arena.addons.league.league import League

    return closing(League(folder))


@click.command(cls=Command)
@FOLDER
@click.option("--rest", is_flag=True, help="Play no round while all ratings are precise.")
@click.option("--once", is_flag=True, help="Take the whole inbox, play one round, and end.")
@click.option("--for", "seconds", type=Duration(), help="Begin nothing after this time; end.")
@venue_options("scheduler", "scheduler_file")
def serve(folder: Path, rest: bool, once: bool, seconds: int | None, **options: Any) -> None:
    """Play until stopped: take submissions, play, write the pages.

    To submit a bot, put a file FOLDER/inbox/NAME.py or a folder FOLDER/inbox/NAME there. However it
    is stopped, also by kill -9, nothing is lost: the same command continues. With --once or --for
    it ends without being stopped; the exit status is then 1 if a submission could not be taken, or
    if no round was played because there are fewer than two bots.

    \b
    Example:
      arena league serve results/club --once
    """
    from arena.addons.league.inbox import serve as play_on
    from arena.executors.local import open_executor
    from arena.lanes.signals import exit_on_termination
    from arena.processes import adopt_orphans
    from arena.threads import count_cores

    adopt_orphans()
    venue = find_venue(options)
    with (
        open_league(folder) as opened,
        exit_on_termination(),
        opened.playing(),
        open_executor(venue) as where,
    ):

        def tell(text: str) -> None:
            say(f"{opened.now():%Y-%m-%d %H:%M:%SZ} {text}")

        tell(f"serving {folder}/; submit to {folder}/inbox/; Ctrl-C stops it")
        how: dict[str, Any] = {"rests": rest, "checks": venue.workers or count_cores()}
        how |= {"rounds": 1 if once else None, "whole": once, "seconds": seconds or math.inf}
        try:
            served = play_on(opened, where, tell, **how)
        except KeyboardInterrupt:
            raise click.Abort("the same command goes on with this league") from None
        tell(served.sentence)
    if served.is_unfinished:
        sys.exit(1)


@click.command()
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
    from arena.addons.league import final

    with open_league(folder) as opened:
        if undo:
            final.thaw(opened)
            print_found({"frozen": False}, ["submissions count again"], as_json=as_json)
            return
        frozen = final.freeze(opened)
    print_found({"frozen": True, **frozen._asdict()}, [frozen.sentence], as_json=as_json)


@click.command(cls=Command)
@FOLDER
@click.option("--pairs", type=Whole(1, _MOST_PAIRS), help="Pairs of every two bots.  [default: 20]")
@venue_options("scheduler", "scheduler_file")
@QUIET
@json_option
def final(folder: Path, pairs: int | None, quiet: bool, as_json: bool, **options: Any) -> None:
    """Play the final of a frozen league.

    All play against all, equally many games. It is a run with its report in FOLDER/finals/. An
    interrupted final goes on with the same command.

    \b
    Example:
      arena league final results/club --pairs 50
    """
    from arena.addons.league.final import PAIRS, play_final
    from arena.executors.log import NORMAL, QUIET
    from arena.processes import adopt_orphans
    from arena.runs.run import Interrupted, Playing

    adopt_orphans()
    how = Playing(find_venue(options), shown=QUIET if quiet or as_json else NORMAL)
    with open_league(folder) as opened, opened.playing():
        try:
            outcome, report = play_final(opened, pairs or PAIRS, how)
        except Interrupted:
            raise click.Abort("the same command goes on with this final") from None
    found = {"folder": str(report.parent), "report": str(report)}
    document = {**found, "played": outcome.played, "kept": outcome.kept}
    lines = [f"the final: {counted(outcome.played + outcome.kept, 'game')}; see {report}"]
    print_found(document, lines, as_json=as_json)
