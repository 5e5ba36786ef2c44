"""Needs: the files that a bot may read, and the folders that no jailed bot is shown."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from arena.errors import InputError

_STORE = "run.sqlite"
_DEPTH = 3  # of the folders in which a run is looked for
_MOST_FOLDERS = 2000
_LEAST_PERSON = 1000  # the number of a system's first user who is a person

_working_folder: Path | None = None


def look_from(folder: Path) -> None:
    """Take a folder for the working folder, in a process that has left it."""
    global _working_folder
    _working_folder = folder


def check_needs(spec: str, needs: Iterable[str]) -> tuple[str, ...]:
    """Return what a bot needs; raise InputError for a path it may not have."""
    for need in needs:
        path = locate(need)
        if "\0" in need or not path.exists():
            raise InputError(f"bot {spec!r}: needs: {need!a}: no such file or folder")
        if reason := why_hidden(path):
            raise InputError(f"bot {spec!r}: needs: {need!a}: {reason}")
    return tuple(needs)


def locate(need: str) -> Path:
    """Return the absolute path of what a bot needs, seen from the working folder."""
    return Path(os.path.normpath(_here() / Path(need).expanduser()))


def _here() -> Path:
    return _working_folder or Path.cwd()


def why_hidden(path: Path) -> str:
    """Return why no jailed bot is shown a folder or file, empty if it may be shown.

    >>> why_hidden(Path("/"))
    'it holds the working folder'
    """
    places = {
        "the working folder": [_here()],
        "a home": _homes(),
        "the folder for temporary files": [Path(tempfile.gettempdir()), Path("/tmp")],
        "the system's processes or devices": [Path("/proc"), Path("/dev"), Path("/sys")],
    }
    real = path.resolve()
    for what, folders in places.items():
        for folder in folders:
            if real == folder:
                return f"it is {what}"
            if folder.is_relative_to(real):
                return f"it holds {what}"
    return "it holds runs" if _holds_runs(real) else ""


def _homes() -> list[Path]:
    """Return the homes of this user, of root and of all persons."""
    import pwd

    users = [user for user in pwd.getpwall() if user.pw_uid in (0, os.getuid())]
    users += [user for user in pwd.getpwall() if user.pw_uid >= _LEAST_PERSON]
    texts = {user.pw_dir for user in users} | {str(Path.home())}
    return [Path(text).resolve() for text in texts if Path(text).is_absolute() and text != "/"]


def _holds_runs(folder: Path) -> bool:
    """Return whether there is a run in a folder, or in one of those in it."""
    folders = [folder] if folder.is_dir() else []
    looked = 0
    for _ in range(_DEPTH):
        below = []
        for place in folders:
            looked += 1
            try:
                if looked > _MOST_FOLDERS:
                    return False
                if (place / _STORE).exists():
                    return True
                below += [Path(item) for item in os.scandir(place) if item.is_dir()]
            except OSError:  # no bot can read it either
                continue
        folders = below
    return False
