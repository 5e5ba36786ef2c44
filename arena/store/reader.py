"""Read a run's folder, whether the run has ended or goes on, and a store as bytes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from arena.errors import InputError
from arena.store.database import NAME
from arena.store.manifest import read_tournament
from arena.store.store import Store
from arena.tournament.tournament import Tournament

_ENDINGS = (".csv", ".html", ".json", ".log", ".md", ".parquet", ".sqlite")  # of a run's files
_MOST_NAMED = 8  # runs in a message


def read_run(path: Path) -> tuple[Tournament, Store]:
    """Return the tournament of a run, and its games as they are now; nothing is written there.

    Raises InputError where there is no run.
    """
    try:
        if not (path / NAME).is_file():
            raise InputError(f"{path}: {why_no_run(path)}")
        with (path / NAME).open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    store = Store(path / NAME, copied=True)
    try:
        return _tournament(path, store), store
    except BaseException:
        store.close()
        raise


def _tournament(path: Path, store: Store) -> Tournament:
    if store.manifest is None:
        raise InputError(f"{path}: no run has begun there")
    try:
        tournament = read_tournament(store.manifest)
    except InputError as error:
        raise InputError(f"{path / NAME}: {error}") from None
    store.check_games(len(tournament.pairings), tournament.most_pairs)
    return tournament


def why_no_run(path: Path) -> str:
    """Return what is at a path that has no run, and which runs are in it."""
    if path.is_file():
        return why_no_file(path) or "a file, and a run is a folder"
    if not path.is_dir():
        return "no such file or run"
    runs = sorted(str(place) for place in path.iterdir() if (place / NAME).is_file())
    if not runs:
        return f"no run: there is no {NAME}"
    more = ", ..." if len(runs) > _MOST_NAMED else ""
    return f"not a run, but holds runs: {', '.join(runs[:_MOST_NAMED])}{more}"


def why_no_file(path: Path) -> str:
    """Return what a file is that lies in the folder of a run, nothing for another file."""
    in_run = path.suffix in _ENDINGS and path.is_file() and path.with_name(NAME).is_file()
    return f"a file of a run; name its folder: {path.parent}" if in_run else ""


def to_bytes(store: Store) -> bytes:
    """Return all that a store keeps; the same content gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        store.copy_to(path)
        return path.read_bytes()


def from_bytes(content: bytes) -> Store:
    """Return the store of some bytes, in a temporary file; raises InputError if they changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        path.write_bytes(content)
        return Store(path, copied=True)
