"""The command `arena`: words in, words out. Nothing is decided here."""

from __future__ import annotations

import io
import sys

import click

from arena.errors import ArenaError, InputError, escape, shorten

_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="district-noir-arena")
def cli() -> None:
    """Tournaments between bots that play District Noir.

    \b
    Example:
      arena play greedy uniform --pairs 100
    """


def main() -> None:
    """Run the command; every error is one line and exit status 2, or 1 where a run failed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a path may hold what is no text
            stream.reconfigure(errors="backslashreplace")
    try:
        status = cli.main(standalone_mode=False)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(_INTERRUPTED)
    except click.ClickException as error:
        click.echo(f"error: {shorten(escape(error.format_message()))}", err=True)
        sys.exit(error.exit_code)
    except ArenaError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except OSError as error:  # a full disk, a folder that was removed
        click.echo(f"error: {escape(str(error))}", err=True)
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)


from arena.cli import game, packing, playing, reading, writing  # noqa: E402

for _room in (playing, game, reading, writing, packing):
    for _command in _room.COMMANDS:
        cli.add_command(_command)
