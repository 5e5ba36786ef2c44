"""Write the files of a run to its folder: one writer at a time, never over another run's files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias

from arena.errors import InputError, naming, writing
from arena.files import replacing
from arena.lanes.temp_and_cache_folders import lock_folder
from arena.store.column_titles import (
    DECIDED,
    DIFFERENCES,
    FAULTS,
    GAMES,
    LEAD_PARTS,
    TABLES,
    TIMINGS,
)
from arena.store.database import NAME, is_foreign
from arena.store.manifest import obstacles, read_manifest

LOG = "run.log"
MANIFEST = "manifest.json"
COMPARISON = "comparison.json"
ANALYSIS = "analysis.csv"
REPORT_HTML = "report.html"
REPORT_MARKDOWN = "report.md"
REPORTS = (REPORT_HTML, REPORT_MARKDOWN)
"""The reports for people, made from the tables."""
DETAILS = "details"
"""The folder in a run's folder for the files that few people open; README.md lists them."""
INDEX = f"{DETAILS}/README.md"
_DETAILS: Final[Mapping[str, str]] = {
    "wins.csv": "after each round: who is ahead in points, by source, or in cities, and wins",
    "takes.csv": "when each bot takes, how many cards, and worth how much",
    "cards.csv": "how often each kind of card is played and taken, and how often its taker wins",
    COMPARISON: "of a comparison: the verdict, the counts, the test and Elo, for programs",
    DIFFERENCES.file: "of a comparison against other bots: the difference in each part, "
    "with interval",
    LEAD_PARTS.file: "of a comparison: what the lead is made of: endings, rounds, sources of "
    "points",
    DECIDED.file: "of a comparison against other bots: the games in which the change decided",
    ANALYSIS: "after `arena analyse`: each judged decision and what it cost",
}
REPLACED = "replaced.sqlite"
"""The old store while games of changed bots are replayed."""
STORE = tuple(f"{NAME}{ending}" for ending in ("", "-wal", "-shm", "-journal"))
_JUDGED_BEFORE = "analysis.sqlite"  # what 1.x had judged
_IN_PLACE = {*STORE, REPLACED, LOG}
_RESULTS = (
    *(*STORE, REPLACED, MANIFEST, INDEX, _JUDGED_BEFORE, COMPARISON, ANALYSIS, *REPORTS),
    *(table.file for table in (*TABLES.values(), GAMES, FAULTS, TIMINGS)),
    *(table.file for table in (DIFFERENCES, DECIDED, LEAD_PARTS)),
)
LEAGUE = "league.sqlite"
"""The file that marks the folder of a league, which holds runs."""
_FRESH = "--fresh starts over"
EITHER: Final = f"{_FRESH}, and --out FOLDER writes elsewhere"
_NEW_LEAGUE = "a league goes on as it began; another one needs a new folder"

Writer: TypeAlias = Callable[[TextIO], object]
"""A function that writes a file's content."""


def check_names(path: Path, names: Iterable[str]) -> None:
    """Raise InputError if one of these names in a folder is not a regular file to write to.

    A link is allowed only if the file is replaced as a whole, which replaces the link itself.
    """
    for name in names:
        place = path / name
        if name in _IN_PLACE and place.is_symlink():
            raise InputError(f"{place}: a link, which is not followed")
        if place.is_dir():
            raise InputError(f"{place}: a folder in the place of a file")
        if place.exists() and not place.is_file():
            raise InputError(f"{place}: not a regular file")


def home_of(folder: Path, name: str) -> Path:
    """Return where a file of a run is written: at the top of its folder, or in its details."""
    return folder / DETAILS / name if name in _DETAILS else folder / name


def locate(folder: Path, name: str) -> Path:
    """Return where a file of a run is.

    That is its home, unless it is only at the top, as older arenas have written every file.
    """
    home, old = home_of(folder, name), folder / name
    return old if old.exists() and not home.exists() else home


def make_place(folder: Path, name: str) -> Path:
    """Return the path to write a file of a run to, after making the folder that it is in.

    Raises InputError if the details cannot be written.
    """
    place = locate(folder, name)
    _check_details(folder)
    with naming(f"{place}: cannot be written", OSError):
        place.parent.mkdir(exist_ok=True)
    return place


def _check_details(folder: Path) -> None:
    details = folder / DETAILS
    if details.is_symlink():
        raise InputError(f"{details}: a link, which is not followed")
    if details.exists() and not details.is_dir():
        raise InputError(f"{details}: a file in the place of a folder")


def write_index(file: TextIO) -> None:
    """Write the index of the details: a line on what each file is for."""
    file.write("# What each file is for\n\n")
    file.writelines(f"- `{name}`: {purpose}\n" for name, purpose in _DETAILS.items())


class RunFolder:
    """A folder for the files of one run."""

    def __init__(self, path: Path) -> None:
        """Make the folder, and check that files can be written there.

        Raises InputError, which names the folder, if they cannot, or if it contains anything but a
        run.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in path.iterdir()}
            _check_details(path)
            for place in (locate(path, name) for name in (*_RESULTS, LOG)):
                check_names(place.parent, [place.name])
            if not names <= {LOG} and not names & {MANIFEST, NAME}:
                raise InputError(f"{path}: holds other files and no run; choose a new folder")
            for place in filter(Path.exists, (path, path / DETAILS)):
                with tempfile.TemporaryFile(dir=place):
                    pass
            with self.log.open("a"):
                pass
        except FileExistsError:
            raise InputError(f"{path}: cannot be written: a file, and a run is a folder") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
        except ValueError as error:  # a NUL in the path
            raise InputError(f"{path}: not the name of a folder: {error}") from None

    @property
    def log(self) -> Path:
        """The path of the log of all runs that wrote here."""
        return self.path / LOG

    @property
    def store(self) -> Path:
        """The path of the store with the finished games."""
        return self.path / NAME

    @property
    def replaced(self) -> Path:
        """The path of the old store while games of changed bots are replayed."""
        return self.path / REPLACED

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other runs; the lock ends with the process, however it ends.

        Raises InputError if another run is writing here, and ArenaError if locks are not supported.
        """
        with lock_folder(self.path, "another run is writing there", "a folder on a local disk"):
            yield

    def clear(self) -> list[str]:
        """Remove an earlier run's files except its log, and return their names.

        Raises InputError if another run is writing here, if the store is another program's
        database, and for the games of a league.
        """
        with self.locked():
            self._check_league({})
            if self.store.exists() and is_foreign(self.store):
                raise InputError(f"{self.store}: a database, but not one of a run; it is kept")
            places = [locate(self.path, name) for name in _RESULTS]
            removed = [place for place in places if place.exists()]
            for place in removed:
                place.unlink()
            with suppress(OSError):  # it holds other files, too
                (self.path / DETAILS).rmdir()
        return [place.relative_to(self.path).as_posix() for place in removed]

    def check(self, manifest: dict[str, Any], stored: str | None) -> None:
        """Check that the folder is empty or holds a run that can continue as this one.

        `stored` is the manifest of its store. Raises InputError, which names the differences.
        """
        self._check_league(manifest)
        if stored is None and (self.path / MANIFEST).exists():
            raise InputError(f"{self.path}: results, but no {NAME} to go on from; {_FRESH}")
        if stored is None:
            return
        try:
            differs = obstacles(read_manifest(stored), manifest)
        except InputError as error:
            raise InputError(f"{self.store}: {error}; {_FRESH}") from None
        if differs:
            advice = EITHER if "meetings" not in manifest else _NEW_LEAGUE
            raise InputError(f"{self.path}: holds another run: {'; '.join(differs)}; {advice}")

    def _check_league(self, manifest: dict[str, Any]) -> None:
        """Raise InputError for the folder of a league, unless it is the league that plays."""
        if (self.path / LEAGUE).exists() and "meetings" not in manifest:
            raise InputError(f"{self.path}: a league, whose games are kept; choose a new folder")

    def write(self, files: Mapping[str, Writer]) -> None:
        """Replace an earlier run's files.

        Every file is written under a temporary name and then renamed. Those that an older arena
        left at the top move to the details.
        """
        paths = [home_of(self.path, name) for name in files]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
        try:
            for name, write in files.items():
                path = home_of(self.path, name)
                with writing(path), part_of(path).open("w", encoding="utf-8", newline="") as file:
                    write(file)
            self._move_details()
            for path in paths:
                os.replace(part_of(path), path)
        finally:
            for path in paths:
                part_of(path).unlink(missing_ok=True)

    def _move_details(self) -> None:
        """Move what an older arena has left at the top, except what may be open elsewhere."""
        for name in {*_DETAILS} - {*_IN_PLACE}:
            place, home = locate(self.path, name), home_of(self.path, name)
            if place != home:
                home.parent.mkdir(exist_ok=True)
                place.replace(home)


def part_of(path: Path) -> Path:
    """Return the temporary path of a file until it is complete."""
    return path.with_name(f".{path.name}.part")


def list_names(path: Path) -> set[str]:
    """Return the names in a folder, none if it is not there; raises InputError."""
    with naming(f"{path}: cannot be read", OSError):
        return {one.name for one in path.iterdir()} if path.exists() else set()


def write_text(path: Path, text: str) -> None:
    """Write a file atomically, making its folder; raises InputError, which names the file."""
    with naming(f"{path}: cannot be written", OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(text, encoding="utf-8", newline="")
