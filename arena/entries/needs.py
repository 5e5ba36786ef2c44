"""Check which files and packages a bot may read, and explain why it did not find one."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from arena.entries.spec import COMMAND, is_file, looks_like_a_file
from arena.errors import InputError

SITES: Final = ("site-packages", "dist-packages")
"""The names of the folders of installed packages."""

_STORE = "run.sqlite"
_LEAST_PERSON = 1000  # the lowest user id of a person on usual systems

_working_folder: Path | None = None

_MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)('?)")
_RELATIVE = "attempted relative import with no known parent package"
_NOT_FOUND = re.compile(r"FileNotFoundError: .* No such file or directory: '([^']+)'")
_ALONE = "; a bot's file stands alone"
_TOGETHER = "give a folder of both, in which it is bot.py, or a zip of that"


def look_from(folder: Path) -> None:
    """Set the folder for relative paths, in a process that has left the user's working folder."""
    global _working_folder
    _working_folder = folder


def check_needs(spec: str, needs: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that a bot needs; raise InputError for one that it may not read."""
    for need in needs:
        path = locate(need)
        if "\0" in need or not path.exists():
            raise InputError(f"bot {spec!r}: needs: {need!a}: no such file or folder")
        if reason := why_hidden(path):
            raise InputError(f"bot {spec!r}: needs: {need!a}: {reason}")
    return tuple(needs)


def locate(need: str) -> Path:
    """Return the absolute path of a file that a bot needs, relative to the working folder.

    Without such a file, the installed package of this name is meant.
    """
    path = Path(os.path.normpath(_here() / Path(need).expanduser()))
    return path if os.path.exists(path) else find_package(need) or path


def find_package(name: str) -> Path | None:
    """Return the folder or the file of an installed package, None if it is not installed.

    >>> find_package("numpy").name, find_package("nothing")
    ('numpy', None)
    """
    folders = [path for path in sys.path if os.path.basename(path) in SITES]
    spec = PathFinder.find_spec(name, folders) if name.isidentifier() else None
    if spec is None or not spec.origin:
        return None
    return Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)


def _here() -> Path:
    return _working_folder or Path.cwd()


def why_hidden(path: Path) -> str:
    """Return why a path must be hidden from jailed bots, empty if it may be shown.

    >>> why_hidden(Path("/"))
    'it holds the working folder'
    """
    places = {
        "the working folder": [_here()],
        "a home": _homes(),
        "the folder for temporary files": [Path(tempfile.gettempdir()), Path("/tmp")],
        "the system's processes or devices": [Path("/proc"), Path("/dev"), Path("/sys")],
    }
    real = Path(os.path.realpath(path))  # Path.resolve raises in a loop of links
    for what, folders in places.items():
        for folder in folders:
            if real == folder:
                return f"it is {what}"
            if folder.is_relative_to(real):
                return f"it holds {what}"
    has_runs = any(any(real.glob(f"{below}{_STORE}")) for below in ("", "*/", "*/*/"))
    return "it holds runs" if has_runs else ""


def _homes() -> list[Path]:
    """Return the home folders of this user, of root and of all persons."""
    import pwd

    users = [user for user in pwd.getpwall() if user.pw_uid in (0, os.getuid())]
    users += [user for user in pwd.getpwall() if user.pw_uid >= _LEAST_PERSON]
    texts = {user.pw_dir for user in users} | {str(Path.home())}
    return [Path(text).resolve() for text in texts if Path(text).is_absolute() and text != "/"]


def explain_missing(target: str, message: str) -> str:
    """Return advice about a file or a package that a bot did not find, empty without advice.

    `message` is the message of the fault.
    """
    match = _MISSING.search(message)
    if match and match[2] and find_package(match[1]):
        how = f"name it there, or in a config as `needs: [{match[1]}]`"
        return f"; it is installed, but a jail shows only packages that a bot's files name: {how}"
    if target.startswith(COMMAND):
        return _explain_command(target)
    if not is_file(target):
        return ""
    path = Path(os.path.expanduser(target))
    if found := _NOT_FOUND.match(message):
        return _explain_file(path, found[1])
    if path.suffix != ".py":
        return ""
    if match is None or match.start():
        return f"{_ALONE}, and has no package around it" if _RELATIVE in message else ""
    for name in (f"{match[1]}.py", match[1]):
        if (path.parent / name).exists():
            return f"{_ALONE}: {_TOGETHER}"
    return ""


def _explain_command(target: str) -> str:
    """Return which file of a command is missing, empty if none is."""
    for word in shlex.split(target.removeprefix(COMMAND))[1:]:
        if looks_like_a_file(word) and not os.path.exists(word):
            return f"; there is no file {word!r} here"
    return ""


def _explain_file(path: Path, name: str) -> str:
    """Explain how a bot can read a file beside its own, empty if no file has this name.

    The bot chose the name: a name that leads out of the folder is ignored, so that a bot cannot
    make its user hand in a private file.
    """
    is_folder = path.is_dir()
    folder = path if is_folder else path.parent
    beside = folder / name
    if ".." in beside.parts[len(folder.parts) :] or not beside.is_relative_to(folder):
        return ""
    if not os.path.isfile(beside):  # also if the name is too long or unreadable
        return ""
    read = f'read it with Path(__file__).parent / "{name}"'
    if is_folder:
        return f"; it is not in the working folder of its process: {read}"
    return f"{_ALONE}: {_TOGETHER}, and {read}"
