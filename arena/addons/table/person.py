"""The commands for a person who plays against bots, in the terminal or in a browser."""

from __future__ import annotations

import importlib.util
import secrets
import sys
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from arena.addons.table.player import InputEnded, PersonPlayer, Quit, Terminal
from arena.addons.table.session import RecordedGame, Records, Session
from arena.cli.completion import complete_bots
from arena.cli.options import (
    GAMES,
    ON_THIS_MACHINE,
    PATH,
    RULES,
    SEED,
    THOUGHTS,
    Whole,
    change_rules,
    names_option,
    say,
    tolerate_any_terminal,
    venue_options,
)
from arena.cli.starting import find_venue
from arena.errors import InputError, quote
from arena.lanes.cleanup import adopt_orphans, exit_on_termination
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from arena.store import board
from arena.store.board import shorten
from arena.store.folder import Naming
from arena.tournament.match import Finished

if TYPE_CHECKING:
    from engine import Rules


def play_session(
    session: Session, records: Records, terminal: Terminal, interrupted: RecordedGame | None = None
) -> bool:
    """Play the games of a session, each recorded; return False if the input ended too early.

    A game that is left early, even by an exception, is recorded as it stands. The session begins
    with the `interrupted` game. Raises Changed if its bot plays differently now.
    """
    ended_well = True
    first = interrupted or RecordedGame(session, 0)
    adopt_orphans()
    with (
        exit_on_termination(),
        scratch_folder() as folder,
        bot_process(session.entry, session.rules, session.limits, folder / BOT) as process,
    ):
        try:
            _play_it(first, process, records, terminal)
            for number in range(first.fixture.pair + 1, session.games):
                _play_it(RecordedGame(session, number), process, records, terminal)
        except (Quit, InputEnded) as reason:
            ended_well = isinstance(reason, Quit)
    terminal.say([f"The same again: {session.command}"])
    return ended_well


def _play_it(game: RecordedGame, process: BotProcess, records: Records, terminal: Terminal) -> None:
    """Play one game at the terminal, and show its end, even if an exception ends it."""
    label, naming = game.session.entry.label, game.session.naming
    opponent = shorten(label)
    begins = "you begin" if game.seat == 0 else f"{opponent} begins"
    terminal.say(["", f"You against {opponent}; {begins}."])
    if plies := len(game.former):
        terminal.say([f"The game goes on where it was interrupted, at ply {plies}."])
    person = PersonPlayer(terminal, label, naming)
    finished = None
    try:
        finished = game.play(person, process, records)
    finally:
        if game.line is not None:
            if game.thoughtless:
                terminal.say([f"No thoughts: {game.thoughtless}"])
            if finished is not None:
                since = person.seen_plies
                lines = board.format_ending(finished, game.seat, naming, label, since)
                terminal.say(["", *lines])
            _say_where(game, finished, records, terminal)


def _say_where(
    game: RecordedGame, finished: Finished | None, records: Records, terminal: Terminal
) -> None:
    """Show in which line of the file the game was recorded."""
    naming, line = game.session.naming, game.line
    what = "Recorded" if finished else "The game is kept unfinished"
    names = "" if naming == "english" else f" --names {naming}"
    path = quote(str(records.path))
    terminal.say(
        ["", f"{what}: line {line} of {path}", f"  arena show {path} --line {line}{names}"]
    )


_FOLDER: Final = Path("results/human")
_SEEDS = 1_000_000_000  # short enough to be typed


@click.command()
@click.argument("bot", shell_complete=complete_bots)
@click.option("--me", default="human", show_default=True, help="Your name in the records.")
@click.option("--games", type=GAMES, default=1, show_default=True, help="How many games.")
@names_option
@click.option("--seed", type=SEED, help="Decides the deals.  [default: a new one]")
@click.option(
    "--lane",
    type=click.Choice(["process", "jail"]),
    default="process",
    show_default=True,
    help="How the bot is executed.",
)
@click.option(
    "--out", "-o", type=PATH, default=_FOLDER, show_default=True, help="Folder for the records."
)
@RULES
@THOUGHTS
def human(
    bot: str,
    me: str,
    games: int,
    names: Naming,
    seed: int | None,
    lane: str,
    out: Path,
    rules: dict[str, Any],
    *,
    thoughts: bool,
) -> None:
    """Play games against BOT yourself, in this terminal.

    Type a card's character or its name to play it, T to take, ? for help, quit to leave. Each game
    is on a fresh deal, and the seats alternate. Every game is added to games.jsonl in the folder
    for the records, even one that you leave with quit (exit status 0), with Ctrl-C (130) or by the
    end of the input (1). If the program was killed in a game, the next `arena human` prints the
    command that continues it. `arena play human BOT` does the same.

    \b
    Example:
      echo quit | arena human greedy
    """
    from arena.entries.spec import check_label

    check_label("human", me)
    _play(
        me,
        bot,
        seed=seed,
        lane=lane,
        out=out,
        games=games,
        names=names,
        rules=change_rules(rules),
        thoughts=thoughts,
    )


def play_person(bots: Sequence[str], **options: Any) -> None:
    """Play games of the person, for whom one of two specs stands, against the other bot."""
    _play(*person_and_bot(bots), **options)


def _play(
    me: str,
    spec: str,
    *,
    seed: int | None,
    lane: str | None,
    out: Path | None,
    games: int,
    names: Naming,
    rules: Rules,
    thoughts: bool = False,
) -> None:
    """Play games between a person and a bot at this terminal.

    Exits with status 1 if the input ended in the middle of a game.
    """
    from arena.addons.table.interrupted import find_own
    from arena.addons.table.player import Terminal
    from arena.addons.table.session import Records, Session

    pass
    from arena.runs.rerun import find_opponent

    entry = find_opponent(me, spec, lane, rules)
    seed = secrets.randbelow(_SEEDS) if seed is None else seed
    session = Session(me, entry, spec, seed, games, names, rules, thoughts=thoughts)
    records = Records(out or _FOLDER)
    tolerate_any_terminal()
    interrupted, others = find_own(session, records)
    terminal = Terminal(sys.stdin, sys.stdout)
    terminal.say(others)
    game = interrupted.go_on(entry, records) if interrupted else None
    if not play_session(session, records, terminal, game):
        sys.exit(1)


def person_and_bot(specs: Sequence[str]) -> tuple[str, str]:
    """Return the person's label and the bot's spec, in whichever order they were given."""
    from arena.entries.spec import person_label

    labels = [label for label in map(person_label, specs) if label is not None]
    others = [spec for spec in specs if person_label(spec) is None]
    if (len(labels), len(others)) != (1, 1):
        raise InputError("human: one person plays against one bot, as in `arena play human greedy`")
    return labels[0], others[0]


_NEEDED: Final = ("starlette", "uvicorn", "sse_starlette")
_RESULTS: Final = Path("results")
_PORT: Final = Whole(0, 65_535)
_FIRST: Final = "to be pasted into a browser, and works once; Ctrl-C ends the table"
_FURTHER: Final = "for another browser: the address before has been used"


@click.command()
@click.option("--port", type=_PORT, default=0, metavar="N", help="The port.  [default: a free one]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--results",
    type=PATH,
    default=_RESULTS,
    show_default=True,
    help="Folder of the runs, and of your games in human/.",
)
@venue_options("workers", *ON_THIS_MACHINE)
def table(port: int, no_browser: bool, results: Path, **options: Any) -> None:
    """Play, watch and look things up in a browser.

    Serves a page, only to this machine, until Ctrl-C. The printed address works once; then another
    one is printed. Your games are added to RESULTS/human/games.jsonl, like those of `arena human`.
    Needs the extra `table`.

    \b
    Example:
      arena table
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(
            f"arena table needs {', '.join(missing)}: pip install 'district-noir-arena[table]'"
        )
    from arena.addons.table.server import serve
    from arena.executors.worker import play_here

    play_here(find_venue(options))
    serve(results, port, _make_teller(), None if no_browser else _open_browser)


def _make_teller() -> Callable[[str], None]:
    """Return a function that prints the first address, then those for further browsers."""
    remarks = chain([_FIRST], repeat(_FURTHER))

    def tell(address: str) -> None:
        say(f"{address}\n{next(remarks)}")

    return tell


def _open_browser(page: Path) -> None:
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
