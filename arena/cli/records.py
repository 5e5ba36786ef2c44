"""Commands that show, judge, export and replay games, of a run or of a file of records."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena.cli import options as cli
from arena.cli import picking
from arena.cli.starting import find_venue
from arena.entries.spec import LANES
from arena.errors import InputError, arena_command, escape_lines, shell_line

if TYPE_CHECKING:
    from arena.entries.spec import Lane
    from arena.tournament.config import BotEntry
    from arena.tournament.config_keys import Naming

_T = TypeVar("_T")
_OTHER_FORMATS = {".csv", ".tsv", ".parquet", ".xlsx", ".html", ".md", ".sqlite", ".yaml"}


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
    from arena.replays.judge_records import judge, read_lines, to_json, to_text

    format_judgement = to_json if as_json else to_text
    bad = False
    with picking.open_records(file) as records:
        for judgement in judge(read_lines(records)):
            bad |= "error" in judgement
            cli.say(format_judgement(judgement))
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
    if not picking.is_run(target, line=line, chosen=chosen):
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
    from engine import EngineError, IllegalAction

    text = picking.read_record(path, line)
    try:
        with suppress(IllegalAction):  # the plies before it are shown
            read_line(text)
        record, players = parse_record(text), parse_players(text)
        decisive = describe_decisive(record, players, by)
        for row in chain(format_game(record, names, players), decisive):
            cli.say(row)
    except EngineError as error:
        raise InputError(f"{path}: {picking.describe_place(line, error)}: {error}") from None


def _show_game(
    path: Path, choice: tuple[Sequence[str], int | None, int | None], names: Naming, by: str
) -> None:
    """Print the chosen game of a run, or a list if several games fit the choice.

    A game is printed ply by ply, with the evidence of a forfeit, and its decisive ply.
    """
    from arena.replays.curve import describe_decisive
    from engine import EngineError

    picked = picking.pick_game(path, choice, "show")
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
    with closing(store), picking.open_out(out) as file:
        for fixture, game in chosen_games(tournament, store, Choice()):
            click.echo(game.to_json(game=fixture.name), file)
        picking.note_extent(run, tournament, store)


@click.command(cls=cli.Command)
@click.argument("bot")
@click.argument("opponent")
@cli.default_option("--seed", cli.SEED, 0, "The run's seed.")
@cli.default_option("--pair", cli.PAIR, 0, "Which deal.")
@click.option("--deal", help="The deal, of a run with fixed deals.  [default: that of the pair]")
@cli.default_option("--seat", cli.SEAT, 0, "The seat of BOT; seat 0 begins.")
@click.option(
    "--lane",
    "lanes",
    type=click.Choice(LANES),
    multiple=True,
    help="For both, or for each.  [default: as fits the bot]",
)
@click.option("--needs", multiple=True, help="A JSON list of paths, for both or for each.")
@click.option(
    "--label", "labels", multiple=True, help="Label of BOT, then of OPPONENT, as in the run."
)
@cli.RULES
@cli.LIMITS
@click.option("--thoughts", is_flag=True, help="Add what bots thought of each action.")
@cli.venue_options("workers", *cli.ON_THIS_MACHINE)
def game(
    bot: str,
    opponent: str,
    seed: int,
    pair: int,
    deal: str | None,
    seat: int,
    lanes: Sequence[Lane],
    needs: Sequence[str],
    labels: Sequence[str],
    thoughts: bool,
    **options: Any,
) -> None:
    """Play one game of a run again, and print its record.

    A fault is printed with its evidence. The deal follows from the labels of the bots, the seed and
    the pair. The record goes to standard output, ready for `arena show -`. With --thoughts the bots
    report after the game what they thought; the game stays the same.

    \b
    Example:
      arena game greedy uniform --seed 7 --pair 3 --seat 1 | arena show -
    """
    from arena.runs.rerun import add_thoughts, play_again, prepare
    from arena.tournament.config import Config, make_tournament

    bots = _describe_bots((bot, opponent), labels, lanes, needs)
    settings = cli.with_options(Config([], pair + 1, name="game", seed=seed), options)
    tournament = make_tournament(settings, bots)
    tournament = tournament if deal is None else tournament.on_deal(deal)
    cli.warn(prepare(tournament))
    again = play_again(tournament, pair, seat, find_venue(options | {"workers": 1}))
    cli.say(*again.evidence(), err=True)
    if thoughts:
        again, note = add_thoughts(tournament, tournament.fixture(0, pair, seat), again)
        if note:
            cli.say(f"note: {note}", err=True)
    cli.say_json(again.to_json())


def _describe_bots(
    specs: Sequence[str], labels: Sequence[str], lanes: Sequence[Lane], needs: Sequence[str]
) -> list[BotEntry]:
    """Return the two bots, with their labels, lanes and needed files."""
    from arena.tournament.config import BotEntry

    both = zip(
        specs,
        _give_each("label", labels),
        _give_each("lane", lanes),
        (cli.parse_json("--needs", text or "[]", list[str]) for text in _give_each("needs", needs)),
        strict=True,
    )
    return [BotEntry(spec, label, {}, lane, paths) for spec, label, lane, paths in both]


def _give_each(name: str, values: Sequence[_T]) -> Sequence[_T | None]:
    """Return one value for each of two bots: one value is for both, no value is None for both."""
    if len(values) > 2 or (name == "label" and len(values) == 1):
        raise InputError(f"--{name}: give it twice, once for each bot")
    return (*values, *values)[:2] if values else (None, None)
