"""Sections: the commands in groups, as `arena --help` lists them."""

from __future__ import annotations

from typing import Final

import click

SECTIONS: Final = {
    "Tournaments": ("run", "play", "compare", "ablate", "report", "worth", "verify"),
    "Bots": ("bots", "new", "check", "pack"),
    "Games": ("human", "table", "show", "view", "game", "replay", "export"),
    "Machines": ("doctor", "sites"),
}
"""Which command is listed where; a test sees that none is missing."""


class Sections(click.Group):
    """A group whose help lists its commands by what they are for, each in a whole sentence."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list for each section."""
        width = max(map(len, self.commands))
        for title, names in SECTIONS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [
                (f"{name:<{width}}", _summary(command)) for name, command in commands if command
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


def _summary(command: click.Command) -> str:
    """Return the first sentence of a command's help, which fits a line."""
    return (command.help or "").partition("\n")[0].removesuffix(".")
