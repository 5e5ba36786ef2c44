"""The command `arena serve-bot`."""

from __future__ import annotations

from dataclasses import replace

import click

from arena.cli.options import LANE, Whole, say
from arena.entries.resolve import resolve
from arena.errors import InputError, not_installed
from arena.processes import adopt_orphans


@click.command("serve-bot")
@click.argument("spec")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=Whole(0, 65_535), default=8000, show_default=True, metavar="N",
              help="The port; 0 for a free one.")  # fmt: skip
@click.option("--lane", type=LANE, help="The lane of its processes.  [default: process]")
def serve_bot(spec: str, host: str, port: int, lane: str | None) -> None:
    """Serve a bot over HTTP, for arenas on this machine or on others.

    `arena play http://127.0.0.1:8000 uniform` then plays against it. Each session is a process of
    the bot. With the variable ARENA_SERVE_TOKEN, only who sends this token is answered; any other
    host than this machine needs it. Needs the extra `remote`.

    \b
    Example:
      arena serve-bot greedy --port 8000
    """
    try:
        from arena.addons.remote.bot_server import serve
    except ImportError as error:
        raise InputError(not_installed(f"{error.name}", "remote")) from None
    entry = resolve(spec, lane=lane)
    if entry.lane == "inproc":
        entry = replace(entry, lane="process")
    if entry.lane == "remote":
        raise InputError(f"bot {spec!r}: it has a server already")
    adopt_orphans()
    serve(entry, host, port, lambda address: say(f"{entry.label} is at {address}; Ctrl-C ends it"))
