"""Program: a file that is not Python, and the command by which it is a bot."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from arena.entries.file import open_file
from arena.entries.spec import COMMAND
from arena.errors import InputError

_RUN_BY: Final = {
    **dict.fromkeys((".js", ".mjs", ".cjs"), "node"),
    ".ts": "deno run",
    ".rb": "ruby",
    ".lua": "lua",
    ".pl": "perl",
    ".php": "php",
    ".sh": "sh",
    ".jar": "java -jar",
    ".jl": "julia",
}
"""What runs a file with this ending."""

_ELF = b"\x7fELF"
_SCRIPT = b"#!"


def command_of(path: str) -> str | None:
    """Return the spec of the program in a file, None where the file may be Python.

    >>> command_of("bots/hasty.js"), command_of("bots/hasty.py")
    ('cmd:node bots/hasty.js', None)
    """
    ending = os.path.splitext(path)[1].lower()
    if ending in _RUN_BY:
        return f"{COMMAND}{_RUN_BY[ending]} {shlex.quote(path)}"
    if ending != ".py" and os.access(path, os.X_OK) and _is_program(path):
        return COMMAND + shlex.quote(path if "/" in path else f"./{path}")
    return None


def why_no_program(words: Sequence[str]) -> str:
    """Return why the first word of a command is no program, and what to write where that is known.

    >>> why_no_program(["nodejs18", "hasty.js"])
    'no such program'
    """
    path = words[0]
    if not os.path.isfile(path):
        return "no such program"
    ending = os.path.splitext(path)[1].lower()
    runs = "python3" if ending == ".py" else _RUN_BY.get(ending)
    if runs:
        return f"not a program by itself; write {f'{COMMAND}{runs} {shlex.join(words)}'!r}"
    if os.access(path, os.X_OK):
        return f"not on the PATH; write {f'{COMMAND}./{shlex.join(words)}'!r}"
    return f"not executable; `chmod +x {shlex.quote(path)}` makes it so"


def _is_program(path: str) -> bool:
    """Return whether a file is a program for this system, or a script of another language."""
    with suppress(InputError, OSError), open_file(path) as file:
        line = file.readline(200)
        return line.startswith(_ELF) or (line.startswith(_SCRIPT) and b"python" not in line)
    return False
