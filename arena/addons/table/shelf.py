"""Find what was started in a folder, say how it stands without reading games, and find its pages.

A shelf may hold many folders, and a stranger's: no name and no link leads out of it, nothing in it
is waited for, and no file is read whole that need not be.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from arena.differences.difference_columns import ABLATION
from arena.reports.blocks import read_sentence
from arena.store.database import NAME
from arena.store.folder import LEAGUE, REPORT_HTML, REPORT_MARKDOWN, TUNING
from arena.store.reader import Glimpse, glimpse, is_locked
from arena.tournament.rule_changes import BASE

SITE = "site"  # the folder of a league's pages
STANDINGS = "league.json"  # in it: how the league stands, written after each round
_DEEPEST = 4  # levels of folders below the shelf that are searched
_MOST_LISTED = 500
_MOST_INNER = 50  # runs that are listed of a tuning, an ablation or a league
_MOST_REPORT = 64 << 20  # bytes
_BEGINNING = 1 << 14  # bytes of a report in which its sentence stands
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # does not wait for the writer of a pipe

Kind: TypeAlias = Literal["run", "comparison", "tuning", "ablation", "league"]


class Shelf:
    """What was started in a folder and below it; links and hidden names are skipped.

    A tuning, an ablation and a league are one thing each, with the runs in their folders.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def listing(self) -> list[dict[str, Any]]:
        """Return runs, comparisons, tunings, ablations and leagues, the last changed first."""
        things = islice(_find_things(self.root, _DEEPEST), _MOST_LISTED)
        found = [self._describe(path, kind) for path, kind in things]
        return sorted(found, key=lambda one: (-one["changed"], one["name"]))

    def describe(self, name: str) -> dict[str, Any]:
        """Return the row of a run, also of one in another thing; raises LookupError."""
        return self._describe(self.find(name), "run")

    def _describe(self, path: Path, kind: Kind) -> dict[str, Any]:
        """Return what is found of a thing without reading its games.

        `verdict` is the first sentence of its report, "" before its end, and `report` the name of
        the page. `runs` are the last of the runs in it, of `inner` in all.
        """
        name = path.relative_to(self.root).as_posix()
        inner = [] if kind == "run" else [*_find_inner(path)]
        last = inner[-_MOST_INNER:]
        seen = glimpse(path) if kind == "run" else _see_all(path, kind, last)
        page = f"{SITE}/index.html" if kind == "league" else REPORT_HTML
        marks = path / REPORT_MARKDOWN, path / SITE / STANDINGS, (last or [path])[-1] / NAME
        return {
            "name": name,
            "kind": "comparison" if seen.is_comparison else kind,
            "state": "open" if kind == "league" and seen.state == "finished" else seen.state,
            "verdict": "",
            "changed": max(map(_changed, marks[-1:] if kind == "run" else marks)),
            "report": f"{name}/{page}" if _is_plain_file(path / page) else "",
            "runs": [one.relative_to(path).as_posix() for one in last],
            "inner": len(inner),
        } | self._say(path, kind, seen.state)

    def _say(self, path: Path, kind: Kind, state: str) -> dict[str, str]:
        """Return the verdict on a thing as it is stored; a league without standings is damaged."""
        try:
            if kind != "league":
                ended = state == "finished"
                text = _read(path / REPORT_MARKDOWN, _BEGINNING) if ended else b""
                return {"verdict": read_sentence(text.decode("utf-8", "replace"))}
            if _is_league_site(path / SITE):
                found = json.loads(_read(path / SITE / STANDINGS))
                return {"verdict": str(found.get("sentence", ""))}
        except LookupError:  # no report
            pass
        except (ValueError, RecursionError, AttributeError):
            return {"state": "damaged"}
        return {}

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
            path = path / _check_name(part)
            if not _is_plain_folder(path):
                raise LookupError(name)
        return path

    def find_report(self, name: str) -> Path:
        """Return the file of a report, or of a page of a league; raises LookupError."""
        folder, _, file = name.rpartition("/")
        path = self._find_folder(folder)
        is_report = file == REPORT_HTML and _find_kind(path) is not None
        of_site = path.parent if path.name == "bots" else path
        if not is_report and not (file.endswith(".html") and _is_league_site(of_site)):
            raise LookupError(name)
        return path / _check_name(file)

    def report(self, name: str) -> bytes:
        """Return a report, or a page of a league; raises LookupError if it does not exist."""
        return _read(self.find_report(name))

    def league(self, name: str) -> bytes:
        """Return the standings of a league as JSON; raises LookupError if they do not exist."""
        path = self._find_folder(name)
        if not _is_league_site(path / SITE):
            raise LookupError(name)
        content = _read(path / SITE / STANDINGS)
        try:
            json.loads(content)
        except (ValueError, RecursionError):
            raise LookupError(name) from None
        return content


def _check_name(part: str) -> str:
    """Return a part of a path; raises LookupError for a hidden one, and one that leads away."""
    if not part or part.startswith(".") or "\\" in part or "\0" in part:
        raise LookupError(part)
    return part


def _see_all(path: Path, kind: Kind, runs: Sequence[Path]) -> Glimpse:
    """Return the state of a thing by that of the runs in it; a league has no end."""
    states = {glimpse(run).state for run in runs[-1 if kind == "league" else 0 :]}
    if "running" in states or (kind == "league" and is_locked(path)):
        return Glimpse("running")
    if "damaged" in states:
        return Glimpse("damaged")
    has_ended = kind == "league" or _is_plain_file(path / REPORT_MARKDOWN)
    return Glimpse("finished" if has_ended else "not finished")


def _changed(path: Path) -> float:
    """Return when a file was changed, 0 without one."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _read(path: Path, most: int | None = None) -> bytes:
    """Return the content of a regular file of limited size, or its first bytes.

    Raises LookupError for any other.
    """
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        raise LookupError(path.name) from None
    with open(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or (not most and facts.st_size > _MOST_REPORT):
            raise LookupError(path.name)
        return file.read(most or _MOST_REPORT)


def _find_things(folder: Path, depth: int) -> Iterator[tuple[Path, Kind]]:
    """Yield the folders of what was started, without the runs that these hold."""
    for path in _list_folders(folder):
        if kind := _find_kind(path):
            yield path, kind
        elif depth > 1:
            yield from _find_things(path, depth - 1)


def _find_inner(path: Path) -> Iterator[Path]:
    """Yield the runs in a thing, in the order of their names: rungs, rounds, variants, a proof."""
    for folder in (path / "rungs", path / "rounds", path):
        if _is_plain_folder(folder):
            yield from (one for one in _list_folders(folder) if _is_plain_file(one / NAME))


def _list_folders(folder: Path) -> Iterator[Path]:
    """Yield the folders in a folder that are no links and not hidden, and have a text as name."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return
    for name in names:
        if not name.startswith(".") and _is_text(name) and _is_plain_folder(folder / name):
            yield folder / name


def _find_kind(path: Path) -> Kind | None:
    """Return what a folder holds; None for one that holds other things, or nothing."""
    if _is_plain_file(path / NAME):
        return "run"
    if _is_plain_file(path / LEAGUE) or _is_league_site(path / SITE):
        return "league"
    if _is_plain_file(path / TUNING):
        return "tuning"
    begun = _is_plain_folder(path / BASE) and _is_plain_file(path / BASE / NAME)
    return "ablation" if begun or _is_plain_file(path / ABLATION.file) else None


def _is_text(name: str) -> bool:
    """Return whether a name is valid UTF-8; other names cannot be sent to a page."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_league_site(path: Path) -> bool:
    """Return whether a folder has the pages of a league, and is no link."""
    return path.name == SITE and _is_plain_folder(path) and _is_plain_file(path / STANDINGS)


def _is_plain_folder(path: Path) -> bool:
    return _mode(path, stat.S_IFDIR)


def _is_plain_file(path: Path) -> bool:
    return _mode(path, stat.S_IFREG)


def _mode(path: Path, wanted: int) -> bool:
    try:
        return stat.S_IFMT(path.lstat().st_mode) == wanted
    except (OSError, ValueError):
        return False
