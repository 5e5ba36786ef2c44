"""Shim: a command that is a script of a program which no jail shows, as pyenv's are."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from arena.cli.printed import PATIENCE, ask
from arena.entries.entry import Entry
from arena.entries.spec import COMMAND
from arena.lanes.bubblewrap import placed
from arena.lanes.jail import programs, shown
from arena.lanes.libraries import OF_SYSTEM

_MOST_BYTES = 1 << 16  # of a script that is looked through
_PATH = re.compile(r"(?<![\w.$}])/[^\s\"'`;|&<>()$]+")
_PYTHON = re.compile(r"python[\d.]*")
_WHERE = "import sys; print(sys.executable, sys.base_prefix, sep='\\t')"


def find_hidden(entry: Entry) -> tuple[str, str] | None:
    """Return a bot's command and the program that it starts and cannot see in a jail, or None.

    It is a script that names this program, also after #!; its comments are not looked at.
    """
    if not entry.command:
        return None
    script = Path(entry.command[0])
    words = [*entry.command]
    there = programs(entry, words)
    visible = {*map(placed, there), *(path.resolve() for path in there), *shown(entry, words)}
    for path in _programs_of(script):
        for place in (placed(path), path.resolve()):  # what a link leads to must be there, too
            if not any(one in (place, *place.parents) for one in visible):
                return str(script), str(path)
    return None


def _programs_of(script: Path) -> Iterator[Path]:
    """Yield the programs that a script names by their whole paths."""
    try:
        with script.open("rb") as file:
            text = file.read(_MOST_BYTES).decode(errors="replace")
    except OSError:  # it can be executed and not be read
        return
    if not text.startswith("#!"):
        return
    first, *lines = text[2:].splitlines()
    for line in (first, *(line for line in lines if not line.lstrip().startswith("#"))):
        for path in map(Path, _PATH.findall(line)):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                yield path


def advise(entry: Entry, program: str, patience: float = PATIENCE) -> str:
    """Return what to write where a command cannot see this program: Python is asked where it is."""
    if any(map(Path(program).is_relative_to, OF_SYSTEM)):
        return f"in a config: needs: [{program}]"
    name, *words = shlex.split(entry.target.removeprefix(COMMAND))
    reply = ask([entry.command[0], "-I", "-c", _WHERE], patience)
    python, _, prefix = reply.line.partition("\t")
    if not _PYTHON.fullmatch(Path(name).name) or reply.fault or not prefix:
        return f"write the path of the program that {name} starts"
    advice = f"write {COMMAND}{shlex.join([python, *words])}"
    is_ours = Path(python).resolve() == Path(sys.executable).resolve()
    if is_ours or prefix.startswith("/usr"):
        return advice
    return f"{advice}, in a config with needs: [{prefix}]"
