"""RunFolder: a run's folder; one run at a time writes to it, and never over another one."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from arena.errors import InputError
from arena.results import store

LOG = "run.log"
MANIFEST = "manifest.json"
TABLES = ("games.csv", "standings.csv", "head_to_head.csv", "win_types.csv", "faults.csv")
TIMINGS = "timings.csv"
_STORE = (store.NAME, f"{store.NAME}-wal", f"{store.NAME}-shm")
_RESULTS = (*_STORE, MANIFEST, *TABLES, TIMINGS)


class RunFolder:
    """A folder for the files of one run."""

    def __init__(self, path: Path) -> None:
        """Make the folder, and see that files can be written there.

        Raises InputError, which names it, if they cannot, or if it holds anything but a run.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in path.iterdir()}
            if names and not names & {LOG, MANIFEST}:
                raise InputError(f"{path}: holds other files and no run; choose a new folder")
            for name in _RESULTS:
                if (path / name).is_dir():
                    raise InputError(f"{path / name}: is a folder, where a file is to be")
            with tempfile.TemporaryFile(dir=path), self.log.open("a"):
                pass
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None

    @property
    def log(self) -> Path:
        """The log of every run that wrote here."""
        return self.path / LOG

    @property
    def store(self) -> Path:
        """The finished games."""
        return self.path / store.NAME

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out; the lock goes with the process, whatever ends it.

        Raises InputError if another run is writing here.
        """
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise InputError(f"{self.path}: another run is writing there") from None
        try:
            yield
        finally:
            os.close(descriptor)

    def clear(self) -> list[str]:
        """Remove an earlier run's files but its log, and return their names.

        Raises InputError where somebody else's database lies in the place of the store.
        """
        if self.store.exists() and store.is_foreign(self.store):
            raise InputError(f"{self.store}: is a database, but not one of a run; it stays")
        found = [name for name in _RESULTS if (self.path / name).exists()]
        for name in found:
            (self.path / name).unlink()
        return found

    def check(self, manifest: dict[str, Any], kept: str | None) -> None:
        """See that what is kept here is of this manifest, `kept` being the store's.

        Raises InputError, which says what differs.
        """
        if kept is None and (self.path / MANIFEST).exists():
            raise InputError(f"{self.path}: results, but no {store.NAME} to go on from; {_FRESH}")
        if kept is not None and (differs := _differences(json.loads(kept), manifest)):
            raise InputError(f"{self.path}: holds another run: {'; '.join(differs)}; {_FRESH}")

    def write(self, files: Mapping[str, Callable[[TextIO], object]]) -> None:
        """Write files over an earlier run's.

        Every file is written beside its place first and then put there in one step.
        """
        staged = []
        try:
            for name, write in files.items():
                temporary = self.path / f".{name}.part"
                staged.append((temporary, self.path / name))
                with temporary.open("w", encoding="utf-8", newline="") as file:
                    write(file)
            for temporary, final in staged:
                os.replace(temporary, final)
        finally:
            for temporary, _ in staged:
                temporary.unlink(missing_ok=True)


_FRESH = "--fresh starts over"
_MOST_DIFFERENCES = 3


def as_text(manifest: dict[str, Any]) -> str:
    """Return a manifest as it is kept and written."""
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def _differences(kept: Any, wanted: Any, place: str = "") -> list[str]:
    """Return what differs between two manifests, as "place: there 1, here 2"."""
    if isinstance(kept, dict) and isinstance(wanted, dict):
        pairs = [(f"{place}.{key}", kept.get(key), wanted.get(key)) for key in kept | wanted]
    elif isinstance(kept, list) and isinstance(wanted, list) and len(kept) == len(wanted):
        pairs = [(f"{place}[{n}]", *two) for n, two in enumerate(zip(kept, wanted, strict=True))]
    elif kept != wanted:
        return [f"{place.lstrip('.')}: there {_short(kept)}, here {_short(wanted)}"]
    else:
        return []
    found = [told for name, one, other in pairs for told in _differences(one, other, name)]
    return found[:_MOST_DIFFERENCES]


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} of them"
    text = str(value)
    return text if len(text) <= 30 else f"{text[:12]}..."
