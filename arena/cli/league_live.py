"""The commands that write a league's pages (`page`) and play it until stopped (`serve`)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import click

from arena.cli.options import PATH, json_option, print_json, say, venue_options
from arena.cli.starting import find_venue


@click.command()
@click.argument("folder", type=PATH)
@json_option
def page(folder: Path, as_json: bool) -> None:
    """Write all pages of the league to FOLDER/site.

    The site works offline, and contains no bot's source. feed.json lists news, for a chat.

    \b
    Example:
      arena league page results/club
    """
    from arena.leagues.league import League
    from arena.leagues.league_site import write_site

    with closing(League(folder)) as league:
        index = write_site(league)
    if as_json:
        print_json({"page": str(index), "feed": str(index.with_name("feed.json"))})
    else:
        say(f"wrote {index}")


@click.command()
@click.argument("folder", type=PATH)
@click.option("--rest", is_flag=True, help="Play no round while all ratings are precise.")
@venue_options("scheduler", "scheduler_file")
def serve(folder: Path, rest: bool, **options: Any) -> None:
    """Play until stopped: take submissions, play, write the pages.

    To submit a bot, put a file FOLDER/inbox/NAME.py or a folder FOLDER/inbox/NAME there. However it
    is stopped, also by kill -9, nothing is lost: the same command continues.

    \b
    Example:
      timeout 20 arena league serve results/club
    """
    from arena.executors.contract import open_executor
    from arena.lanes.cleanup import adopt_orphans, exit_on_termination
    from arena.leagues.league import League
    from arena.leagues.serve import serve as play_on

    adopt_orphans()
    venue = find_venue(options)
    with (
        closing(League(folder)) as league,
        exit_on_termination(),
        league.playing(),
        open_executor(venue) as where,
    ):
        say(f"serving {folder}/; submit to {folder}/inbox/; Ctrl-C stops it")
        try:
            play_on(league, where, say, rests=rest)
        except KeyboardInterrupt:
            raise click.Abort("the same command goes on with this league") from None
