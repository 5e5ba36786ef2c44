"""The command that writes the replay of a game as a page."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import PATH, SEAT, Whole, names_option, say
from arena.cli.picking import Picked, describe_place, is_run, open_out, pick_game, read_record
from arena.errors import InputError, escape

if TYPE_CHECKING:
    from arena.tournament.keys import Naming

_LONGEST_NAME = 80  # characters of a file's name


@click.command()
@click.argument("target", type=PATH, metavar="RUN|FILE")
@click.argument("bots", nargs=-1, metavar="[GAME | BOT [OPPONENT]]")
@click.option("--line", type=Whole(1, sys.maxsize), help="Of a file: which record.  [default: 1]")
@click.option("--seat", type=SEAT, help="Only what this seat knew.  [default: everything]")
@click.option("--out", "-o", type=PATH, help="The page.  [default: named after the game]")
@names_option
def view(
    target: Path,
    bots: Sequence[str],
    line: int | None,
    seat: int | None,
    out: Path | None,
    names: Naming,
) -> None:
    """Write the replay of a game as one HTML page that opens offline.

    RUN is the folder of a run, and a game of it is chosen as in `arena show`. FILE has one game
    record per line; - is standard input. With --seat the page contains only what that seat knew,
    also in its source. Where `arena analyse` has judged a game of a run, its page says what each
    decision lost. An earlier page of this command is overwritten, any other file is not.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/view &&
        arena view results/view greedy/uniform/3/1 -o view.html
    """
    from arena.store.html_page import render_replay

    if is_run(target, line=line, chosen=bool(bots)):
        picked = pick_game(target, (bots, None, None), "view")
        if picked is None:
            return
        name = picked.fixture.name
        timeline = _make_timeline_of_run(target, picked, seat)
    else:
        name = f"{'game' if str(target) == '-' else target.stem}-{line or 1}"
        timeline = _make_timeline_of_line(target, line or 1, seat)
    out = out or Path(_make_file_name(name, seat))
    _write_page(out, render_replay(timeline, names))
    say(f"the replay is in {out}")


def _make_timeline_of_run(path: Path, picked: Picked, seat: int | None) -> dict[str, Any]:
    """Return the timeline of a game of a run."""
    from arena.entries.resolve import resolve
    from arena.runs.judge_games import describe_judge, find_review
    from arena.store.curve import BOT
    from arena.store.finished import game_timeline
    from engine import EngineError

    tournament, fixture, game = picked
    try:
        judged = find_review(path, fixture.name, game.record)
        return game_timeline(
            game,
            title=f"{tournament.name}: {fixture.name}",
            seat=seat,
            by=resolve(BOT),
            judged=judged,
            judge=describe_judge() if judged else "",
        )
    except EngineError as error:
        raise InputError(f"{path}: its record cannot be played: {error}") from None


def _make_timeline_of_line(path: Path, line: int, seat: int | None) -> dict[str, Any]:
    """Return the timeline of a line of a file of records."""
    from arena.entries.resolve import resolve
    from arena.store.curve import BOT
    from arena.store.finished import line_timeline
    from engine import EngineError

    text = read_record(path, line)
    title = f"line {line}" if str(path) == "-" else escape(f"{path.name}, line {line}")
    try:
        return line_timeline(text, title=title, seat=seat, by=resolve(BOT))
    except EngineError as error:
        raise InputError(f"{path}: {describe_place(line, error)}: {error}") from None


def _make_file_name(game: str, seat: int | None) -> str:
    """Return a file name for the page of a game that is valid on every system."""
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", game).strip("-.")
    end = "" if seat is None else f"-seat-{seat}"
    return f"{plain[-_LONGEST_NAME:].strip('-.') or 'game'}{end}.html"


def _write_page(path: Path, page: str) -> None:
    """Write a page; an earlier page of a replay is overwritten, any other file is not."""
    from arena.store.html_page import is_replay

    if is_replay(path):
        path.unlink()
    with open_out(path) as file:
        file.write(page)
