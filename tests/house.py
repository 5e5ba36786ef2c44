"""Count the whole: files, lines of each room, bytes, commands and options.

`python -m tests.house` prints the figures, and a circle of imports. `tests/test_imports.py` holds
the structure and BUDGET.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import click

from tests import ROOT

Imports = dict[str, frozenset[str]]

FLAT = (
    *("arena", "arena.__main__", "arena.addons", "arena.errors", "arena.files"),
    *("arena.processes", "arena.rl", "arena.threads", "arena.tokens"),
)
"""The modules beside the rooms."""

BUDGET = {
    "files": 210,
    "lines of code": 27_565,
    "lines of imports": 3735,
    "lines of JavaScript, CSS and HTML": 2598,
    "lines of tests/": 44_465,
    "lines of bench/": 6730,
    "bytes of docs/": 311_235,
    "commands and subcommands": 33,
    "options": 205,
}
"""What the whole has at most. It only falls: what is new has its room where something has left."""


@cache
def modules() -> dict[str, Path]:
    """Return the file of every module of `arena`, by its name; the template of a bot is none."""
    paths = (
        path for path in sorted((ROOT / "arena").rglob("*.py")) if "template" not in path.parts
    )
    return {_name_of(path): path for path in paths}


def _name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def syntax(path: Path) -> ast.Module:
    """Return a file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports() -> Imports:
    """Return the modules of `arena` that each of them imports, at any place in it."""
    return {name: frozenset(_imported(path)) - {name} for name, path in modules().items()}


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in modules() else str(node.module) for name in full}
    return names & modules().keys()


def room_of(module: str) -> str:
    """Return the room of a module: the second part of its name, or "+league" for an add-on."""
    if module in FLAT:
        return ""
    parts = module.split(".")
    return f"+{parts[2]}" if parts[1] == "addons" else parts[1]


def rooms() -> list[str]:
    """Return the names of all rooms, in alphabetical order, add-ons first."""
    return sorted({room_of(module) for module in modules()} - {""})


def find_circle() -> list[str]:
    """Return modules of which each imports the next one and the last the first, if there are."""
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def find_shared_names() -> dict[str, set[str]]:
    """Return the file names that occur in several rooms, and these rooms."""
    rooms: dict[str, set[str]] = defaultdict(set)
    for module, path in modules().items():
        if path.stem != "__init__" and room_of(module):
            rooms[path.stem].add(room_of(module))
    return {name: found for name, found in rooms.items() if len(found) > 1}


def count_lines(path: Path) -> int:
    """Return a file's lines of code: without blanks, comments, docstrings and imports."""
    left_out = _lines_of(path, _is_text) | _lines_of(path, _is_import)
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in left_out
        for number, line in lines
    )


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _lines_of(path: Path, counts: Callable[[ast.AST], bool]) -> set[int]:
    """Return the numbers of the lines of some nodes of a file."""
    return {
        number
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.stmt) and counts(node)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def lines_by_room() -> dict[str, int]:
    """Return the lines of code of each room, add-ons first."""
    return {
        room: sum(count_lines(path) for name, path in modules().items() if room_of(name) == room)
        for room in rooms()
    }


def sizes() -> dict[str, int]:
    """Return the files and lines of all kinds, and how many commands there are."""
    python = modules().values()
    found = find_commands()
    return {
        "files": len(python),
        "lines of code": sum(map(count_lines, python)),
        "lines of imports": sum(len(_lines_of(path, _is_import)) for path in python),
        "lines of JavaScript, CSS and HTML": _count_files("arena", "js", "css", "html"),
        "lines of tests/": _count_files("tests", "py"),
        "lines of bench/": _count_files("bench", "py"),
        "bytes of docs/": sum(len(path.read_bytes()) for path in (ROOT / "docs").rglob("*.md")),
        "commands and subcommands": len(found),
        "options": sum(
            isinstance(param, click.Option) and not param.hidden
            for command in found
            for param in command.params
        ),
    }


def _count_files(top: str, *kinds: str) -> int:
    """Return the lines of the files of some kinds below a folder."""
    files = [path for kind in kinds for path in (ROOT / top).rglob(f"*.{kind}")]
    return sum(len(path.read_bytes().splitlines()) for path in files if "site" not in path.parts)


def find_commands() -> list[click.Command]:
    """Return every command and subcommand of `arena`."""
    from arena import cli

    found = [*cli.find_commands().values()]
    for command in found:
        if isinstance(command, click.Group):
            found += command.commands.values()
    return found


def main() -> None:
    """Print the figures."""
    for what, figure in (lines_by_room() | sizes()).items():
        print(f"{figure:>7,} {what}")
    print("circle:", *find_circle() or ["none"])


if __name__ == "__main__":
    main()
