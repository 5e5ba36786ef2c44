"""Catalogue: the bots that a name can stand for, here and in installed packages."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from arena.entries.file import MOST_SOURCE, read_file
from arena.entries.module import find_module
from arena.entries.resolve import GROUP, installed
from arena.entries.syntax import read_outline
from arena.errors import InputError


class Known(NamedTuple):
    """A bot with a name; `package` is the installed package that offers it, empty for ours."""

    name: str
    description: str
    package: str = ""


def catalogue() -> list[Known]:
    """Return the bots of `bots/`, and then those of entry points, in order of names.

    None of their code is run. A name in `bots/` wins over an entry point.
    """
    ours = [Known(name, description) for name, description in installed()]
    return ours + sorted(_offered({bot.name for bot in ours}))


def names() -> list[str]:
    """Return the names of all these bots, in order."""
    return sorted({name for name, _ in installed()} | {point.name for point in _points()})


def _points() -> metadata.EntryPoints:
    return metadata.entry_points(group=GROUP)


def _offered(taken: Collection[str]) -> Iterator[Known]:
    """Yield the bots of the entry points whose names are not taken."""
    for point in _points():
        if point.name not in taken:
            package = point.dist.name if point.dist else "?"
            yield Known(point.name, _describe(point.module), package)


def _describe(module: str) -> str:
    """Return the first line of the docstring of an entry point's module, from its file."""
    location = find_module(module, [*sys.path, str(Path.cwd())])
    if location is None:
        return f"(cannot be read: no module {module!r})"
    try:
        return read_outline(read_file(location.origin, MOST_SOURCE)).summary
    except InputError as error:
        return f"(cannot be read: {error})"
