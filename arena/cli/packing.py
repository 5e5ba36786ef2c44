"""The command that makes one file of a bot and what it has learned."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.options import PATH
from arena.errors import counted


@click.command()
@click.argument("bot", type=PATH)
@click.argument("files", nargs=-1, type=PATH)
@click.option("--out", "-o", type=PATH, required=True, help="The file to write, such as packed.py.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def pack(bot: Path, files: tuple[Path, ...], out: Path, force: bool) -> None:
    """Write BOT and its FILES as one Python file, which is a bot.

    BOT is a file or a folder. FILES are what it reads (weights) and modules that it imports; a
    folder stands for all files in it. The same files give the same bytes. The bot reads a file with
    pkgutil.get_data(__name__, "weights.npz"), packed or not.

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
    click.echo(f"{done} {out}: {number}, {len(text):,} bytes; now:")
    spec = out if "/" in str(out) else f"./{out}"
    click.echo(f"  arena check {spec}   does it keep the contract?")


COMMANDS: list[click.Command] = [pack]
