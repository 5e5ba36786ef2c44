"""Commands that show, judge and export games, and how they are found in a run or in a file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TextIO

import click

from arena.cli import options as cli
from arena.errors import InputError, arena_command, escape_lines, shell_line, writing

if TYPE_CHECKING:
    from arena.replays.finished_game import Game
    from arena.store.store import Store
    from arena.tournament.config_keys import Naming
    from arena.tournament.schedule import Fixture
    from arena.tournament.tournament import Tournament

_OTHER_FORMATS = {".csv", ".tsv", ".parquet", ".xlsx", ".html", ".md", ".sqlite", ".yaml"}


@contextmanager
def open_out(path: Path | None) -> Iterator[TextIO]:
    """Open a new file, which is removed if writing it fails."""
    if path is None:
        yield sys.stdout
        return
    try:
        file = path.open("x", encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{path}: exists already, and is not changed") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be written: {reason}") from None
    try:
        with writing(path), file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def open_records(path: Path) -> Iterator[BinaryIO]:
    """Open a file of records; - is standard input."""
    from arena.files import open_file
    from arena.store.reader import why_no_file

    if str(path) == "-":
        yield sys.stdin.buffer
        return
    if why := why_no_file(path):
        raise InputError(f"{path}: {why}")
    try:
        file = open_file(path)
    except InputError as error:
        is_run = path.is_dir() and (path / "run.sqlite").exists()
        hint = f", of a run: arena export {path} | arena replay -" if is_run else ""
        raise InputError(f"{path}: {error}{hint}") from None
    with file:
        yield file


@contextmanager
def open_record(path: Path, line: int) -> Iterator[bytes]:
    """Yield a line of a file of records, counted from 1.

    Raises InputError if the file has fewer, and for an error of the engine in the block, with the
    line, and the ply if it has one.
    """
    from arena.replays.judge_records import read_lines
    from engine import EngineError

    with open_records(path) as records:
        text = next(islice(read_lines(records), line - 1, None), None)
    if text is None:
        raise InputError(f"{path}: there is no line {line}")
    try:
        yield text
    except EngineError as error:
        ply = getattr(error, "ply", None)
        place = f"line {line}" if ply is None else f"line {line}, ply {ply}"
        raise InputError(f"{path}: {place}: {error}") from None


def is_run(target: Path, *, line: int | None, chosen: bool) -> bool:
    """Return True for the folder of a run, False for a file of records.

    Raises InputError for anything else, for a `line` of a run, and if a game is `chosen` by labels
    in a file.
    """
    if os.path.isdir(target):  # False also if it cannot be accessed
        if line is not None:
            raise InputError(f"--line: for a file of records, and {target} is a folder")
        return True
    if chosen:
        raise InputError(f"{target}: not the folder of a run; a game of a file is chosen by --line")
    if not os.path.exists(target) and str(target) != "-":
        raise InputError(f"{target}: no such file, and no such run")
    return False


_LISTED = 20  # games


class Picked(NamedTuple):
    """A game of a run, with its tournament and fixture."""

    tournament: Tournament
    fixture: Fixture
    game: Game


def pick_game(
    path: Path, choice: tuple[Sequence[str], int | None, int | None], command: str
) -> Picked | None:
    """Return the game of a run that is chosen by labels or by its name, pair and seat.

    If the choice fits several games, prints a list of them with the `command` for one of them, and
    returns None. Raises InputError if it fits no game.
    """
    from arena.store.reader import choose, chosen_games, read_run

    tournament, store = read_run(path)
    with closing(store):
        games = chosen_games(tournament, store, choose(tournament, *choice))
        listed = list(islice(games, _LISTED + 1))
        note_extent(path, tournament, store)
    if not listed:
        raise InputError(f"{path}: no such game has been played yet")
    if len(listed) == 1:
        return Picked(tournament, *listed[0])
    cli.say(*(f"{fixture.name}  {game.ending}" for fixture, game in listed[:_LISTED]))
    if len(listed) > _LISTED:
        cli.say("...")
    words = arena_command(command, [path, listed[0][0].name])
    cli.say(f"one of them, ply by ply: {words}")
    return None


def note_extent(path: Path, tournament: Tournament, store: Store) -> None:
    """Print a note on standard error if a run is not finished."""
    from arena.runs.next_round import measure_extent

    if state := measure_extent(tournament, store).describe():
        cli.say(f"note: {path}: {state}", err=True)


@click.command()
@click.argument("file", type=cli.PATH)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def replay(file: Path, as_json: bool) -> None:
    """Check the game records of FILE, one a line; - is standard input.

    A record is a JSON object, as `arena game` and `arena export` print it. The exit status is
    1 if a record is bad, or states another result than its actions have.

    \b
    Example:
      echo '{"deal": "555556666667777777888888882222334xxxyyyyzzCCC", "actions": "56T"}' |
        arena replay --json -
    """
    from arena.replays.judge_records import judge, read_lines, to_text

    bad = False
    with open_records(file) as records:
        for judgement in judge(read_lines(records)):
            bad |= "error" in judgement
            cli.say(json.dumps(judgement) if as_json else to_text(judgement))
    sys.exit(1 if bad else 0)


@click.command()
@click.argument("target", type=cli.PATH, metavar="RUN|FILE")
@click.argument("bots", nargs=-1, metavar="[GAME | BOT [OPPONENT]]")
@click.option("--pair", type=cli.PAIR, help="Of a run: which deal.")
@click.option("--seat", type=cli.SEAT, help="Of a run: the seat of BOT; seat 0 begins.")
@click.option(
    "--line", type=cli.Whole(1, sys.maxsize), help="Of a file: which record.  [default: 1]"
)
@cli.default_option("--by", str, "champion", "Bot that estimates chances.", metavar="BOT")
@cli.names_option
def show(
    target: Path,
    bots: Sequence[str],
    pair: int | None,
    seat: int | None,
    line: int | None,
    by: str,
    names: Naming,
) -> None:
    """Print the result of a run, or a game ply by ply.

    RUN is the folder of a run: without a game, its result so far is printed, as the first screen of
    its report. Choose a game of it by the labels of its bots, the pair and the seat, or by its name
    GAME, as in greedy/uniform/3/1. If more than one game fits, they are listed. FILE has one game
    record per line; - is standard input.

    The last line names the decisive ply: the one at which the chance to win changed most. It need
    not be the reason why the game was won. The bot of --by estimates the chances.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/show &&
        arena show results/show &&
        arena show results/show greedy uniform --pair 3 --seat 1
    """
    cli.tolerate_any_terminal()
    choice = bots, pair, seat
    chosen = bool(bots) or pair is not None or seat is not None
    if not is_run(target, line=line, chosen=chosen):
        _show_record(target, line or 1, names, by)
    elif chosen:
        _show_game(target, choice, names, by)
    else:
        _show_result(target)


def _show_result(path: Path) -> None:
    """Print the first screen of a run's report."""
    from arena.runs.stored_run import read_opening
    from arena.store.folder import REPORT_HTML

    opening, bot = read_opening(path)
    for text, bar in opening.lines():
        say_coloured(text, bar)
    cli.say("")
    if opening.command:
        out = f" {shell_line(['--out', path])}" if opening.continues else ""
        cli.say(f"{opening.task}: {opening.command}{out}")
    cli.say(f"Games of a bot: {arena_command('show', [path, bot])}")
    if (path / REPORT_HTML).is_file():
        cli.say(f"The report: {path / REPORT_HTML}")


_COLOURS = {"C": 172, "P": 74, "T": 117, "F": 245}
"""The colours of the win types in a terminal of 256 colours, near to those of a page."""


def say_coloured(text: str, bar: str) -> None:
    """Print a line; the letters of the bar behind it, a win type each, have its colour behind them.

    Without a terminal, and with NO_COLOR, they are letters only.
    """
    line = escape_lines(text)
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        click.echo(line + bar)
        return
    for letter, part in groupby(bar):
        cells = "".join(part)
        colour = _COLOURS.get(letter)
        line += click.style(cells, bg=colour, fg=16) if colour else cells
    click.echo(line)


def _show_record(path: Path, line: int, names: Naming, by: str) -> None:
    """Print a game of a file of records."""
    from arena.replays.curve import describe_decisive
    from arena.replays.finished_game import format_game
    from arena.replays.judge_records import parse_players, parse_record, read_line
    from engine import IllegalAction

    with open_record(path, line) as text:
        with suppress(IllegalAction):  # the plies before it are shown
            read_line(text)
        record, players = parse_record(text), parse_players(text)
        decisive = describe_decisive(record, players, by)
        for row in chain(format_game(record, names, players), decisive):
            cli.say(row)


def _show_game(
    path: Path, choice: tuple[Sequence[str], int | None, int | None], names: Naming, by: str
) -> None:
    """Print the chosen game of a run, or a list if several games fit the choice.

    A game is printed ply by ply, with the evidence of a forfeit, and its decisive ply.
    """
    from arena.replays.curve import describe_decisive
    from engine import EngineError

    picked = pick_game(path, choice, "show")
    if picked is None:
        return
    game = picked.game
    try:
        for row in chain(game.lines(names), describe_decisive(game.record, game.seats, by)):
            cli.say(row)
    except EngineError as error:
        raise InputError(f"{path}: its record cannot be played: {error}") from None


@click.command()
@click.argument("run", type=cli.PATH)
@click.option("--out", "-o", type=cli.PATH, help="The file to write.  [default: standard output]")
def export(run: Path, out: Path | None) -> None:
    """Write all games of a RUN as JSON, one line per game.

    A line has the record, the name of the game, the bots in the order of their seats, the winner,
    the win type, the points and the fault of a forfeit. An existing file is not overwritten.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/export &&
        arena export results/export | arena replay -
    """
    from arena.store.reader import Choice, chosen_games, read_run

    if out and out.suffix.lower() in _OTHER_FORMATS:
        games = run / "games.csv"
        where = f"; the rows of games.csv are in {games}" if games.is_file() else ""
        name = out.with_suffix(".jsonl")
        raise InputError(f"--out {out}: games are written as JSON lines, as to {name}{where}")
    tournament, store = read_run(run)
    with closing(store), open_out(out) as file:
        for fixture, game in chosen_games(tournament, store, Choice()):
            click.echo(game.to_json(game=fixture.name), file)
        note_extent(run, tournament, store)
