"""The commands for authors of bots: a new bot, a check of the contract, one packed file."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.check.item import GAMES, LEAST_GAMES
from arena.cli.completion import complete_bots
from arena.cli.options import (
    LIMITS,
    ON_THIS_MACHINE,
    PATH,
    SEED,
    Whole,
    change_limits,
    json_option,
    print_json,
    say,
    venue_options,
)
from arena.cli.starting import find_venue
from arena.entries.resolve import installed
from arena.errors import InputError, counted

if TYPE_CHECKING:
    from arena.check.item import Item, Order
    from arena.entries.entry import Entry
    from arena.entries.spec import Lane

_TEMPLATE = Path(__file__).parent / "template"
_NAMED = re.compile("my_bot|MyBot")
_TAKEN = ("Action", "Kind", "Setup", "View")
_MOST_NAME = 40


def write_draft(name: str, folder: Path) -> tuple[Path, Path]:
    """Write `name.py` and `test_name.py` into a folder, and return their paths.

    Raises InputError, before anything is written, for an invalid name, and if one of the files
    exists.
    """
    _check(name)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; make it first")
    names = {"my_bot": name, "MyBot": class_name(name)}
    written: list[Path] = []
    try:
        for template in ("my_bot.py", "test_my_bot.py"):
            text = (_TEMPLATE / template).read_text(encoding="utf-8")
            path = folder / template.replace("my_bot", name)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(_NAMED.sub(lambda match: names[match[0]], text))
    except OSError as error:
        for file_written in written:
            with suppress(OSError):
                file_written.unlink()
        exists = isinstance(error, FileExistsError)
        reason = "exists already, and is not changed" if exists else error.strerror
        raise InputError(f"{path}: {reason}") from None
    bot, test = written
    return bot, test


def class_name(name: str) -> str:
    """Return the class name for a bot's name.

    >>> class_name("my_first_bot"), class_name("view")
    ('MyFirstBot', 'ViewBot')
    """
    words = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return f"{words}Bot" if words in _TAKEN else words


def _check(name: str) -> None:
    """Raise InputError for a name that Python could not import as a new module."""
    folder, slash, own = name.rpartition("/")
    if slash and _is_identifier(own):
        raise InputError(
            f"name {name!a}: a name and no path; for another folder: "
            f"arena new {own} --dir {folder or slash}"
        )
    if not _is_identifier(name):
        stem = name.removesuffix(".py")
        how = (
            "a word of Python; choose another one"
            if keyword.iskeyword(name)
            else (
                "not a plain name of Python; use A-Z a-z 0-9 and _, as in "
                f"{stem if _is_identifier(stem) else 'my_bot'}"
            )
        )
        raise InputError(f"name {name!a}: {how}")
    if len(name) > _MOST_NAME:
        raise InputError(f"name {name!a}: longer than {_MOST_NAME} characters")
    if name in dict(installed()):
        raise InputError(f"name {name!a}: a bot in bots/ has this name; choose another one")
    if name in sys.stdlib_module_names or _is_installed(name):
        raise InputError(f"name {name!a}: a Python module has this name; choose another one")


def _is_identifier(name: str) -> bool:
    return bool(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name)) and not keyword.iskeyword(name)


def _is_installed(name: str) -> bool:
    """Return whether importing this name finds a module outside the current folder."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    return Path(spec.origin).parent.resolve() != Path.cwd()


@click.command()
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=PATH,
    default=Path(),
    help="The folder to write to.  [default: the current one]",
)
def new(name: str, folder: Path) -> None:
    """Write NAME.py, a complete bot, and test_NAME.py, its test.

    Existing files are not overwritten.

    \b
    Example:
      arena new my_first_bot && arena play ./my_first_bot.py uniform --pairs 10
    """
    bot, test = write_draft(name, folder)
    spec = bot if "/" in str(bot) else f"./{bot}"
    say(f"wrote {bot} and {test}; now:")
    next_steps = {
        f"arena play {spec} greedy": "let it play",
        f"arena check {spec}": "does it keep the contract?",
        f"python {test}": "run its test",
    }
    width = max(map(len, next_steps))
    say(*(f"  {command:<{width}}  {what}" for command, what in next_steps.items()))


@click.command()
@click.argument("bot", shell_complete=complete_bots)
@click.option(
    "--games",
    type=Whole(LEAST_GAMES, 100_000),
    default=GAMES,
    show_default=True,
    help="Games in each lane; about six times as many in all.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the deals.")
@click.option(
    "--lane",
    type=click.Choice(["jail", "process"]),
    help="The lane of its processes.  [default: the jail, if there is one]",
)
@click.option("--seconds", hidden=True)
@LIMITS
@venue_options("workers", *ON_THIS_MACHINE)
@json_option
def check(
    bot: str,
    games: int,
    seed: int,
    lane: Lane | None,
    seconds: str | None,
    limits: dict[str, Any],
    as_json: bool,
    **options: Any,
) -> None:
    """Check each item of the contract for BOT, and estimate its rating.

    Its code runs in separate processes, in the jail if this machine has one. Outside the jail a bot
    could forge its report, so it is never accepted there. The exit status is 0 if no item failed, 1
    if one did or the check was cut short, 2 if BOT does not exist.

    \b
    Example:
      arena check ./my_bot.py --games 8
    """
    from arena.check.item import NOT_JAILED, Order, format_item, safest_lane
    from arena.check.supervisor import run_check
    from arena.entries.resolve import resolve
    from arena.lanes.bubblewrap import find_bubblewrap
    from arena.lanes.cleanup import adopt_orphans

    if seconds is not None:
        say("warning: --seconds has no effect now; --games says how much", err=True)
    entry = resolve(bot)
    if lane == "jail":
        find_bubblewrap()
    venue = find_venue(options)
    order = Order(bot, lane or safest_lane(), games, seed, change_limits(limits), venue)
    adopt_orphans()
    items = []
    with _Progress() as progress:
        for item in run_check(order, progress.show):
            items.append(item)
            progress.show("")
            if not as_json:
                say("\n".join(format_item(item)))
    refused = [item.name for item in items if item.status == "fail"]
    if as_json:
        print_json(_make_document(order, entry, items))
    else:
        accepted = "accepted" if order.jailed else "no verdict: nothing has failed"
        say(f"refused: {', '.join(refused)}" if refused else accepted)
        if not order.jailed:
            say(NOT_JAILED)
    sys.exit(1 if refused else 0)


def _make_document(order: Order, entry: Entry, items: list[Item]) -> dict[str, Any]:
    """Return the whole report as plain data."""
    from arena.check.item import NOT_JAILED, to_data

    return {
        "bot": entry.target,
        "params": entry.params,
        "sha256": entry.sha256,
        "games": order.games,
        "seed": order.seed,
        "ok": all(item.status != "fail" for item in items),
        "jailed": order.jailed,
        "warning": "" if order.jailed else NOT_JAILED,
        "items": [to_data(item) for item in items],
    }


class _Progress:
    """Shows on a terminal which item is being checked, in a line that disappears again."""

    def __enter__(self) -> _Progress:
        self.shown = ""
        return self

    def show(self, what: str) -> None:
        """Show a text in place of the previous one."""
        if what != self.shown and sys.stderr.isatty():
            click.echo(f"\r{what:<{len(self.shown)}}\r{what}", nl=False, err=True)
            self.shown = what

    def __exit__(self, *_: object) -> None:
        self.show("")


@click.command()
@click.argument("bot", type=PATH)
@click.argument("files", nargs=-1, type=PATH)
@click.option("--out", "-o", type=PATH, required=True, help="The file to write, such as packed.py.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def pack(bot: Path, files: tuple[Path, ...], out: Path, force: bool) -> None:
    """Write BOT and its FILES as one Python file, which is a bot.

    BOT is a file or a folder. FILES are data that it reads (weights) and modules that it imports; a
    folder stands for all files in it. The same files give the same bytes. Packed or not, the bot
    reads a file as Path(__file__).with_name("weights.npz").

    \b
    Example:
      echo 0.5 > weights.txt && arena pack my_bot.py weights.txt -o packed.py
    """
    from arena.entries.identity import imported_bots
    from arena.entries.pack import gather, write_file, write_packed
    from arena.entries.resolve import BOTS

    contents, main = gather(bot, files)
    text = write_packed(contents, main, imported_bots(contents, BOTS))
    replaced = write_file(out, text, [bot, *files], force=force)
    done = "replaced" if replaced else "wrote"
    number = counted(len(contents), "file")
    say(f"{done} {out}: {number}, {len(text):,} bytes; now:")
    spec = out if "/" in str(out) else f"./{out}"
    say(f"  arena check {spec}   does it keep the contract?")


COMMANDS: list[click.Command] = [new, check, pack]
