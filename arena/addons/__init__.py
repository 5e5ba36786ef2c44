"""What some users want beside the core: each add-on is a folder here.

The core imports no add-on, and no add-on imports another one. The core finds what they bring in
these tables, by name: commands, names of the library, and functions that it calls on request. Each
is at a place, "module:attribute".
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NamedTuple


class Command(NamedTuple):
    """A command: where it is, and its line in the list of commands, which imports none of them.

    `extra` is the extra that installs `library`, without which the
    command cannot work.
    """

    place: str
    summary: str
    extra: str = ""
    library: str = ""


def read_commands(package: str, text: str) -> dict[str, Command]:
    """Return the commands of a package from a table: name, place in it, line, extra, library."""
    rows = ([*map(str.strip, line.split("|"))] for line in text.strip().splitlines())
    return {name: Command(f"{package}.{place}", *more) for name, place, *more in rows}


COMMANDS: Final = read_commands(
    "arena.addons",
    """
    ablate | studies.study_commands:ablate | Measure what a change of the rules changes in the games
    analyse | studies.study_commands:analyse | \
        Estimate what each decision was worth, and what bots gave away
    human | table.table_commands:human | Play games against BOT yourself, in this terminal
    league | league.league_commands:league | \
        Run a league: bots join at any time, play rounds, and are rated
    probe | learn.probe_commands:probe | \
        Say how much BOT loses at least, to an opponent that knows it
    serve-bot | remote.serve_command:serve_bot | \
        Serve a bot over HTTP, for arenas on this machine or on others | remote | uvicorn
    table | table.table_commands:table | \
        Play against bots, or watch two of them, in a browser | table | starlette
    tune | studies.study_commands:tune | Find good parameters of BOT by games on common deals
    """,
)
"""The commands of add-ons."""

VERBS: Final = {
    "Tuning": "arena.addons.studies.tuning:Tuning",
    "probe": "arena.addons.learn.probe_bot:probe",
    "tune": "arena.addons.studies.tuning:tune",
}
"""The names that add-ons bring to the library."""

HOOKS: Final = {
    "RemoteBot": "arena.addons.remote.remote_bot:RemoteBot",
    "analyse_run": "arena.addons.studies.analysis:analyse_run",
    "build": "arena.addons.programs.build:build",
    "find_bot": "arena.addons.remote.remote_bot:find_bot",
    "open_pool": "arena.addons.cluster.pool:open_pool",
    "small_games": "arena.addons.rl.exact:small_games",
    "write_pages": "arena.addons.league.league_site:write_pages",
}
"""The functions that the core calls on request."""


def find(place: str) -> Any:
    """Import what is at "module:attribute"."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def hook(name: str) -> Any:
    """Import the function that an add-on has for the core, by its name."""
    return find(HOOKS[name])
