"""Beside: why a bot does not find the files that are in its folder."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from arena.entries.spec import COMMAND, is_file, looks_like_a_file

_MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_RELATIVE = "attempted relative import with no known parent package"
_NOT_FOUND = re.compile(r"FileNotFoundError: .* No such file or directory: '([^']+)'")
_ALONE = "; a bot's file stands alone"


def explain_missing(target: str, message: str) -> str:
    """Return what to do about a file that a bot has not found, nothing where that is not known.

    `message` is that of the fault.
    """
    if target.startswith(COMMAND):
        return _explain_command(target)
    if not is_file(target):
        return ""
    path = Path(os.path.expanduser(target))
    if match := _NOT_FOUND.match(message):
        return _explain_file(target, path, match[1])
    if path.suffix != ".py":
        return ""
    match = _MISSING.match(message)
    if match is None:
        return f"{_ALONE}, and has no package around it" if _RELATIVE in message else ""
    for name in (f"{match[1]}.py", match[1]):
        if (beside := path.parent / name).exists():
            return f"{_ALONE}: `{_pack(target, beside)}` makes one file of both"
    return ""


def _explain_command(target: str) -> str:
    """Return which file of a command is not there, nothing if all are."""
    for word in shlex.split(target.removeprefix(COMMAND))[1:]:
        if looks_like_a_file(word) and not os.path.exists(word):
            return f"; there is no file {word!r} here"
    return ""


def _explain_file(target: str, path: Path, name: str) -> str:
    """Return how a bot reads one of its files, nothing if it has none of this name.

    The name is the bot's word: one that leads elsewhere is not looked at, and nobody is told to
    pack what is there.
    """
    is_folder = path.is_dir()
    folder = path if is_folder else path.parent
    beside = folder / name
    if ".." in beside.parts[len(folder.parts) :] or not beside.is_relative_to(folder):
        return ""
    if not os.path.isfile(beside):  # also where the name is too long, or may not be looked at
        return ""
    read = f'; a bot has no folder: read it with pkgutil.get_data(__name__, "{name}")'
    if is_folder:
        return read
    return f"{read}, and hand in one file: `{_pack(target, beside)}`"


def _pack(target: str, beside: Path) -> str:
    return shlex.join(["arena", "pack", target, str(beside), "-o", "packed.py"])
