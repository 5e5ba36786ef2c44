"""What some users want beside the core: each add-on is a folder here, and an entry of ADDONS.

The core imports no add-on, and no add-on imports another one. The core finds what they bring in
this table, by name: commands, names of the library, and functions that it calls on request.
"""

from __future__ import annotations

from collections.abc import Mapping
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


class Addon(NamedTuple):
    """What an add-on brings, by name, each as "module:attribute" below its folder.

    `verbs` are names of `import arena`; `hooks` are called by the core.
    """

    commands: Mapping[str, Command] = {}
    verbs: Mapping[str, str] = {}
    hooks: Mapping[str, str] = {}


ADDONS: Final = {
    "cluster": Addon(hooks={"open_pool": "pool:open_pool"}),
    "league": Addon(
        {
            "league": Command(
                "league_commands:league",
                "Run a league: bots join at any time, play rounds, and are rated",
            )
        },
        hooks={"write_pages": "league_site:write_pages"},
    ),
    "learn": Addon(
        {
            "probe": Command(
                "probe_commands:probe",
                "Say how much BOT loses at least, to an opponent that knows it",
            )
        },
        {"probe": "probe_bot:probe"},
    ),
    "programs": Addon(hooks={"build": "build:build"}),
    "remote": Addon(
        {
            "serve-bot": Command(
                "serve_command:serve_bot",
                "Serve a bot over HTTP, for arenas on this machine or on others",
                "remote",
                "uvicorn",
            )
        },
        hooks={"RemoteBot": "remote_bot:RemoteBot", "find_bot": "remote_bot:find_bot"},
    ),
    "rl": Addon(hooks={"small_games": "exact:small_games"}),
    "studies": Addon(
        {
            "ablate": Command(
                "study_commands:ablate", "Measure what a change of the rules changes in the games"
            ),
            "analyse": Command(
                "study_commands:analyse",
                "Estimate what each decision was worth, and what bots gave away",
            ),
            "tune": Command(
                "study_commands:tune", "Find good parameters of BOT by games on common deals"
            ),
        },
        {"Tuning": "tuning:Tuning", "tune": "tuning:tune"},
        {"ablate": "ablation:ablate", "analyse_run": "analysis:analyse_run"},
    ),
    "table": Addon(
        {
            "human": Command(
                "table_commands:human", "Play games against BOT yourself, in this terminal"
            ),
            "table": Command(
                "table_commands:table",
                "Play against bots, or watch two of them, in a browser",
                "table",
                "starlette",
            ),
        }
    ),
}

COMMANDS: Final = {
    name: command._replace(place=f"arena.addons.{addon}.{command.place}")
    for addon, brings in ADDONS.items()
    for name, command in brings.commands.items()
}
"""All commands of add-ons, with whole places."""

VERBS: Final = {
    name: f"arena.addons.{addon}.{place}"
    for addon, brings in ADDONS.items()
    for name, place in brings.verbs.items()
}
"""All names that add-ons bring to the library, with whole places."""

_HOOKS: Final = {
    name: f"arena.addons.{addon}.{place}"
    for addon, brings in ADDONS.items()
    for name, place in brings.hooks.items()
}


def find(place: str) -> Any:
    """Import what is at "module:attribute"."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def hook(name: str) -> Any:
    """Import the function that an add-on has for the core, by its name."""
    return find(_HOOKS[name])
