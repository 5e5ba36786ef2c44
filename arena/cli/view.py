"""The command that writes the replay of a game as a page."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from arena.cli.options import PATH, SEAT, Whole, names_option, say
from arena.cli.picking import Picked, describe_place, is_run, open_out, pick_game, read_record
from arena.errors import InputError, escape
from arena.tournament import keys

if TYPE_CHECKING:
    from arena.entries.entry import Entry
    from arena.lanes.limits import Limits
    from arena.runs.judge_games import Player
    from arena.tournament.keys import Naming
    from engine import Record

_LONGEST_NAME = 80  # characters of a file's name


class _What(NamedTuple):
    """What a page shows beside the chosen game.

    `other` is the ply and the action at which an alternative game branches off; `then` is the spec
    of the bot that plays it to the end. `worlds` is the number of worlds in which decisions are
    judged, 0 if they are not judged.
    """

    seat: int | None
    by: Entry
    thoughts: bool
    worlds: int
    other: tuple[int, str] | None
    then: str | None


@click.command()
@click.argument("target", type=PATH, metavar="RUN|FILE")
@click.argument("bots", nargs=-1, metavar="[GAME | BOT [OPPONENT]]")
@click.option("--line", type=Whole(1, sys.maxsize), help="Of a file: which record.  [default: 1]")
@click.option("--seat", type=SEAT, help="Only what this seat knew.  [default: everything]")
@click.option(
    "--by", default="champion", show_default=True, metavar="BOT", help="Bot that estimates chances."
)
@click.option("--thoughts", is_flag=True, help="Of a run: show what its bots thought.")
@click.option("--judge", is_flag=True, help="Show each decision's loss, as `arena analyse` does.")
@click.option(
    "--worlds",
    type=Whole(keys.LEAST_WORLDS, keys.MOST_WORLDS),
    help=f"With --judge: hands on which each action is tried.  [default: {keys.WORLDS}]",
)
@click.option(
    "--what-if",
    "other",
    type=(Whole(0, sys.maxsize), str),
    metavar="PLY ACTION",
    help="Play this action at this ply instead, then to the end.  [default: the game as it was]",
)
@click.option(
    "--then",
    metavar="BOT",
    help="With --what-if: the bot of both seats.  [default: a run's own bots, or champion]",
)
@click.option("--out", "-o", type=PATH, help="The page.  [default: named after the game]")
@names_option
def view(
    target: Path,
    bots: Sequence[str],
    line: int | None,
    by: str,
    out: Path | None,
    names: Naming,
    **options: Any,
) -> None:
    """Write the replay of a game as one HTML page that opens offline.

    RUN is the folder of a run, and a game of it is chosen as in `arena show`. FILE has one game
    record per line; - is standard input. With --seat the page contains only what that seat knew,
    also in its source. An earlier page of this command is overwritten, any other file is not.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/view &&
        arena view results/view greedy/uniform/3/1 --judge -o view.html
    """
    from arena.store.html_page import render_replay

    what = _read_options(by, **options)
    if is_run(target, line=line, chosen=bool(bots)):
        picked = pick_game(target, (bots, None, None), "view")
        if picked is None:
            return
        name = picked.fixture.name
        timeline = _make_timeline_of_run(target, picked, what)
    else:
        if what.thoughts:
            raise InputError("--thoughts: a record has them already, or has none")
        name = f"{'game' if str(target) == '-' else target.stem}-{line or 1}"
        timeline = _make_timeline_of_line(target, line or 1, what)
    out = out or Path(_make_file_name(name, what))
    _write_page(out, render_replay(timeline, names))
    say(f"the replay is in {out}")


def _read_options(
    by: str,
    *,
    seat: int | None,
    thoughts: bool,
    judge: bool,
    worlds: int | None,
    other: tuple[int, str] | None,
    then: str | None,
) -> _What:
    """Return what to show; raises InputError for options that exclude each other."""
    from arena.entries.resolve import resolve

    if worlds is not None and not judge:
        raise InputError("--worlds: only with --judge")
    if then is not None and other is None:
        raise InputError("--then: only with --what-if")
    if other is not None and seat is not None:
        why = "the other game needs all cards, which one seat does not know"
        raise InputError(f"--what-if: not with --seat; {why}")
    if other is not None and thoughts:
        raise InputError("--thoughts: only of the game that was played, and not with --what-if")
    return _What(seat, resolve(by), thoughts, (worlds or keys.WORLDS) * judge, other, then)


def _make_timeline_of_run(path: Path, picked: Picked, what: _What) -> dict[str, Any]:
    """Return the timeline of a game of a run."""
    from arena.runs.rerun import add_thoughts_of_run, find_players
    from arena.store.finished import game_timeline
    from engine import EngineError

    tournament, fixture, game = picked
    title = f"{tournament.name}: {fixture.name}"
    try:
        if what.other:
            own = None if what.then else find_players(tournament, fixture)
            return _make_other_timeline(
                game.record, game.seats, title, what, own, tournament.limits
            )
        if what.thoughts:
            game, note = add_thoughts_of_run(tournament, fixture, game)
            if note:
                say(f"note: {note}", err=True)
        judged = _judge(game.record, fixture.name, what, path)
        return game_timeline(game, title=title, seat=what.seat, by=what.by, **judged)
    except EngineError as error:
        raise InputError(f"{path}: its record cannot be played: {error}") from None


def _make_timeline_of_line(path: Path, line: int, what: _What) -> dict[str, Any]:
    """Return the timeline of a line of a file of records."""
    from arena.store.finished import line_timeline, name_of_line, players_of_line
    from arena.store.judge import parse_record
    from engine import EngineError

    text = read_record(path, line)
    title = f"line {line}" if str(path) == "-" else escape(f"{path.name}, line {line}")
    try:
        record = parse_record(text)
        if what.other:
            return _make_other_timeline(record, players_of_line(text), title, what)
        judged = _judge(record, name_of_line(text, line), what) if what.worlds else {}
        return line_timeline(text, title=title, seat=what.seat, by=what.by, **judged)
    except EngineError as error:
        raise InputError(f"{path}: {describe_place(line, error)}: {error}") from None


def _judge(record: Record, name: str, what: _What, folder: Path | None = None) -> dict[str, Any]:
    """Return the judged decisions of a game as keywords for its timeline."""
    from arena.runs.judge_games import describe_judge, review_record

    if not what.worlds:
        return {}
    judged = review_record(record, name=name, worlds=what.worlds, folder=folder)
    return {"judged": judged, "judge": describe_judge(worlds=what.worlds)}


def _make_other_timeline(
    record: Record,
    seats: tuple[str, str],
    title: str,
    what: _What,
    players: Sequence[Player] | None = None,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Return the timeline of the alternative game."""
    from arena.entries.resolve import resolve
    from arena.runs.judge_games import draw_players, what_if
    from arena.store.curve import BOT
    from arena.store.finished import Branch, branch_timeline

    assert what.other is not None
    ply, action = what.other
    then = resolve(what.then or BOT)
    other = what_if(record, ply, action, players or draw_players(then), limits)
    judged = _judge(other, f"{title}, {ply} {action}", what)
    branch = Branch(record, ply, "" if players else then.label)
    return branch_timeline(other, seats, branch, title=title, by=what.by, **judged)


def _make_file_name(game: str, what: _What) -> str:
    """Return a file name for the page of a game that is valid on every system."""
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", game).strip("-.")
    end = "" if what.seat is None else f"-seat-{what.seat}"
    if what.other:
        end = "-what-if-{}-{}".format(*what.other)
    return f"{plain[-_LONGEST_NAME:].strip('-.') or 'game'}{end}.html"


def _write_page(path: Path, page: str) -> None:
    """Write a page; an earlier page of a replay is overwritten, any other file is not."""
    from arena.store.html_page import is_replay

    if is_replay(path):
        path.unlink()
    with open_out(path) as file:
        file.write(page)


COMMANDS: list[click.Command] = [view]
