"""`arena human BOT`: a person plays in the terminal."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from arena.cli.completion import complete_bots
from arena.cli.options import PATH, THOUGHTS, names_option, tolerate_any_terminal
from arena.cli.whole import GAMES, SEED
from arena.errors import InputError
from arena.records.naming import Naming

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
@THOUGHTS
def human(
    bot: str,
    me: str,
    games: int,
    names: Naming,
    seed: int | None,
    lane: str,
    out: Path,
    *,
    thoughts: bool,
) -> None:
    """Play games against BOT yourself, in this terminal.

    Type a card's character or its name to play it, T to take, ? for help, quit to leave. Each
    game is on a fresh deal, and the seats alternate. Every game is added to games.jsonl in
    the folder for the records, even one that you leave with quit (exit status 0), with Ctrl-C
    (130) or by the end of the input (1). One that was killed goes on with the command that the
    next `arena human` prints. `arena play human BOT` does the same.

    \b
    Example:
      echo quit | arena human greedy
    """
    from arena.entries.spec import check_label

    check_label("human", me)
    play(me, bot, seed=seed, lane=lane, out=out, games=games, names=names, thoughts=thoughts)


def is_asked_for(specs: Sequence[str]) -> bool:
    """Return whether one of the specs names a person."""
    from arena.entries.spec import person_label

    return any(person_label(spec) is not None for spec in specs)


def play(
    me: str,
    spec: str,
    *,
    seed: int | None,
    lane: str | None,
    out: Path | None,
    games: int,
    names: Naming,
    thoughts: bool = False,
) -> None:
    """Play games between a person and a bot at this terminal.

    Exits with status 1 if the input ended in the middle of a game.
    """
    from arena.runs.opponent import find_opponent
    from arena.table.interrupted import find_own
    from arena.table.session import play_session
    from arena.table.sitting import Records, Session
    from arena.table.terminal import Terminal
    from engine import STANDARD

    entry = find_opponent(me, spec, lane)
    seed = secrets.randbelow(_SEEDS) if seed is None else seed
    session = Session(me, entry, spec, seed, games, names, STANDARD, thoughts=thoughts)
    records = Records(out or _FOLDER)
    tolerate_any_terminal()
    interrupted, others = find_own(session, records)
    terminal = Terminal(sys.stdin, sys.stdout)
    terminal.say(others)
    sitting = interrupted.go_on(entry, records) if interrupted else None
    if not play_session(session, records, terminal, sitting):
        sys.exit(1)


def person_and_bot(specs: Sequence[str]) -> tuple[str, str]:
    """Return the person's label and the bot's spec, in whichever order they were given."""
    from arena.entries.spec import person_label

    labels = [label for label in map(person_label, specs) if label is not None]
    others = [spec for spec in specs if person_label(spec) is None]
    if (len(labels), len(others)) != (1, 1):
        raise InputError("human: one person plays against one bot, as in `arena play human greedy`")
    return labels[0], others[0]


COMMANDS: list[click.Command] = [human]
