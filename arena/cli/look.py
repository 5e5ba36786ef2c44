"""Commands that look: at pages, a game's replay, a run's files and ratings."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena import addons
from arena.cli import options as cli
from arena.cli import records
from arena.cli.starting import describe_folder, find_venue
from arena.errors import ArenaError, InputError, escape
from arena.store.folder import LEAGUE

if TYPE_CHECKING:
    from arena.tournament.config_keys import Naming

_SAMPLE = cli.Whole(0, sys.maxsize)
_PACKAGE = Path(__file__).parents[1]


@click.command()
@click.argument("page", required=False)
@click.option("--path", "only_path", is_flag=True, help="Only print where it is; open nothing.")
def docs(page: str | None, only_path: bool) -> None:
    """Open the documentation in a browser; it needs no network.

    It is a part of the installation. PAGE is the name of a page, such as league, first-bot or
    arena-run. Its file is printed: without a browser here, copy its folder to another machine.

    \b
    Example:
      arena docs --path
    """
    place = _find_page(page)
    cli.say(str(place))
    if place.suffix == ".md":
        cli.say("as text: `make docs` builds the site", err=True)
        return
    if not only_path:
        import webbrowser

        with suppress(OSError, webbrowser.Error):
            if webbrowser.open(place.as_uri()):
                return
        cli.say("no browser was found here; open this file in one", err=True)


def _find_page(name: str | None) -> Path:
    """Return the file of a page, by default the first one. Raises InputError without it."""
    clone = _PACKAGE.parent / "docs"
    is_clone = (clone / "making").is_dir()
    site = clone / "site" if is_clone else _PACKAGE / "site"
    paths = sorted(site.rglob("*.html"), reverse=True)
    if not paths and not is_clone:
        raise InputError("this package was built without its site; `make docs` in a clone makes it")
    paths = paths or sorted(clone.rglob("*.md"), reverse=True)
    pages = {_name_page(path): path for path in paths}
    if name is None:
        return site / "index.html" if paths[0].suffix == ".html" else clone / "index.md"
    if name not in pages:
        near = difflib.get_close_matches(name, pages, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "its first page leads to all pages"
        raise InputError(f"{name!r}: the documentation has no such page; {hint}")
    return pages[name]


def _name_page(path: Path) -> str:
    return path.parent.name if path.stem in ("index", "README") else path.stem


@click.command()
@click.argument("run", type=cli.PATH)
@cli.default_option("--sample", _SAMPLE, 20, "Games of each pairing that the bots play again.")
@cli.venue_options(*cli.ON_THIS_MACHINE)
@cli.json_option
def verify(run: Path, sample: int, as_json: bool, **options: Any) -> None:
    """Check the folder of a finished RUN: every game, every file.

    Replays every record with the engine, lets the bots play a sample of the games again, and
    regenerates every file. Reports the first difference, with exit status 1. `arena replay` checks
    a file of game records.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/check &&
        arena verify results/check
    """
    from arena.executors.local import open_executor
    from arena.runs.verify import verify as verify_run

    lines = []
    difference = None
    try:
        with open_executor(find_venue(options)) as executor:
            for line in verify_run(run, sample, executor):
                lines.append(line)
                if not as_json:
                    cli.say(line)
    except ArenaError as error:
        if isinstance(error, InputError) or not as_json:
            raise
        difference = str(error)
    if as_json:
        ok = difference is None
        cli.print_json({"run": str(run), "ok": ok, "checked": lines, "difference": difference})
        sys.exit(0 if ok else 1)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=cli.PATH, metavar="RUN [RUN ...]")
@click.option(
    "--out",
    "-o",
    type=cli.PATH,
    metavar="FILE.html",
    help="File to write; FILE.md goes beside it.  [default: report.html in the folder of RUN; "
    "for several: results/report-RUN-RUN.html]",
)
def report(runs: Sequence[Path], out: Path | None) -> None:
    """Write the report of a RUN again, or compare runs.

    It shows the games so far, also of an unfinished run, and adds what the run's own report lacks:
    the time that bots took, and the results of `arena analyse`. Several runs are rated together, as
    by `arena rate`: a bot that is another one than in the first run is NAME@RUN, and a verdict says
    which of the two is stronger. Of a league's folder all pages are written, to its site/.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/friday &&
        arena report results/friday
    """
    import arena
    from arena.replays.html_page import check_place

    if out is None and len(runs) == 1 and (runs[0] / LEAGUE).is_file():
        cli.say(f"report in {addons.hook('write_pages')(runs[0])}")
        return
    file = out or _choose_place(runs)
    if file.suffix != ".html":
        raise InputError(f"--out {file}: not the name of a page, such as {file.stem or 'a'}.html")
    places = [file, file.with_suffix(".md")]
    for place in places:
        check_place(place)
    first, *others = [arena.open(run) for run in runs]
    made = first.report(*others)
    for place in places:
        made.save(place)
    cli.say(f"report in {' and '.join(map(str, places))}")


def _choose_place(runs: Sequence[Path]) -> Path:
    """Return the path of a report without --out."""
    if len(runs) == 1:
        return runs[0] / "report.html"
    names = [os.path.basename(os.path.realpath(run)) for run in runs[:2]]
    more = f"-and-{len(runs) - 2}-more" if len(runs) > 2 else ""
    return Path("results") / f"report-{'-'.join(names)}{more}.html"


@click.command()
@click.argument("places", nargs=-1, required=True, type=cli.PATH, metavar="RUN|FILE ...")
@cli.key_option("anchor", "none, the mean is 1500", multiple=True)
@click.option(
    "--out", "-o", type=cli.PATH, help="Folder for the tables and the report.  [default: none]"
)
def rate(places: Sequence[Path], anchor: Sequence[str], out: Path | None) -> None:
    """Rate bots by the games of several runs, or games played elsewhere.

    RUN is the folder of a run. FILE is a games.csv, has the records of `arena export`, or is a CSV
    file with the columns bot, opponent and winner (a label; draw or empty for a draw) and, if they
    are known, pair, seat, win_type, points and opponent_points. Bots of runs are the same bot if
    their sha256 and parameters are equal; bots from other files are identified by their label.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/friday &&
        arena rate results/friday --anchor uniform=1000
    """
    import arena

    rated = arena.rate(*places, anchor=anchor)
    if out:
        rated.save(out)
    cli.say(format(rated, str(cli.terminal_room() or "")))
    cli.say(*(f"note: {note}" for note in rated.notes), err=True)
    if out:
        cli.say(describe_folder(out))


@click.command()
@click.argument("target", type=cli.PATH, metavar="RUN|FILE")
@click.argument("bots", nargs=-1, metavar="[GAME | BOT [OPPONENT]]")
@click.option(
    "--line", type=cli.Whole(1, sys.maxsize), help="Of a file: which record.  [default: 1]"
)
@click.option("--seat", type=cli.SEAT, help="Only what this seat knew.  [default: everything]")
@click.option("--out", "-o", type=cli.PATH, help="The page.  [default: named after the game]")
@cli.names_option
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
    from arena.replays.html_page import render_replay

    if records.is_run(target, line=line, chosen=bool(bots)):
        picked = records.pick_game(target, (bots, None, None), "view")
        if picked is None:
            return
        name = picked.fixture.name
        timeline = _make_timeline_of_run(target, picked, seat)
    else:
        name = f"{'game' if str(target) == '-' else target.stem}-{line or 1}"
        timeline = _make_timeline_of_line(target, line or 1, seat)
    out = out or Path(_make_file_name(name, seat))
    _write_page(out, render_replay(timeline, names))
    cli.say(f"the replay is in {out}")


def _make_timeline_of_run(path: Path, picked: records.Picked, seat: int | None) -> dict[str, Any]:
    """Return the timeline of a game of a run."""
    from arena.entries.resolve import resolve
    from arena.replays.curve import BOT
    from arena.replays.finished_game import game_timeline
    from arena.runs.judge_games import describe_judge, find_review
    from engine import EngineError

    tournament, fixture, game = picked
    try:
        judged = find_review(path, fixture, game)
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
    from arena.replays.curve import BOT
    from arena.replays.judge_records import line_timeline

    title = f"line {line}" if str(path) == "-" else escape(f"{path.name}, line {line}")
    with records.open_record(path, line) as text:
        return line_timeline(text, title=title, seat=seat, by=resolve(BOT))


def _make_file_name(game: str, seat: int | None) -> str:
    """Return a file name for the page of a game that is valid on every system."""
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", game).strip("-.")[-80:].strip("-.")
    return f"{plain or 'game'}{'' if seat is None else f'-seat-{seat}'}.html"


def _write_page(path: Path, page: str) -> None:
    """Write a page; an earlier page of a replay is overwritten, any other file is not."""
    from arena.replays.html_page import is_replay

    if is_replay(path):
        path.unlink()
    with records.open_out(path) as file:
        file.write(page)
