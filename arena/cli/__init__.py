"""The command `arena`: reads arguments, calls the library, and prints; decides nothing itself."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TextIO

import click

from arena import addons
from arena.addons import Command
from arena.errors import ArenaError, InputError, escape, require_posix, shorten
from arena.removed import advise

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

HELP = {"-h", "--help"}
_FAULT = (
    "error: this is a fault of the arena; please report it, with the command, all that it "
    "printed and the output of `arena doctor`"
)
"""The last line after a traceback."""

_FULL: Final = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}

COMMANDS: Final = addons.COMMANDS | addons.read_commands(
    "arena.cli",
    """
    run | play:run | Play the tournament of a CONFIG file, and write its results
    play | play:play | Play bots against each other without a config
    compare | play:compare | Say whether NEW is stronger than OLD, with as few games as needed
    rate | look:rate | Rate bots by the games of several runs, or games played elsewhere
    report | look:report | Write the report of a RUN again, or compare runs
    verify | look:verify | Check the folder of a finished RUN: every game, every file
    show | records:show | Print the result of a run, or a game ply by ply
    game | play:game | Play one game of a run again, and print its record
    new | bots:new | Write NAME.py, a complete bot, and test_NAME.py, its test
    check | bots:check | Check each item of the contract for BOT, and estimate its rating
    bots | bots:bots | List the bots available by name: in bots/, and from packages
    doctor | bots:doctor | Report what this machine offers to a run, and what to install
    docs | look:docs | Open the documentation in a browser; it needs no network
    export | records:export | Write all games of a RUN as JSON, one line per game
    plan | play:plan | Say before a run how many pairs of games separate the bots
    replay | records:replay | Check the game records of FILE, one a line; - is standard input
    view | look:view | Write the replay of a game as one HTML page that opens offline
    """,
)
"""All commands."""

FIRST: Final = (
    *("run", "play", "compare", "rate", "report", "verify", "show", "game"),
    *("league", "new", "check", "bots", "table", "doctor"),
)
"""The commands that the help lists first."""

PLAIN: Final = {
    *("rate", "report", "show", "new", "bots", "doctor", "docs", "export", "plan", "replay"),
    "view",
}
"""The commands that start no process for a bot, and lock nothing."""

SECTIONS: Final = {"Commands": FIRST, "More": tuple(sorted(COMMANDS.keys() - {*FIRST}))}
"""The commands that each section of the help lists."""


class Sections(click.Group):
    """A group whose help lists its commands in two sections, each with a whole sentence.

    A command is imported when it is used.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands, in order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, if there is one."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.add_command(addons.find(COMMANDS[cmd_name].place), cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write a list for each section."""
        width = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            rows = [
                (f"{name:<{width}}", COMMANDS[name].summary + _describe_lack(COMMANDS[name]))
                for name in names
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


class _Version(str):
    """The version of the arena, which is looked up when it is printed."""

    def __str__(self) -> str:
        from arena.tournament.versions import version_here

        return version_here()


def _describe_lack(command: Command) -> str:
    """Return which extra a command lacks, as an end of its line of help."""
    if not command.library or find_spec(command.library):
        return ""
    return f" (extra {command.extra})"


@click.group(
    cls=Sections, invoke_without_command=True, context_settings={"help_option_names": [*HELP]}
)
@click.version_option(_Version())
@click.pass_context
def cli(context: click.Context) -> None:
    """Tournaments between bots that play District Noir.

    `arena docs` opens the documentation, which needs no network.

    \b
    Example:
      arena play greedy uniform --pairs 100
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    elif not HELP & {*sys.argv} and context.invoked_subcommand not in PLAIN:
        require_posix(f"arena {context.invoked_subcommand}")


def main() -> None:
    """Run the command; every error is one line, with exit status 2, or 1 if a run failed."""
    _open_closed()
    sys.stdout, sys.stderr = map(_make_lasting, (sys.stdout, sys.stderr))
    try:
        status = cli.main(prog_name="arena", standalone_mode=False)
    except click.Abort as error:
        from arena.lanes.signals import interrupted_by

        with suppress(OSError):  # a pipe may be closed
            click.echo(f"interrupted: {error}" if str(error) else "interrupted", err=True)
        sys.exit(128 + interrupted_by())
    except click.ClickException as error:
        click.echo(f"error: {shorten(escape(_find_advice(error)))}", err=True)
        sys.exit(error.exit_code)
    except ArenaError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except Exception as error:
        place = _find_place(error)
        if isinstance(error, MemoryError):
            message = "too little memory"
        elif isinstance(error, OSError):  # a full disk, a folder that was removed
            message = f"{place}: {error.strerror}" if place else str(error)
        else:
            error.add_note(_FAULT)
            raise
        click.echo(f"error: {shorten(escape(message))}", err=True)
        sys.exit(2 if place else 1)
    sys.exit(status if isinstance(status, int) else 0)


_UNKNOWN = re.compile(r"No such (?:command|option):? '?([\w-]+)")


def _find_advice(error: click.ClickException) -> str:
    """Return the message of an error, or what to use in place of what has left."""
    message = error.format_message()
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
    match = _UNKNOWN.match(message)
    return (match and advise(f"{path} {match[1]}")) or message


def _find_place(error: Exception) -> str:
    """Return the file that an error of the system names, or "".

    Whatever else writes names its file, so a full disk without one is that of standard output.
    """
    if not isinstance(error, OSError):
        return ""
    unnamed = "standard output" if error.errno in _FULL else ""
    return str(unnamed if error.filename is None else error.filename)


def _open_closed() -> None:
    """Open the standard streams that were closed (`>&-`): no other file gets their number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for stream, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(stream, mode, closefd=False))


class _Terminal(io.FileIO):
    """A terminal that may be closed: later output is lost, and the process gets SIGHUP."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write the data, and return how many bytes were accepted."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in (errno.EIO, errno.ENXIO):
                raise
        from arena.lanes.signals import hang_up

        hang_up()
        return memoryview(data).nbytes


def _make_lasting(stream: TextIO) -> TextIO:
    """Return a standard stream that can write any text, also after its terminal was closed."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors="backslashreplace")  # a path may hold bytes that are not valid text
    if not stream.isatty() or os.name != "posix":
        return stream
    raw = _Terminal(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, "backslashreplace", line_buffering=True
    )


def find_commands() -> dict[str, click.Command]:
    """Return all commands by their names, those of add-ons too."""
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {name: command for name, command in found.items() if command}
