"""Commands for a person who plays against bots, in the terminal or in a browser."""

from __future__ import annotations

import importlib.util
import secrets
import sys
from pathlib import Path
from typing import Any, Final

import click

from arena.cli import options as cli
from arena.errors import InputError, not_installed

_FOLDER: Final = Path("results/human")


@click.command(cls=cli.Command)
@click.argument("bot")
@cli.default_option("--me", str, "human", "Your name in the records.")
@cli.default_option("--games", cli.GAMES, 1, "How many games.")
@cli.names_option
@click.option("--seed", type=cli.SEED, help="Decides the deals.  [default: a new one]")
@cli.default_option(
    "--lane", click.Choice(["process", "jail"]), "process", "How the bot is executed."
)
@click.option(
    "--out", "-o", type=cli.PATH, default=_FOLDER, show_default=True, help="Folder for the records."
)
@cli.RULES
def human(bot: str, me: str, lane: str, out: Path, rules: dict[str, Any], **given: Any) -> None:
    """Play games against BOT yourself, in this terminal.

    Type a card's character or its name to play it, T to take, ? for help, quit to leave. Each game
    is on a fresh deal, and the seats alternate. Every game is added to games.jsonl in the folder
    for the records, even one that you leave with quit (exit status 0), with Ctrl-C (130) or by the
    end of the input (1).

    \b
    Example:
      echo quit | arena human greedy
    """
    from arena.addons.table.table_games import SEEDS, Records, Session
    from arena.addons.table.terminal import Terminal, play_session
    from arena.entries.spec import check_label
    from arena.runs.rerun import find_opponent

    check_label("human", me)
    changed = cli.change_rules(rules)
    entry = find_opponent(me, bot, lane, changed)
    seed = secrets.randbelow(SEEDS) if given["seed"] is None else given["seed"]
    session = Session(me, entry, bot, seed, given["games"], given["names"], changed)
    cli.tolerate_any_terminal()
    if not play_session(session, Records(out), Terminal(sys.stdin, sys.stdout)):
        sys.exit(1)


_PORT: Final = cli.Whole(0, 65_535)


@click.command()
@click.option("--port", type=_PORT, default=0, metavar="N", help="The port.  [default: a free one]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@cli.default_option(
    "--results",
    cli.PATH,
    Path("results"),
    "Your games are added to human/games.jsonl in this folder.",
)
def table(port: int, no_browser: bool, results: Path) -> None:
    """Play against bots, or watch two of them, in a browser.

    Serves a page, only to this machine, until Ctrl-C. The printed address is a secret: whoever has
    it can start programs as you. Your games are added to RESULTS/human/games.jsonl, like those of
    `arena human`. Needs the extra `table`.

    \b
    Example:
      arena table
    """
    for library in ("starlette", "uvicorn"):
        if importlib.util.find_spec(library) is None:
            raise InputError(not_installed(library, "table"))
    from arena.addons.table.table_server import serve
    from arena.processes import adopt_orphans

    def tell(address: str) -> None:
        cli.say(f"{address}\na secret address, to be pasted into a browser; Ctrl-C ends the table")

    adopt_orphans()
    serve(results, port, tell, None if no_browser else _open_browser)


def _open_browser(page: Path) -> None:
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
