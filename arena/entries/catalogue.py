"""Catalogue: the bots that a name can stand for, here and in installed packages."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from arena.entries.file import MOST_SOURCE, read_file
from arena.entries.resolve import installed, resolve
from arena.errors import InputError

_GROUP = "arena.bots"  # of the entry points that `resolve` looks in


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
    return metadata.entry_points(group=_GROUP)


def _offered(taken: Collection[str]) -> Iterator[Known]:
    """Yield the bots of the entry points whose names are not taken."""
    for point in _points():
        if point.name not in taken:
            package = point.dist.name if point.dist else "?"
            yield Known(point.name, _describe(point.name), package)


def _describe(name: str) -> str:
    """Return the first line of the docstring of an entry point's module, from its file."""
    try:
        entry = resolve(name)
        if not entry.path:
            return "(a file, and no module)"
        stem = Path(entry.path[0], *entry.module.split("."))
        path = stem.with_suffix(".py")
        tree = ast.parse(read_file(path if path.is_file() else stem / "__init__.py", MOST_SOURCE))
    except (InputError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"(cannot be read: {error})"
    return (ast.get_docstring(tree) or "").partition("\n")[0]
