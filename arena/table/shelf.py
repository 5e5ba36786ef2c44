"""List runs and leagues below a folder, and find them by name, never outside the folder."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.store.database import NAME
from arena.store.glance import find_state

REPORT = "report.html"
LEAGUE = "site/league.json"  # the standings of a league, written after each round
_DEEPEST = 4  # levels of folders below the shelf that are searched for runs
_MOST_LISTED = 500
_MOST_REPORT = 64 << 20  # bytes
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # does not wait for the writer of a pipe


class Shelf:
    """The runs and leagues in a folder and below it; links and hidden names are skipped.

    The rounds of a league can be found by name, but are not listed.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def listing(self) -> list[dict[str, Any]]:
        """Return runs and leagues as data, the most recently changed first."""
        found = []
        for path in _find_runs(self.root, _DEEPEST):
            is_league = not _is_plain_file(path / NAME)
            file = path / (LEAGUE if is_league else NAME)
            found.append(
                {
                    "name": path.relative_to(self.root).as_posix(),
                    "changed": file.stat().st_mtime,
                    "report": not is_league and _is_plain_file(path / REPORT),
                    "state": "league" if is_league else find_state(path),
                }
            )
            if len(found) == _MOST_LISTED:
                break
        return sorted(found, key=lambda run: (-run["changed"], run["name"]))

    def find(self, name: str) -> Path:
        """Return the folder of a run; raises LookupError if the shelf has no such run."""
        path = self._find_folder(name)
        if not _is_plain_file(path / NAME):
            raise LookupError(name)
        return path

    def _find_folder(self, name: str) -> Path:
        """Return a folder of the shelf; raises LookupError if it does not exist."""
        path = self.root
        for part in name.split("/"):
            if not part or part.startswith(".") or "\\" in part or "\0" in part:
                raise LookupError(name)
            path = path / part
            if not _is_plain_folder(path):
                raise LookupError(name)
        return path

    def report(self, name: str) -> bytes:
        """Return the report of a run; raises LookupError if it does not exist."""
        return _read(self.find(name) / REPORT)

    def league(self, name: str) -> bytes:
        """Return the standings of a league as JSON; raises LookupError if they do not exist."""
        path = self._find_folder(name)
        if not _is_league(path):
            raise LookupError(name)
        content = _read(path / LEAGUE)
        try:
            json.loads(content)
        except (ValueError, RecursionError):
            raise LookupError(name) from None
        return content


def _read(path: Path) -> bytes:
    """Return the content of a regular file of limited size; raises LookupError for any other."""
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        raise LookupError(path.name) from None
    with open(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MOST_REPORT:
            raise LookupError(path.name)
        return file.read(_MOST_REPORT)


def _find_runs(folder: Path, depth: int) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return
    for name in names:
        path = folder / name
        if name.startswith(".") or not _is_text(name) or not _is_plain_folder(path):
            continue
        if _is_plain_file(path / NAME) or _is_league(path):
            yield path
        elif depth > 1:
            yield from _find_runs(path, depth - 1)


def _is_text(name: str) -> bool:
    """Return whether a name is valid UTF-8; other names cannot be sent to a page."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_league(path: Path) -> bool:
    """Return whether a folder contains the pages of a league, without links on the way."""
    return _is_plain_folder((path / LEAGUE).parent) and _is_plain_file(path / LEAGUE)


def _is_plain_folder(path: Path) -> bool:
    return _mode(path, stat.S_IFDIR)


def _is_plain_file(path: Path) -> bool:
    return _mode(path, stat.S_IFREG)


def _mode(path: Path, wanted: int) -> bool:
    try:
        return stat.S_IFMT(path.lstat().st_mode) == wanted
    except (OSError, ValueError):
        return False
