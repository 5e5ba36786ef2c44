"""Make a page for each command from its own help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from arena.cli import SECTIONS, find_commands

if TYPE_CHECKING:
    from sphinx.application import Sphinx

COMMANDS = find_commands()


def __getattr__(name: str) -> click.Command:
    """Return a command by its name: sphinx-click looks for it as for a name of a module."""
    if name not in COMMANDS:
        raise AttributeError(name)
    return COMMANDS[name]


def pages() -> dict[str, str]:
    """Return the page of each command by its file name."""
    return {file_name(name): command_page(name) for name in COMMANDS}


def file_name(command: str) -> str:
    """Return the name of a command's page."""
    return f"arena-{command}.rst"


def command_page(name: str) -> str:
    """Return the page of a command, with its subcommands if it has some."""
    return f".. click:: {__name__}:{name}\n   :prog: arena {name}\n   :nested: full\n"


def listing(folder: str) -> str:
    """Return a table of all commands for each part of `arena --help`, with links into a folder."""
    lines = []
    for title, names in SECTIONS.items():
        heading = title if title == "Commands" else f"{title} commands"
        lines += [f"## {heading}", "", "| command | what it does |", "|---|---|"]
        for name in names:
            summary = (COMMANDS[name].help or "").partition("\n")[0]
            lines.append(f"| [arena {name}]({folder}{file_name(name)}) | {summary} |")
        lines.append("")
    return "\n".join(lines)


def show_example(_app: Sphinx, _context: click.Context, lines: list[str]) -> None:
    """Make the examples at the end of a command's help blocks of code, in place."""
    lines[:] = [*_with_blocks(lines)]


def _with_blocks(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a description; sphinx-click writes an example as a line block."""
    in_block = False
    for line in lines:
        if line.startswith("| Example"):
            in_block = True
            yield from (line.removeprefix("| "), "", ".. code-block:: console", "")
        elif in_block and line.startswith("|"):
            yield f"   {line.removeprefix('|').strip()}"
        else:
            yield line


def link_nothing(_app: Sphinx, _context: click.Context, lines: list[str]) -> None:
    """Escape addresses in the help of options, in place: they are examples."""
    lines[:] = [line.replace("://", "\\://") for line in lines]


def setup(app: Any) -> None:
    """Take part in a build of Sphinx."""
    app.connect("sphinx-click-process-description", show_example)
    app.connect("sphinx-click-process-options", link_nothing)
