"""The command that writes the replay of a game as a page."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.completion import complete_records
from arena.cli.options import PATH, SEAT, Whole, names_option
from arena.cli.picking import Picked, describe_place, is_run, open_out, pick_game, read_record
from arena.errors import InputError, escape

if TYPE_CHECKING:
    from arena.entries.entry import Entry
    from arena.records.naming import Naming

_LONGEST_NAME = 80  # characters of a file's name


@click.command()
@click.argument("target", type=PATH, metavar="RUN|FILE", shell_complete=complete_records)
@click.argument("bots", nargs=-1, metavar="[GAME | BOT [OPPONENT]]")
@click.option("--line", type=Whole(1, sys.maxsize), help="Of a file: which record.  [default: 1]")
@click.option("--seat", type=SEAT, help="Only what this seat knew.  [default: everything]")
@click.option(
    "--by", default="champion", show_default=True, metavar="BOT", help="Who values the plies."
)
@click.option("--thoughts", is_flag=True, help="Of a run: ask its bots what they thought.")
@click.option("--out", "-o", type=PATH, help="The page.  [default: named after the game]")
@names_option
def view(
    target: Path,
    bots: Sequence[str],
    line: int | None,
    seat: int | None,
    by: str,
    out: Path | None,
    names: Naming,
    *,
    thoughts: bool,
) -> None:
    """Write the replay of a game as one HTML page that opens offline.

    RUN is the folder of a run, and a game of it is chosen as in `arena show`. FILE has a game
    record a line; - is standard input. With --seat the page has what that seat knew and
    nothing else, also in its source. A page of this command is replaced; any other file is
    not changed.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/view &&
        arena view results/view greedy/uniform/3/1 -o view.html
    """
    from arena.entries.resolve import resolve
    from arena.records.html_page import render_replay

    entry = resolve(by)
    if is_run(target, line=line, chosen=bool(bots)):
        picked = pick_game(target, (bots, None, None), "view")
        if picked is None:
            return
        name = picked.fixture.name
        timeline = _timeline_of_run(target, picked, seat, entry, thoughts=thoughts)
    else:
        if thoughts:
            raise InputError("--thoughts: a record has them already, or has none")
        name = f"{'game' if str(target) == '-' else target.stem}-{line or 1}"
        timeline = _timeline_of_line(target, line or 1, seat, entry)
    out = out or Path(_file_name(name, seat))
    _write_page(out, render_replay(timeline, names))
    click.echo(f"the replay is in {out}")


def _timeline_of_run(
    path: Path, picked: Picked, seat: int | None, by: Entry, *, thoughts: bool
) -> dict[str, Any]:
    """Return the timeline of a game of a run."""
    from arena.runs.rerun import add_thoughts_of_run
    from arena.store.finished import game_timeline
    from engine import EngineError

    tournament, fixture, game = picked
    try:
        if thoughts:
            game, note = add_thoughts_of_run(tournament, fixture, game)
            if note:
                click.echo(f"note: {note}", err=True)
        title = f"{tournament.name}: {fixture.name}"
        return game_timeline(game, title=title, seat=seat, by=by)
    except EngineError as error:
        raise InputError(f"{path}: its record cannot be played: {error}") from None


def _timeline_of_line(path: Path, line: int, seat: int | None, by: Entry) -> dict[str, Any]:
    """Return the timeline of a line of a file of records."""
    from arena.store.finished import line_timeline
    from engine import EngineError

    text = read_record(path, line)
    title = f"line {line}" if str(path) == "-" else escape(f"{path.name}, line {line}")
    try:
        return line_timeline(text, title=title, seat=seat, by=by)
    except EngineError as error:
        raise InputError(f"{path}: {describe_place(line, error)}: {error}") from None


def _file_name(game: str, seat: int | None) -> str:
    """Return a name for the page of a game that every system has.

    >>> _file_name("greedy/mine(a=1)/3/0", 1)
    'greedy-mine-a-1-3-0-seat-1.html'
    """
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", game).strip("-.")
    end = "" if seat is None else f"-seat-{seat}"
    return f"{plain[-_LONGEST_NAME:].strip('-.') or 'game'}{end}.html"


def _write_page(path: Path, page: str) -> None:
    """Write a page in place of none, or of another page of a replay."""
    from arena.records.html_page import is_replay

    if is_replay(path):
        path.unlink()
    with open_out(path) as file:
        file.write(page)


COMMANDS: list[click.Command] = [view]
