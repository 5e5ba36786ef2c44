"""Commands for a person who plays against bots, in the terminal or in a browser."""

from __future__ import annotations

import importlib.util
import secrets
import sys
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

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
from arena.errors import InputError
from arena.tournament.keys import Naming

if TYPE_CHECKING:
    from engine import Rules

_FOLDER: Final = Path("results/human")
_SEEDS = 1_000_000_000  # short enough to be typed


@click.command()
@click.argument("bot")
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
    from arena.addons.table.session import Records, Session, play_session
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
