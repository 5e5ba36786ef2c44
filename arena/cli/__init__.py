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

FIRST: Final = (
    *("run", "play", "compare", "rate", "report", "verify", "show", "game"),
    *("league", "new", "check", "bots", "table", "doctor"),
)
"""The commands that the help lists first."""

FORKING: Final = {
    *("run", "play", "compare", "verify", "check", "game"),
    *(name for name, command in addons.COMMANDS.items() if command.forks),
}
"""The commands that start processes for bots, or lock what they write."""


class Sections(click.Group):
    """A group whose help lists its commands in two sections, each with a whole sentence.

    A command of an add-on is imported when it is used.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands, in order."""
        return sorted({*self.commands, *addons.COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, if there is one."""
        if cmd_name in addons.COMMANDS and cmd_name not in self.commands:
            self.add_command(addons.find(addons.COMMANDS[cmd_name].place), cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list for each section."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in SECTIONS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [
                (f"{name:<{width}}", _summarize(command) + _describe_lack(name))
                for name, command in commands
                if command
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


def _summarize(command: click.Command) -> str:
    """Return the first sentence of a command's help, which fits a line."""
    return (command.help or "").partition("\n")[0].removesuffix(".")


class _Version(str):
    """The version of the arena, which is looked up when it is printed."""

    def __str__(self) -> str:
        from arena.tournament.versions import version_here

        return version_here()


def _describe_lack(name: str) -> str:
    """Return which extra a command of an add-on lacks, as an end of its line of help."""
    command = addons.COMMANDS.get(name)
    if command is None or not command.library or find_spec(command.library):
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
    elif not HELP & {*sys.argv} and context.invoked_subcommand in FORKING:
        require_posix(f"arena {context.invoked_subcommand}")


def main() -> None:
    """Run the command; every error is one line, with exit status 2, or 1 if a run failed."""
    sys.stdout, sys.stderr = map(_make_lasting, (sys.stdout, sys.stderr))
    try:
        status = cli.main(prog_name="arena", standalone_mode=False)
    except click.Abort as error:
        from arena.lanes.cleanup import interrupted_by

        with suppress(OSError):  # a pipe may be closed
            click.echo(_describe_interruption(error), err=True)
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
    """Return the file of an error of the system, "" if it has none.

    Whatever else writes names its file, so a full disk without one is that of standard output.
    """
    if not isinstance(error, OSError):
        return ""
    unnamed = "standard output" if error.errno in _FULL else ""
    return str(unnamed if error.filename is None else error.filename)


class _Terminal(io.FileIO):
    """A terminal that may be closed: later output is lost, and the process gets SIGHUP."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write the data, and return how many bytes were accepted."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in (errno.EIO, errno.ENXIO):
                raise
        from arena.lanes.cleanup import hang_up

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


def _describe_interruption(error: click.Abort) -> str:
    """Return the message after Ctrl-C or SIGTERM; it says what is kept if the command knows."""
    return f"interrupted: {error}" if str(error) else "interrupted"


from arena.cli import look, play, records, view, writing  # noqa: E402

for _module in (look, play, records, view, writing):
    for _command in _module.COMMANDS:
        cli.add_command(_command)

SECTIONS: Final = {
    "Commands": FIRST,
    "More": tuple(sorted({*cli.commands, *addons.COMMANDS} - {*FIRST})),
}
"""The commands that each section of the help lists."""


def find_commands() -> dict[str, click.Command]:
    """Return all commands by their names, those of add-ons too."""
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {name: command for name, command in found.items() if command}
